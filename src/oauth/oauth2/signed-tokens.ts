// Access tokens in the form of a JWT (RFC 9068) and ID tokens (OpenID Connect Core 1.0 §2). The digest of an access token is stored
// like that of an opaque one, so that it can be revoked, and a token that was not issued here is unknown, whatever signed it.
import { accessTokenHash } from '../../jwt/algorithms.ts';
import { createJwt, isMembers, type JwtMembers } from '../../jwt/jwt.ts';
import type { Scope } from '../../principal.ts';
import { formatScope } from '../scopes.ts';
import type { SigningKeys } from './signing-keys.ts';

/** What an access token says. */
export interface AccessTokenClaims {
  readonly issuer: string;
  readonly audience: readonly string[];
  readonly client: string;
  /** Undefined if the client acts on its own behalf. */
  readonly user: string | undefined;
  readonly scopes: readonly Scope[];
  /** Times in ms. */
  readonly issued: number;
  readonly expires: number;
  readonly authenticated?: number | undefined;
  readonly id: string;
  /** Further claims, which take precedence. */
  readonly claims: JwtMembers;
}

/** What an ID token says. */
export interface IdTokenClaims extends Pick<AccessTokenClaims, 'issuer' | 'client' | 'issued' | 'expires'> {
  readonly user: string;
  readonly authenticated: number;
  readonly nonce: string | undefined;
  readonly accessToken: string;
  readonly claims: JwtMembers;
}

/** Creates an access token. */
export function createAccessToken(keys: SigningKeys, given: AccessTokenClaims): string {
  const { issuer, audience, client, user, scopes, issued, expires, authenticated, id, claims } = given;
  return sign(keys, 'at+jwt', {
    iss: issuer,
    sub: user ?? client,
    aud: audience.length === 1 ? audience[0] : audience,
    client_id: client,
    scope: formatScope(scopes),
    iat: seconds(issued),
    exp: seconds(expires),
    jti: id,
    ...(authenticated === undefined ? {} : { auth_time: seconds(authenticated) }),
    ...claims,
  });
}

/** Creates an ID token. */
export function createIdToken(keys: SigningKeys, given: IdTokenClaims): string {
  const { issuer, client, user, issued, expires, authenticated, nonce, accessToken, claims } = given;
  return sign(keys, 'JWT', {
    ...claims,
    iss: issuer,
    sub: user,
    aud: client,
    iat: seconds(issued),
    exp: seconds(expires),
    auth_time: seconds(authenticated),
    ...(nonce === undefined ? {} : { nonce }),
    at_hash: accessTokenHash(accessToken, keys.current.alg),
  });
}

function sign({ current }: SigningKeys, typ: string, claims: JwtMembers): string {
  return createJwt(claims, current, { alg: current.alg, typ, kid: current.kid });
}

function seconds(time: number): number {
  return Math.floor(time / 1000);
}

/** Returns the claims of a user that tokens carry. */
export function selectClaims(own: unknown, names: readonly string[]): JwtMembers {
  if (!isMembers(own)) return {};
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(own, name) ? [[name, own[name]]] : [])));
}
