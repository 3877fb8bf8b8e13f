import { formatDate } from '../http/headers/date.ts';
import { Problem } from '../http/problem.ts';
import type { MaybePromise } from '../maybe-promise.ts';

/** The result of a claim for a user that has the maximum number of nonces. */
interface NonceShareUsed {
  /** The time (ms) from which the user can have another nonce. */
  readonly freeAt: number;
}

/** The result of a claim of a nonce that may have been claimed before, and is not known any more. */
interface NoncesLost {
  /** The time (ms) from which requests that are signed then are accepted. */
  readonly knownFrom: number;
}

/** The result of a claim of a nonce. Only `fresh` admits the request. */
type ClaimedNonce = 'fresh' | 'seen' | 'full' | NonceShareUsed | NoncesLost;

/** The result of a claim that does not admit the request. */
export type RefusedNonce = Exclude<ClaimedNonce, 'fresh'>;

/** Stores nonces that were used. */
export interface Nonces {
  /**
   * Claims a nonce of a user atomically, unless it was claimed before: of several claims of the same nonce exactly one is `fresh`.
   * It is stored until `until` (ms) has passed. If the store is full, nothing is stored. Rejects, or throws, if the claim could
   * not be made.
   */
  claim(user: string, nonce: string, until: number, now: number): MaybePromise<ClaimedNonce>;
}

/** A nonce, or a message in place of one, that is accepted once. */
export interface NonceClaim {
  /** The name of the user. */
  readonly user: string;
  readonly nonce: string;
  /** The time (ms) until which a request with this nonce could be accepted. */
  readonly until: number;
}

/**
 * Returns the Problem for a nonce that cannot be claimed: 429 if the user has the maximum number of nonces, 503 if the store is
 * full or lost nonces.
 *
 * @param window Maximum difference (ms) between a date and the clock.
 */
export function unclaimableNonce(
  claimed: Exclude<RefusedNonce, 'seen'>,
  window: number,
  now: number,
): Problem {
  if (claimed === 'full') {
    return new Problem('full', 'The nonce store is full.', { headers: [retryAfter(window)] });
  }
  if ('knownFrom' in claimed) {
    const time = formatDate(Math.ceil(claimed.knownFrom / 1000) * 1000);
    const detail = `The server does not know the nonces of that time any more. Requests that are signed at ${time} or later are accepted.`;
    return new Problem('nonces-lost', detail, { headers: [retryAfter(claimed.knownFrom - now)] });
  }
  const detail = 'The user has the maximum number of stored nonces.';
  return new Problem('too-many-nonces', detail, { headers: [retryAfter(claimed.freeAt - now)] });
}

function retryAfter(ms: number): [name: string, value: string] {
  return ['Retry-After', String(Math.max(1, Math.ceil(ms / 1000)))];
}
