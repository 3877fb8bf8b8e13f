// Wrong responses of the token endpoint. A token that was changed is not the one that was issued, so the double refuses it too.
import { didYouMean } from '../../did-you-mean.ts';
import { generatePrivateKey } from '../../jwt/algorithms.ts';
import { createJwt, type JwtMembers, parseJwt } from '../../jwt/jwt.ts';
import type { Alterations } from '../../oauth/oauth2/alterations.ts';
import { OAuthError } from '../../oauth/oauth2/oauth-error.ts';
import type { SigningKeys } from '../../oauth/oauth2/signing-keys.ts';
import type { Snapshottable } from '../state/state.ts';

const elsewhere = 'https://another.example';

/** What is wrong with the header of a JWT. */
const headerMistakes = {
  'alg-none': { alg: 'none' },
  'unknown-kid': { kid: 'unknown' },
  'wrong-type': { typ: 'logout+jwt' },
} as const satisfies Readonly<Record<string, JwtMembers>>;

/** What is wrong with the claims of a JWT. */
const claimMistakes = {
  expired: (claims: JwtMembers) => ({ iat: Number(claims['iat']) - 7200, exp: Number(claims['iat']) - 3600 }),
  'not-yet-valid': (claims: JwtMembers) => ({ nbf: Number(claims['iat']) + 3600 }),
  'wrong-audience': () => ({ aud: elsewhere }),
  'wrong-issuer': () => ({ iss: elsewhere }),
  'wrong-subject': () => ({ sub: 'another subject' }),
  'wrong-nonce': (claims: JwtMembers) => (claims['nonce'] === undefined ? {} : { nonce: 'another nonce' }),
  'wrong-at-hash': (claims: JwtMembers) =>
    claims['at_hash'] === undefined ? {} : { at_hash: 'AAAAAAAAAAAAAAAAAAAAAA' },
} as const satisfies Readonly<Record<string, (claims: JwtMembers) => JwtMembers>>;

const otherMistakes = ['wrong-signature', 'replayed-code', 'mix-up'] as const;

/** A mistake of the next response of the token endpoint; `mix-up` is one of the next redirect with a code. */
export type TokenMistake =
  | keyof typeof headerMistakes
  | keyof typeof claimMistakes
  | (typeof otherMistakes)[number];

const isHeaderMistake = (name: string): name is keyof typeof headerMistakes =>
  Object.hasOwn(headerMistakes, name);
const isClaimMistake = (name: string): name is keyof typeof claimMistakes =>
  Object.hasOwn(claimMistakes, name);

/** The planned mistakes of a double. */
export interface TokenMistakes extends Alterations, Snapshottable<readonly TokenMistake[]> {
  /** Plans a mistake. Throws RangeError if there is none of this name. */
  plan(mistake: TokenMistake): void;
}

/** Creates the planned mistakes, none at first. */
export function createTokenMistakes(): TokenMistakes {
  let planned: readonly TokenMistake[] = [];
  const take = (isDue: (mistake: TokenMistake) => boolean): TokenMistake | undefined => {
    const due = planned.find(isDue);
    const at = due === undefined ? -1 : planned.indexOf(due);
    planned = planned.filter((_, index) => index !== at);
    return due;
  };
  return {
    plan(mistake) {
      const known = [...Object.keys(headerMistakes), ...Object.keys(claimMistakes), ...otherMistakes];
      if (!known.includes(mistake))
        throw new RangeError(
          `there is no mistake ${JSON.stringify(mistake)}${didYouMean(String(mistake), known)}; known: ${known.join(', ')}`,
        );
      planned = [...planned, mistake];
    },
    token(response, keys) {
      const mistake = take((each) => each !== 'mix-up');
      return mistake === undefined ? response : spoil(response, mistake, keys);
    },
    issuer: (issuer) => (take((each) => each === 'mix-up') === undefined ? issuer : elsewhere),
    snapshot: () => planned,
    restore(others) {
      planned = others;
    },
    reset() {
      planned = [];
    },
  };
}

type TokenResponse = Readonly<Record<string, unknown>>;

function spoil(response: TokenResponse, mistake: TokenMistake, keys: SigningKeys | undefined): TokenResponse {
  if (mistake === 'replayed-code')
    throw new OAuthError('invalid_grant', 'The code was used before, as the test planned.');
  const tokens = ['access_token', 'id_token'].flatMap((name): [string, string][] => {
    const token = response[name];
    return typeof token === 'string' && keys !== undefined ? [[name, spoilToken(token, mistake, keys)]] : [];
  });
  return { ...response, ...Object.fromEntries(tokens) };
}

/** Returns a JWT with a mistake, signed as the good one; a token that is none, as it is. */
function spoilToken(token: string, mistake: TokenMistake, { current }: SigningKeys): string {
  const jwt = parseJwt(token);
  if (typeof jwt === 'string') return token;
  const key = { alg: current.alg, key: current.privateKey, kid: current.kid, typ: String(jwt.header['typ']) };
  if (isClaimMistake(mistake))
    return createJwt({ ...jwt.claims, ...claimMistakes[mistake](jwt.claims) }, key);
  const another = { ...key, key: generatePrivateKey(current.alg) };
  if (!isHeaderMistake(mistake)) return createJwt(jwt.claims, another);
  if (mistake === 'alg-none') {
    const header = Buffer.from(JSON.stringify({ ...jwt.header, alg: 'none' })).toString('base64url');
    return `${header}.${token.split('.')[1]}.`;
  }
  return createJwt(jwt.claims, {
    ...(mistake === 'unknown-kid' ? another : key),
    ...headerMistakes[mistake],
  });
}
