import type { JwtMembers, ParsedJwt } from '../../jwt/jwt.ts';
import {
  findJwtFault,
  findSignatureFault,
  isJwtFault,
  type JwtFault,
  type JwtRules,
  readJwt,
} from '../../jwt/verify.ts';
import {
  type AccessTokenClaims,
  createAccessToken,
  createIdToken,
  type IdTokenClaims,
  selectClaims,
} from './signed-tokens.ts';
import { createSigningKeys, type SigningKeyDeclaration, type SigningKeys } from './signing-keys.ts';

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
