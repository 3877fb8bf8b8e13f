// Assertions with which clients authenticate (RFC 7523 §3, OpenID Connect Core 1.0 §9). Loaded only if one is sent or supported.

import { createPublicKey } from 'node:crypto';
import { onceEach } from '../../once.ts';
import { jwtAlgorithms } from '../../schemes/jwt/algorithms.ts';
import { findHmacFault, hmacAlgorithms } from '../../schemes/jwt/hmac.ts';
import { type JwtMembers, type ParsedJwt, parseJwt } from '../../schemes/jwt/jwt.ts';
import { type KeySet, readKeySet, thumbprint } from '../../schemes/jwt/key-set.ts';
import {
  describeMilliseconds,
  describeSpan,
  findJwtFault,
  findSignatureFault,
  isJwtFault,
  type JwtFault,
  type JwtRules,
  readJwt,
} from '../../schemes/jwt/verify.ts';
import type { Client } from '../clients.ts';
import type { OAuthContext } from '../context.ts';
import { maxAssertionLifetime } from '../lifetimes.ts';
import type { ClientAuthenticationMethod } from '../oauth2-options.ts';
import { claimOnce, type OnceContext } from './accepted-once.ts';

/** The only supported value of `client_assertion_type` (RFC 7523 §2.2). */
export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** The services that verify assertions. */
export type AssertionContext = OnceContext & Pick<OAuthContext, 'notBefore' | 'here'>;

/** How far (ms) the clock of a client may be ahead. */
const leeway = 60_000;

/** Returns the client that an assertion names, which is not verified; undefined if it names none. */
export function readSubject(assertion: string): string | undefined {
  const jwt = parseJwt(assertion);
  const subject = typeof jwt === 'string' ? undefined : jwt.claims['sub'];
  return typeof subject === 'string' ? subject : undefined;
}

/** Returns the method that an assertion is for, by its algorithm. */
export function assertionMethod(assertion: string): ClientAuthenticationMethod {
  const jwt = parseJwt(assertion);
  return typeof jwt !== 'string' && isHmac(jwt) ? 'client_secret_jwt' : 'private_key_jwt';
}

function isHmac({ header: { alg } }: ParsedJwt): boolean {
  return typeof alg === 'string' && alg.startsWith('HS');
}

/** Returns the algorithms of assertions that clients can use. */
export function assertionAlgorithms(methods: readonly ClientAuthenticationMethod[]): readonly string[] {
  return [
    ...(methods.includes('private_key_jwt') ? jwtAlgorithms : []),
    ...(methods.includes('client_secret_jwt') ? hmacAlgorithms : []),
  ];
}

/** Resolves to why an assertion does not authenticate a client; undefined if it does. Then it is used up. */
type FindAssertionFault = (
  client: Client,
  assertion: string,
  audiences: readonly string[],
) => Promise<JwtFault | undefined>;

/** Creates the verification of the assertions of clients. */
export function createAssertions(context: AssertionContext): FindAssertionFault {
  /** The keys of each client, parsed at the first use. */
  const keysOf = onceEach(readClientKeys);
  return async (client, assertion, audiences) => {
    const jwt = readJwt(assertion);
    if (isJwtFault(jwt)) return jwt;
    const now = context.clock.now();
    return (
      findJwtFault(jwt, { ...rulesFor(client, audiences), here: context.here }, now) ??
      subjectFault(jwt.claims, client) ??
      lifetimeFault(jwt.claims, now, context) ??
      (isHmac(jwt) ? secretFault(jwt, client) : keyFault(jwt, client, keysOf(client))) ??
      (await claimOnce(context, `client:${client.id}`, jwt.claims, Number(jwt.claims['exp']) * 1000))
    );
  };
}

function rulesFor({ id }: Client, audiences: readonly string[]): JwtRules {
  return {
    issuer: id,
    audiences,
    self: 'this authorization server',
    types: ['JWT', 'client-authentication+jwt'],
    required: ['sub', 'jti'],
    hmac: hmacAlgorithms,
    leeway,
  };
}

function subjectFault({ sub }: JwtMembers, { id }: Client): JwtFault | undefined {
  return sub === id ? undefined : { check: 'sub', hint: `the subject is not the client ${id}` };
}

/** Returns why the lifetime of an assertion is refused: it has to be remembered until its end, and from the start of this process. */
function lifetimeFault(
  { exp, iat, nbf }: JwtMembers,
  now: number,
  { notBefore, here }: AssertionContext,
): JwtFault | undefined {
  const left = Number(exp) * 1000 - now;
  if (left > maxAssertionLifetime + leeway)
    return {
      check: 'exp',
      hint:
        describeMilliseconds('exp', Number(exp), now) ??
        `the token expires ${describeSpan(left)} from now; at most an hour is accepted`,
    };
  const check = 'iat';
  if (iat !== undefined && (typeof iat !== 'number' || !Number.isFinite(iat)))
    return { check, hint: 'iat is not a number of seconds' };
  const issued = [iat, nbf].find((time) => typeof time === 'number');
  const age = issued === undefined ? maxAssertionLifetime - left : now - issued * 1000;
  if (age < -leeway)
    return {
      check,
      hint: `the token was issued ${describeSpan(-age)} from now, by the clock of ${here}`,
    };
  if (age > maxAssertionLifetime)
    return { check, hint: `the token was issued ${describeSpan(age)} ago; at most an hour is accepted` };
  if (notBefore === undefined || now - age >= Math.floor(notBefore / 1000) * 1000) return undefined;
  return { check, hint: 'the token is older than this service, which does not know whether it was used' };
}

function keyFault(jwt: ParsedJwt, { id, jwks, publicKey }: Client, known: KeySet): JwtFault | undefined {
  const { kid } = jwt.header;
  const keys = known.find(typeof kid === 'string' ? kid : undefined);
  if (keys.length > 0) return findSignatureFault(jwt, keys);
  const hint =
    (jwks ?? publicKey) === undefined
      ? `no key is registered for the client ${id}`
      : `no key of the client ${id} has the kid of the token; registered: ${known.ids.join(', ') || 'none with a kid'}`;
  return { check: 'kid', hint };
}

function secretFault(jwt: ParsedJwt, { id, secret }: Client): JwtFault | undefined {
  if (secret !== undefined && 'plain' in secret) return findHmacFault(jwt, secret.plain);
  const reason = secret === undefined ? 'has no secret' : 'has a secret that is stored as a digest';
  return { check: 'alg', hint: `the client ${id} ${reason}, which verifies no HMAC` };
}

function readClientKeys(client: Client): KeySet {
  const keys = [...(client.jwks?.keys ?? []), ...toJwks(client)];
  return readKeySet({ keys }) ?? { find: () => [], ids: [] };
}

/** Returns the key in PEM as a JWK. Clients may name it by its thumbprint (RFC 7638), or not at all. */
function toJwks({ publicKey }: Client): readonly object[] {
  if (publicKey === undefined) return [];
  const key = createPublicKey(publicKey);
  return [{ ...key.export({ format: 'jwk' }), kid: thumbprint(key) }];
}
