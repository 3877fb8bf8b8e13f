import { createHmac, createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import {
  defaultAlgorithm,
  generatePrivateKey,
  type JwtAlgorithm,
  signJws,
} from '../../schemes/jwt/algorithms.ts';
import {
  encodeMembers,
  type JwtMembers,
  looksLikeJwt,
  type ParsedJwt,
  parseJwt,
} from '../../schemes/jwt/jwt.ts';
import { type Case, group, malformed, type Row, refused } from '../attempt.ts';
import type { Forger } from '../forger.ts';
import type { WeaknessId } from '../weaknesses.ts';

/** A way to sign what was forged. */
type Sign = (header: JwtMembers, claims: JwtMembers) => string;

/** Forged JWTs (RFC 8725 §2, RFC 9068 §5), if the good request has one as its bearer token. */
export function* jwtCases(forger: Forger): Generator<Case> {
  const credentials = forger.split(forger.signGood());
  const token = credentials?.proof ?? '';
  const jwt = looksLikeJwt(token) ? parseJwt(token) : 'none';
  if (credentials === undefined || typeof jwt === 'string') return;
  const { keys = [], privateKey } = forger.issuer;
  const sign = privateKey === undefined ? keepSignature(jwt) : signWith(createPrivateKey(privateKey), jwt);
  const tables: readonly (readonly [WeaknessId, readonly ForgedToken[]])[] = [
    ['unsigned-token', unsigned(jwt)],
    ['token-algorithm', publicKeyAsSecret(jwt, keys)],
    ['token-key', keysOfTheAttacker(jwt)],
    ['token-claims', otherClaims(jwt, sign, forger.now)],
    ['token-type', otherTypes(jwt, sign)],
    ['encoded-proof', otherEncodings(token)],
  ];
  for (const [id, tokens] of tables) {
    const rows = tokens.map(([name, why, other]): Row => {
      return [`the token ${name}`, other === token ? undefined : credentials.replaceProof(other), { why }];
    });
    yield* group({ id, why: '', expected: id === 'encoded-proof' ? malformed : refused }, rows);
  }
}

/** A name, the reason, and the token. */
type ForgedToken = readonly [name: string, why: string, token: string];

function join(header: JwtMembers, claims: JwtMembers, sign: (signed: string) => Uint8Array): string {
  const signed = `${encodeMembers(header)}.${encodeMembers(claims)}`;
  return `${signed}.${Buffer.from(sign(signed)).toString('base64url')}`;
}

function keepSignature({ signature }: Pick<ParsedJwt, 'signature'>): Sign {
  return (header, claims) => join(header, claims, () => signature);
}

const withoutSignature = keepSignature({ signature: new Uint8Array() });

/** Signs with a private key, with the algorithm of the good token. */
function signWith(key: KeyObject, { header: { alg } }: Pick<ParsedJwt, 'header'>): Sign {
  const own = defaultAlgorithm(createPublicKey(key)) ?? 'RS256';
  const algorithm: JwtAlgorithm = alg === 'PS256' ? 'PS256' : own;
  return (header, claims) => join(header, claims, (signed) => signJws(algorithm, key, Buffer.from(signed)));
}

function signWithSecret(secret: string, header: JwtMembers, claims: JwtMembers): string {
  return join(header, claims, (signed) => createHmac('sha256', secret).update(signed).digest());
}

function unsigned(jwt: ParsedJwt): readonly ForgedToken[] {
  const { header, claims } = jwt;
  const none = 'A token without a signature is made by anybody (RFC 8725 §3.2).';
  const keep = keepSignature(jwt);
  return [
    ...['none', 'None', 'NONE', 'nOnE'].map((alg): ForgedToken => {
      return [
        `has the algorithm ${alg} and no signature`,
        none,
        withoutSignature({ ...header, alg }, claims),
      ];
    }),
    ['has the algorithm none and a signature', none, keep({ ...header, alg: 'none' }, claims)],
    ['has no signature', none, withoutSignature(header, claims)],
    ['has no algorithm', none, withoutSignature({ ...header, alg: undefined }, claims)],
    [
      'names another subject with the same signature',
      'The signature covers the claims.',
      keep(header, { ...claims, sub: 'another subject' }),
    ],
  ];
}

function publicKeyAsSecret({ header, claims }: ParsedJwt, keys: readonly object[]): readonly ForgedToken[] {
  const why = 'The algorithm is that of the key, and everybody knows a public key (RFC 8725 §2.1).';
  const forms = keys.flatMap((each, at): (readonly [string, string])[] => {
    const jwk: JsonWebKey = { ...each };
    const pem = createPublicKey({ key: jwk, format: 'jwk' })
      .export({ type: 'spki', format: 'pem' })
      .toString();
    const name = at === 0 ? '' : ` number ${at + 1}`;
    return [
      [`the public key${name} in PEM`, pem],
      [`the public key${name} in PEM without its line end`, pem.trimEnd()],
      [`the public key${name} in JSON`, JSON.stringify(jwk)],
    ];
  });
  return forms.map(([name, secret]): ForgedToken => {
    const token = signWithSecret(secret, { ...header, alg: 'HS256' }, claims);
    return [`is signed by HMAC with ${name}`, why, token];
  });
}

function keysOfTheAttacker({ header, claims }: ParsedJwt): readonly ForgedToken[] {
  const key = generatePrivateKey('ES256');
  const sign = signWith(key, { header: { alg: 'ES256' } });
  const jwk = createPublicKey(key).export({ format: 'jwk' });
  const own = { ...header, alg: 'ES256' };
  const url = 'https://attacker.example/keys';
  const named = 'A token must not say which key verifies it (RFC 8725 §3.10).';
  const lookup = 'A key id is text of the sender: it is compared, and is neither a path nor part of a query.';
  const withKid = (kid: string, secret: string): string =>
    signWithSecret(secret, { ...header, alg: 'HS256', kid }, claims);
  return [
    ['is signed by another key', 'The issuer does not have this key.', sign(own, claims)],
    ['contains its own key as jwk', named, sign({ ...own, jwk }, claims)],
    ['names its own keys as jku', named, sign({ ...own, jku: url }, claims)],
    ['names its own certificate as x5u', named, sign({ ...own, x5u: url }, claims)],
    ['has a kid that is a path to an empty file', lookup, withKid('../../../../../../dev/null', '')],
    [
      'has a kid that is a path to a known file',
      lookup,
      withKid('/proc/sys/kernel/randomize_va_space', '2\n'),
    ],
    ['has a kid that is SQL', lookup, withKid("x' UNION SELECT 'secret", 'secret')],
    [
      'has the kid __proto__',
      'A look-up in a plain object finds an inherited property.',
      withKid('__proto__', ''),
    ],
  ];
}

function otherClaims({ header, claims }: ParsedJwt, sign: Sign, now: number): readonly ForgedToken[] {
  const at = Math.floor(now / 1000);
  const change = (changes: JwtMembers): string => sign(header, { ...claims, ...changes });
  const forApi =
    'A token for another API would be accepted, which its operator could send here (RFC 9068 §4).';
  const fromIssuer = 'Only known issuers issue tokens (RFC 8725 §3.8).';
  const timed = 'A token is valid for a limited time (RFC 7519 §4.1.4).';
  return [
    ['expired an hour ago', timed, change({ exp: at - 3600, iat: at - 7200 })],
    ['has no expiry', timed, change({ exp: undefined })],
    ['has an expiry that is text', timed, change({ exp: 'never' })],
    ['is valid in a year only', timed, change({ nbf: at + 31_536_000 })],
    ['has another audience', forApi, change({ aud: 'https://another-api.example' })],
    ['has no audience', forApi, change({ aud: undefined })],
    ['has another issuer', fromIssuer, change({ iss: 'https://attacker.example' })],
    ['has an issuer with one more slash', fromIssuer, change({ iss: `${String(claims['iss'])}/` })],
    ['has no issuer', fromIssuer, change({ iss: undefined })],
  ];
}

function otherTypes({ header, claims }: ParsedJwt, sign: Sign): readonly ForgedToken[] {
  const why =
    'An ID token is for the client; as an access token it would give the client more (RFC 8725 §3.11).';
  const extension = 'An extension that is critical must be understood (RFC 7515 §4.1.11).';
  return [
    [
      'has the type and the claims of an ID token',
      why,
      sign({ ...header, typ: 'JWT' }, { ...claims, nonce: 'n-0S6_WzA2Mj', at_hash: 'x', scope: undefined }),
    ],
    ['has the type of a logout token', why, sign({ ...header, typ: 'logout+jwt' }, claims)],
    ['has a critical extension', extension, sign({ ...header, crit: ['x'], x: true }, claims)],
  ];
}

function otherEncodings(token: string): readonly ForgedToken[] {
  const why = 'A token has one encoding (RFC 7515 §2), so that a list of revoked ones cannot be evaded.';
  const [header = '', claims = '', signature = ''] = token.split('.');
  return [
    ['is padded', why, `${token}=`],
    ['has a padded header', why, `${header}=.${claims}.${signature}`],
    ['is followed by a dot', why, `${token}.`],
    ['is followed by a fourth part', why, `${token}.e30`],
  ];
}
