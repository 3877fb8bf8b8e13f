// Access tokens in the form of a JWT (RFC 9068) and ID tokens (OpenID Connect Core 1.0 §2). The digest of an access token is stored
// like that of an opaque one, so that it can be revoked, and a token that was not issued here is unknown, whatever signed it.

import type { Scope } from '../../principal.ts';
import { accessTokenHash } from '../../schemes/jwt/algorithms.ts';
import { createJwt, isMembers, type JwtMembers, type ParsedJwt } from '../../schemes/jwt/jwt.ts';
import {
  findJwtFault,
  findSignatureFault,
  isJwtFault,
  type JwtFault,
  type JwtRules,
  readJwt,
} from '../../schemes/jwt/verify.ts';
import { formatScope } from '../scopes.ts';
import { createSigningKeys, type SigningKeyDeclaration, type SigningKeys } from './signing-keys.ts';

/** What an access token says. */
interface AccessTokenClaims {
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
interface IdTokenClaims extends Pick<AccessTokenClaims, 'issuer' | 'client' | 'issued' | 'expires'> {
  readonly user: string;
  readonly authenticated: number;
  readonly nonce: string | undefined;
  readonly accessToken: string;
  readonly claims: JwtMembers;
}

/** Signs tokens, and publishes the keys. Its code is loaded only if tokens are signed. */
export interface TokenSigner {
  readonly keys: SigningKeys;
  accessToken(given: AccessTokenClaims): string;
  idToken(given: IdTokenClaims): string;
  /** Returns those of a user's claims that tokens carry. */
  claims(own: unknown, names: readonly string[]): JwtMembers;
  /** Returns why a text is not an access token of this service in the form of a JWT; undefined if all checks pass. */
  findFault(
    text: string,
    rules: Pick<JwtRules, 'issuer' | 'audiences' | 'here'> & { now: number },
  ): JwtFault | undefined;
  /** Returns the claims of an ID token that this service signed, whether it is expired or not. */
  readIdToken(text: string): JwtMembers | undefined;
}

/** Creates the signer of a service. Throws RangeError if a stored key is invalid. */
export function createTokenSigner(
  stored: readonly SigningKeyDeclaration[],
  options: Parameters<typeof createSigningKeys>[1],
): TokenSigner {
  const keys = createSigningKeys(stored, options);
  const findKeyFault = (jwt: ParsedJwt): JwtFault | undefined => {
    const { kid } = jwt.header;
    const named = keys.published().filter((key) => kid === undefined || key.kid === kid);
    return named.length === 0
      ? {
          check: 'kid',
          hint: 'the token is signed by a key that this service does not publish, or not any more',
        }
      : findSignatureFault(jwt, named);
  };
  return {
    keys,
    accessToken: (given) => createAccessToken(keys, given),
    idToken: (given) => createIdToken(keys, given),
    claims: selectClaims,
    findFault(text, { now, ...rules }) {
      const jwt = readJwt(text);
      if (isJwtFault(jwt)) return jwt;
      return findJwtFault(jwt, { ...rules, types: ['at+jwt'] }, now) ?? findKeyFault(jwt);
    },
    readIdToken(text) {
      const jwt = readJwt(text);
      if (isJwtFault(jwt) || 'client_id' in jwt.claims || findKeyFault(jwt) !== undefined) return undefined;
      return jwt.claims;
    },
  };
}

/** Creates an access token. */
function createAccessToken(keys: SigningKeys, given: AccessTokenClaims): string {
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
function createIdToken(keys: SigningKeys, given: IdTokenClaims): string {
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
function selectClaims(own: unknown, names: readonly string[]): JwtMembers {
  if (!isMembers(own)) return {};
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(own, name) ? [[name, own[name]]] : [])));
}
