import type { JwtMembers } from '../../schemes/jwt/jwt.ts';
import type { JwtFault } from '../../schemes/jwt/verify.ts';
import { unclaimableNonce } from '../../schemes/nonce-claim.ts';
import type { OAuthContext } from '../context.ts';
import { hashSha256 } from '../sha256.ts';

/**
 * Uses up the `jti` of a JWT. Returns why it is refused; undefined if it was fresh. Rejects with a Problem if it cannot be remembered.
 * @param owner whose JWTs have different ids
 * @param until the last time (ms) at which the JWT could be accepted
 */
export async function claimOnce(
  { clock, nonces, nonceWindow }: OnceContext,
  owner: string,
  { jti }: JwtMembers,
  until: number,
): Promise<JwtFault | undefined> {
  const check = 'jti';
  if (typeof jti !== 'string' || jti === '' || jti.length > maxIdLength)
    return { check, hint: `jti is not text of 1 to ${maxIdLength} characters` };
  const now = clock.now();
  const claimed = await nonces.claim(`jti:${hashSha256(owner)}`, hashSha256(jti), until + 999, now);
  if (claimed === 'seen') return { check, hint: 'the token was used before: each jti is accepted once' };
  if (claimed !== 'fresh') throw unclaimableNonce(claimed, nonceWindow, now);
  return undefined;
}

/** What remembers the ids of JWTs. */
export type OnceContext = Pick<OAuthContext, 'clock' | 'nonces' | 'nonceWindow'>;

const maxIdLength = 1024;
