import { Problem } from '../http/problem.ts';

/** Says that a user has as many nonces as one user may have. */
export interface NonceShareUsed {
  /** The time (ms) from which on the user has room for another nonce. */
  readonly freeAt: number;
}

/** The result of claiming a nonce. Only `fresh` admits the request. */
export type ClaimedNonce = 'fresh' | 'seen' | 'full' | NonceShareUsed;

/**
 * Returns the refusal of a request whose nonce there is no room for: 429 if one user has used up the share of a user,
 * 503 if nobody has room.
 *
 * @param window How far (ms) a date may be from the clock.
 */
export function noRoomForNonce(
  claimed: Exclude<ClaimedNonce, 'fresh' | 'seen'>,
  window: number,
  now: number,
): Problem {
  if (claimed === 'full') {
    return new Problem('full', 'No more nonces can be remembered now.', { fields: [retryAfter(window)] });
  }
  const detail = 'As many nonces of this user are remembered as one user may have.';
  return new Problem('too-many-nonces', detail, { fields: [retryAfter(claimed.freeAt - now)] });
}

function retryAfter(ms: number): [name: string, value: string] {
  return ['Retry-After', String(Math.max(1, Math.ceil(ms / 1000)))];
}
