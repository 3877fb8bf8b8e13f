import { noRoomForNonce } from '../../auth/nonce-claim.ts';
import { oauth1Error } from '../../auth/oauth1/error.ts';
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
 * Claims the nonce of a request. A nonce is unique for its consumer, token and timestamp (RFC 5849 §3.3). Throws a Problem if it
 * was claimed before (401), or cannot be stored (429, 503).
 *
 * @param timestamp The time of the request (ms); undefined if no timestamp was sent.
 */
export type ClaimNonce = (
  parameters: OAuth1Parameters,
  timestamp: number | undefined,
  signedFor: SignedFor,
) => HeldNonce | undefined;

/** Creates the function that claims nonces. */
export function createNonceClaims({ nonces, clock, nonceWindow, lifetimes }: OAuthContext): ClaimNonce {
  return ({ protocol }, timestamp, signedFor) => {
    if (timestamp === undefined) return undefined;
    const consumer = protocol.get('oauth_consumer_key') ?? '';
    const names = ['oauth_token', 'oauth_timestamp', 'oauth_nonce'];
    const nonce = digestOfAll([consumer, ...names.map((name) => protocol.get(name) ?? '')]);
    // Kept until the timestamp is outside the nonce window, to the end of its second.
    const now = clock.now();
    const claimed = nonces.claim(userFor(consumer), nonce, timestamp + nonceWindow + 999, now);
    if (claimed === 'seen')
      throw oauth1Error('nonce_used', 'A request with this nonce was already accepted.');
    if (claimed !== 'fresh') throw noRoomForNonce(claimed, lifetimes.oauth1Window, now);
    return signedFor === 'resource' ? nonces.hold() : undefined;
  };
}

/** Uses a digest, so that files contain no text chosen by a client. */
function userFor(consumer: string): string {
  return `oauth1:${digestOfAll([consumer])}`;
}

/** Returns the digest of several texts. JSON makes the encoding of the list unambiguous. */
function digestOfAll(texts: readonly string[]): string {
  return sha256(JSON.stringify(texts));
}
