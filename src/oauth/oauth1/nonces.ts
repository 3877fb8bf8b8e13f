import { noRoomForNonce } from '../../auth/nonce-claim.ts';
import { oauth1Error } from '../../auth/oauth1/error.ts';
import type { HeldNonce } from '../../principal.ts';
import type { OAuthContext } from '../context.ts';
import { sha256 } from '../sha256.ts';
import type { OAuth1Parameters } from './parameters.ts';
import type { SignedFor } from './required-parameters.ts';

/** The consumer that signed, or says so, by a name that no user has: failures are counted against it. */
export function claimedBy({ protocol }: OAuth1Parameters): string | undefined {
  const key = protocol.get('oauth_consumer_key');
  return key === undefined ? undefined : userFor(key);
}

/**
 * Claims the nonce of a request whose timestamp says this time (ms; undefined where none was sent). It is one of its consumer,
 * token and timestamp (RFC 5849 §3.3).
 */
export type ClaimNonce = (
  parameters: OAuth1Parameters,
  timestamp: number | undefined,
  signedFor: SignedFor,
) => HeldNonce | undefined;

/** Makes what claims nonces. That throws a Problem if the nonce was claimed before (401), or there is no room for it (429, 503). */
export function createNonceClaims({ nonces, clock, nonceWindow, lifetimes }: OAuthContext): ClaimNonce {
  return ({ protocol }, timestamp, signedFor) => {
    if (timestamp === undefined) return undefined;
    const consumer = protocol.get('oauth_consumer_key') ?? '';
    const names = ['oauth_token', 'oauth_timestamp', 'oauth_nonce'];
    const nonce = digestOfAll([consumer, ...names.map((name) => protocol.get(name) ?? '')]);
    // The last moment at which the timestamp is inside the window that nonces are counted with, to the end of its second.
    const now = clock.now();
    const claimed = nonces.claim(userFor(consumer), nonce, timestamp + nonceWindow + 999, now);
    if (claimed === 'seen') throw oauth1Error('nonce_used', 'A request with this nonce was accepted before.');
    if (claimed !== 'fresh') throw noRoomForNonce(claimed, lifetimes.oauth1Window, now);
    return signedFor === 'resource' ? nonces.hold() : undefined;
  };
}

/** Of digests, so that nothing that was chosen by others comes into a file. */
function userFor(consumer: string): string {
  return `oauth1:${digestOfAll([consumer])}`;
}

/** A digest of several texts. They are written as JSON first, in which different lists are different texts. */
function digestOfAll(parts: readonly string[]): string {
  return sha256(JSON.stringify(parts));
}
