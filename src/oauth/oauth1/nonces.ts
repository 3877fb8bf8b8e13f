import { type RefusedNonce, unclaimableNonce } from '../../auth/nonce-claim.ts';
import { oauth1Error } from '../../auth/oauth1/error.ts';
import type { Problem } from '../../http/problem.ts';
import { andThen } from '../../maybe-promise.ts';
import type { HeldNonce } from '../../principal.ts';
import type { OAuthContext } from '../context.ts';
import { sha256 } from '../sha256.ts';
import type { OAuth1Parameters } from './parameters.ts';
import type { SignedFor } from './required-parameters.ts';

/** Returns the name under which failures of the consumer are counted. No user can have it. */
export function claimedBy({ protocol }: OAuth1Parameters): string | undefined {
  const key = protocol.get('oauth_consumer_key');
  return key === undefined ? undefined : userFor(key);
}

/**
 * Claims the nonce of a request. A nonce is unique for its consumer, token and timestamp (RFC 5849 §3.3). Throws, or rejects with,
 * a Problem if it was claimed before (401), or cannot be stored (429, 503). Returns the nonce if it is to be stored with the change
 * of the request.
 *
 * @param timestamp The time of the request (ms); undefined if no timestamp was sent.
 * @param deferrable Whether the nonce may be claimed with the change of the request.
 */
export type ClaimNonce = (
  parameters: OAuth1Parameters,
  timestamp: number | undefined,
  signedFor: SignedFor,
  deferrable: boolean,
) => HeldNonce | undefined | Promise<HeldNonce | undefined>;

/** Creates the function that claims nonces. */
export function createNonceClaims(context: OAuthContext): ClaimNonce {
  const { nonces, clock, nonceWindow } = context;
  return ({ protocol }, timestamp, signedFor, deferrable) => {
    if (timestamp === undefined) return undefined;
    const consumer = protocol.get('oauth_consumer_key') ?? '';
    const names = ['oauth_token', 'oauth_timestamp', 'oauth_nonce'];
    const nonce = digestOfAll([consumer, ...names.map((name) => protocol.get(name) ?? '')]);
    // Kept until the timestamp is outside the nonce window, to the end of its second.
    const until = timestamp + nonceWindow + 999;
    const user = userFor(consumer);
    return andThen(nonces.claim(user, nonce, until, clock.now(), deferrable), (claimed) => {
      if (claimed !== 'fresh') throw nonceProblem(claimed, context);
      return signedFor === 'resource' ? nonces.hold(user, nonce, until) : undefined;
    });
  };
}

/** Returns the Problem for a nonce that was claimed before, or cannot be stored. */
export function nonceProblem(claimed: RefusedNonce, { clock, lifetimes }: OAuthContext): Problem {
  return claimed === 'seen'
    ? oauth1Error('nonce_used', 'A request with this nonce was already accepted.')
    : unclaimableNonce(claimed, lifetimes.oauth1Window, clock.now());
}

/** Uses a digest, so that files contain no text chosen by a client. */
function userFor(consumer: string): string {
  return `oauth1:${digestOfAll([consumer])}`;
}

/** Returns the digest of several texts. JSON makes the encoding of the list unambiguous. */
function digestOfAll(texts: readonly string[]): string {
  return sha256(JSON.stringify(texts));
}
