// Wrong responses of the authorization server. A token that was changed is not the one that was issued, so the double refuses it too.
import { createHmac, createPublicKey } from 'node:crypto';
import { didYouMean } from '../../did-you-mean.ts';
import type { Alterations, TokenResponse } from '../../oauth/oauth2/alterations.ts';
import { OAuthError } from '../../oauth/oauth2/oauth-error.ts';
import type { SigningKey, SigningKeys } from '../../oauth/oauth2/signing-keys.ts';
import { accessTokenHash, generatePrivateKey } from '../../schemes/jwt/algorithms.ts';
import { createJwt, encodeMembers, type JwtMembers, parseJwt } from '../../schemes/jwt/jwt.ts';
import type { Snapshottable } from '../state/state.ts';

const elsewhere = 'https://another.example';
const otherDigest = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';

/** Claims that are wrong; undefined for a token that the mistake does not concern. */
type Claims = (claims: JwtMembers) => JwtMembers | undefined;

const ifPresent =
  (name: string, change: Claims): Claims =>
  (claims) =>
    claims[name] === undefined ? undefined : change(claims);

/** Mistakes in claims. */
type ClaimMistake =
  | 'expired'
  | 'missing-expiry'
  | 'not-yet-valid'
  | 'wrong-audience'
  | 'wrong-issuer'
  | 'wrong-subject'
  | 'wrong-nonce'
  | 'missing-nonce'
  | 'wrong-at-hash'
  | 'wrong-authorized-party'
  | 'old-login'
  | 'wrong-binding';

/** What is wrong with the claims of a JWT. A claim that is undefined is left out. */
const claimMistakes: Readonly<Record<ClaimMistake, Claims>> = {
  expired: ({ iat }) => ({ iat: Number(iat) - 7200, exp: Number(iat) - 3600 }),
  'missing-expiry': () => ({ exp: undefined }),
  'not-yet-valid': ({ iat }) => ({ nbf: Number(iat) + 3600 }),
  'wrong-audience': () => ({ aud: elsewhere }),
  'wrong-issuer': () => ({ iss: elsewhere }),
  // Of the ID token alone, so that `userinfo` has another subject (OpenID Connect Core 1.0 §5.3.2).
  'wrong-subject': ifPresent('at_hash', () => ({ sub: 'another subject' })),
  'wrong-nonce': ifPresent('nonce', () => ({ nonce: 'another nonce' })),
  'missing-nonce': ifPresent('nonce', () => ({ nonce: undefined })),
  'wrong-at-hash': ifPresent('at_hash', () => ({ at_hash: otherDigest.slice(0, 22) })),
  'wrong-authorized-party': ifPresent('at_hash', ({ aud }) => ({
    aud: [aud, elsewhere],
    azp: 'another client',
  })),
  'old-login': ifPresent('at_hash', ({ iat }) => ({ auth_time: Number(iat) - 31_536_000 })),
  'wrong-binding': ifPresent('cnf', () => ({ cnf: { jkt: otherDigest } })),
};

/** Signs the claims of a JWT in a wrong way. */
type Signing = (claims: JwtMembers, key: SigningKey, typ: string) => string;

const another = ({ alg }: SigningKey) => ({ privateKey: generatePrivateKey(alg) });

/** Mistakes in headers and signatures. */
type SigningMistake =
  | 'wrong-signature'
  | 'unknown-kid'
  | 'wrong-type'
  | 'critical-extension'
  | 'embedded-key'
  | 'alg-none'
  | 'alg-hmac';

/** What is wrong with the header or the signature of a JWT. */
const signingMistakes: Readonly<Record<SigningMistake, Signing>> = {
  'wrong-signature': (claims, key, typ) =>
    createJwt(claims, another(key), { alg: key.alg, typ, kid: key.kid }),
  'unknown-kid': (claims, key, typ) => createJwt(claims, another(key), { alg: key.alg, typ, kid: 'unknown' }),
  'wrong-type': (claims, key) => createJwt(claims, key, { alg: key.alg, typ: 'logout+jwt', kid: key.kid }),
  'critical-extension': (claims, key, typ) =>
    createJwt(claims, key, { alg: key.alg, typ, kid: key.kid, crit: ['urn:unknown'], 'urn:unknown': true }),
  'embedded-key'(claims, key, typ) {
    const own = another(key);
    const jwk = createPublicKey(own.privateKey).export({ format: 'jwk' });
    return createJwt(claims, own, { alg: key.alg, typ, jwk });
  },
  'alg-none': (claims, { kid }, typ) =>
    `${encodeMembers({ alg: 'none', typ, kid })}.${encodeMembers(claims)}.`,
  // The key of the HMAC is the public key, which everybody knows (RFC 8725 §2.1).
  'alg-hmac'(claims, { kid, key }, typ) {
    const signed = `${encodeMembers({ alg: 'HS256', typ, kid })}.${encodeMembers(claims)}`;
    const secret = key.export({ type: 'spki', format: 'pem' });
    return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
  },
};

/** Mistakes in the members of responses. */
type ResponseMistake = 'wrong-token-type' | 'unbound-token' | 'missing-id-token';

/** What is wrong with the members of the response; undefined for a response that the mistake does not concern. */
const responseMistakes: Readonly<
  Record<ResponseMistake, (response: TokenResponse) => TokenResponse | undefined>
> = {
  'wrong-token-type': () => ({ token_type: 'mac' }),
  'unbound-token': ({ token_type }) => (token_type === 'DPoP' ? { token_type: 'Bearer' } : undefined),
  'missing-id-token': ({ id_token }) => (id_token === undefined ? undefined : { id_token: undefined }),
};

/** Mistakes in redirects. */
type RedirectMistake = 'mix-up' | 'missing-issuer' | 'wrong-state' | 'missing-state';

/** What is wrong with the parameters of a redirect with a code (RFC 6749 §4.1.2, RFC 9207). */
const redirectMistakes: Readonly<Record<RedirectMistake, Readonly<Record<string, string | undefined>>>> = {
  'mix-up': { iss: elsewhere },
  'missing-issuer': { iss: undefined },
  'wrong-state': { state: 'another state' },
  'missing-state': { state: undefined },
};

type OtherMistake = 'replayed-code' | 'wrong-dpop-nonce';

const otherMistakes: readonly OtherMistake[] = ['replayed-code', 'wrong-dpop-nonce'];

/** A mistake of the next response that it concerns: of the token endpoint, or of a redirect with a code. */
export type TokenMistake = ClaimMistake | SigningMistake | ResponseMistake | RedirectMistake | OtherMistake;

const tokenNames = [...Object.keys(claimMistakes), ...Object.keys(signingMistakes)];
const known = [
  ...tokenNames,
  ...Object.keys(responseMistakes),
  ...Object.keys(redirectMistakes),
  ...otherMistakes,
];

const isIn = <T extends object>(table: T, name: PropertyKey): name is keyof T => Object.hasOwn(table, name);

/** The planned mistakes of a double. */
export interface TokenMistakes extends Alterations, Snapshottable<readonly TokenMistake[]> {
  /**
   * Plans a mistake. Throws RangeError if there is none of this name, or it is one of signed tokens.
   * @param signs whether the double signs tokens
   */
  plan(mistake: TokenMistake, signs: boolean): void;
}

/** Creates the planned mistakes, none at first. */
export function createTokenMistakes(): TokenMistakes {
  let planned: readonly TokenMistake[] = [];
  /** Returns the first result that is not undefined, and removes the mistake that it is of. */
  const apply = <T>(spoil: (mistake: TokenMistake) => T | undefined): T | undefined => {
    for (const [at, mistake] of planned.entries()) {
      const wrong = spoil(mistake);
      if (wrong === undefined) continue;
      planned = planned.toSpliced(at, 1);
      return wrong;
    }
    return undefined;
  };
  return {
    plan(mistake, signs) {
      if (!known.includes(mistake))
        throw new RangeError(
          `there is no mistake ${JSON.stringify(mistake)}${didYouMean(String(mistake), known)}; known: ${known.join(', ')}`,
        );
      if (!signs && tokenNames.includes(mistake))
        throw new RangeError(
          `${mistake} is a mistake of a signed token, and the double signs none; start it with oauth2: { accessTokens: 'jwt' } or openid`,
        );
      planned = [...planned, mistake];
    },
    refuseProof: (isProved) =>
      apply((mistake) => (isProved && mistake === 'wrong-dpop-nonce' ? wrongNonce() : undefined)),
    token: (response, keys, grantType) => apply((mistake) => spoil(response, mistake, keys, grantType)),
    redirect: (parameters) =>
      apply((mistake) =>
        isIn(redirectMistakes, mistake) ? { ...parameters, ...redirectMistakes[mistake] } : undefined,
      ),
    snapshot: () => planned,
    restore(others) {
      planned = others;
    },
    reset() {
      planned = [];
    },
  };
}

// Created when it is needed: the code of the authorization server is not loaded before.
const wrongNonce = (): OAuthError =>
  new OAuthError('use_dpop_nonce', 'Another nonce is needed, as the test planned.', [
    ['DPoP-Nonce', 'a-nonce-that-is-refused'],
  ]);

/** Returns a response with a mistake, or an error in its place; undefined if the mistake does not concern it. */
function spoil(
  response: TokenResponse,
  mistake: TokenMistake,
  keys: SigningKeys | undefined,
  grantType: string,
): TokenResponse | OAuthError | undefined {
  if (mistake === 'replayed-code')
    return grantType === 'authorization_code'
      ? new OAuthError('invalid_grant', 'The code was used before, as the test planned.')
      : undefined;
  if (isIn(responseMistakes, mistake)) {
    const wrong = responseMistakes[mistake](response);
    return wrong && { ...response, ...wrong };
  }
  if (keys === undefined) return undefined;
  const spoilMember = (name: string, changes: JwtMembers): string | undefined => {
    const token = response[name];
    return typeof token === 'string' ? spoilToken(token, mistake, keys, changes) : undefined;
  };
  const access = spoilMember('access_token', {});
  // The ID token belongs to the access token that is sent, and has one mistake only.
  const changes = access === undefined ? {} : { at_hash: accessTokenHash(access, keys.current.alg) };
  const id = spoilMember('id_token', changes) ?? (access && resign(response['id_token'], keys, changes));
  if (access === undefined && id === undefined) return undefined;
  return { ...response, ...(access && { access_token: access }), ...(id && { id_token: id }) };
}

/** Returns a JWT with a mistake; undefined if it is none, or the mistake does not concern it. */
function spoilToken(
  token: string,
  mistake: TokenMistake,
  { current }: SigningKeys,
  changes: JwtMembers,
): string | undefined {
  const jwt = parseJwt(token);
  if (typeof jwt === 'string') return undefined;
  const { alg, kid } = current;
  const typ = String(jwt.header['typ']);
  const claims = { ...jwt.claims, ...changes };
  if (isIn(signingMistakes, mistake)) return signingMistakes[mistake](claims, current, typ);
  const wrong = isIn(claimMistakes, mistake) ? claimMistakes[mistake](claims) : undefined;
  return wrong && createJwt({ ...claims, ...wrong }, current, { alg, typ, kid });
}

/** Returns an ID token that is signed again with other claims; undefined without one. */
function resign(token: unknown, { current }: SigningKeys, changes: JwtMembers): string | undefined {
  const jwt = typeof token === 'string' ? parseJwt(token) : '';
  if (typeof jwt === 'string') return undefined;
  return createJwt({ ...jwt.claims, ...changes }, current, {
    alg: current.alg,
    typ: String(jwt.header['typ']),
    kid: current.kid,
  });
}
