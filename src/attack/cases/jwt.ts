import { createHmac, createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { defaultAlgorithm, generatePrivateKey, type JwtAlgorithm, signJws } from '../../jwt/algorithms.ts';
import { type JwtMembers, looksLikeJwt, type ParsedJwt, parseJwt } from '../../jwt/jwt.ts';
import { type Attempt, malformed, refused } from '../attempt.ts';
import { type Forger, type Forgery, toAttempts } from '../forger.ts';
import type { WeaknessId } from '../weaknesses.ts';

/** A way to sign what was forged. */
type Sign = (header: JwtMembers, claims: JwtMembers) => string;

/** Forged JWTs (RFC 8725 §2, RFC 9068 §5), if the good request has one as its bearer token. */
export function* jwtAttempts(forger: Forger): Generator<Attempt> {
  const credentials = forger.split(forger.signGood());
  const token = credentials?.proof ?? '';
  const jwt = looksLikeJwt(token) ? parseJwt(token) : 'none';
  if (credentials === undefined || typeof jwt === 'string') return;
  const forge = ([name, why, other, id = 'unsigned-token']: ForgedToken): Forgery => [
    `the token ${name}`,
    why,
    id === 'encoded-proof' ? malformed : refused,
    other === token ? undefined : credentials.replaceProof(other),
    id,
  ];
  const { keys = [], privateKey } = forger.issuer;
  const sign = privateKey === undefined ? keepSignature(jwt) : signWith(createPrivateKey(privateKey), jwt);
  const forged = [
    ...unsigned(jwt),
    ...publicKeyAsSecret(jwt, keys),
    ...keysOfTheAttacker(jwt),
    ...otherClaims(jwt, sign, forger.now),
    ...otherTypes(jwt, sign),
    ...otherEncodings(token),
  ];
  yield* toAttempts(forger, 'unsigned-token', forged.map(forge));
}

/** A name, the reason, the token, and its weakness. */
type ForgedToken = readonly [name: string, why: string, token: string, id?: WeaknessId];

function encode(members: JwtMembers): string {
  return Buffer.from(JSON.stringify(members)).toString('base64url');
}

function join(header: JwtMembers, claims: JwtMembers, signature: Uint8Array | string): string {
  const text = typeof signature === 'string' ? signature : Buffer.from(signature).toString('base64url');
  return `${encode(header)}.${encode(claims)}.${text}`;
}

function keepSignature({ signature }: ParsedJwt): Sign {
  return (header, claims) => join(header, claims, signature);
}

/** Signs with a private key, with the algorithm of the good token. */
function signWith(key: KeyObject, { header: { alg } }: Pick<ParsedJwt, 'header'>): Sign {
  const own = defaultAlgorithm(createPublicKey(key)) ?? 'RS256';
  const algorithm: JwtAlgorithm = alg === 'PS256' ? 'PS256' : own;
  return (header, claims) => {
    const signed = `${encode(header)}.${encode(claims)}`;
    return `${signed}.${signJws(algorithm, key, Buffer.from(signed)).toString('base64url')}`;
  };
}

function signWithSecret(secret: string, header: JwtMembers, claims: JwtMembers): string {
  const signed = `${encode(header)}.${encode(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

function unsigned({ header, claims, signature }: ParsedJwt): readonly ForgedToken[] {
  const none = 'A token without a signature is made by anybody (RFC 8725 §3.2).';
  const changed = { ...claims, sub: 'another subject' };
  return [
    ...['none', 'None', 'NONE', 'nOnE'].map((alg): ForgedToken => {
      return [`has the algorithm ${alg} and no signature`, none, join({ ...header, alg }, claims, '')];
    }),
    ['has the algorithm none and a signature', none, join({ ...header, alg: 'none' }, claims, signature)],
    ['has no signature', none, join(header, claims, '')],
    ['has no algorithm', none, join({ ...header, alg: undefined }, claims, '')],
    [
      'names another subject with the same signature',
      'The signature covers the claims.',
      join(header, changed, signature),
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
    return [`is signed by HMAC with ${name}`, why, token, 'token-algorithm'];
  });
}

function keysOfTheAttacker({ header, claims }: ParsedJwt): readonly ForgedToken[] {
  const id = 'token-key';
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
    ['is signed by another key', 'The issuer does not have this key.', sign(own, claims), id],
    ['contains its own key as jwk', named, sign({ ...own, jwk }, claims), id],
    ['names its own keys as jku', named, sign({ ...own, jku: url }, claims), id],
    ['names its own certificate as x5u', named, sign({ ...own, x5u: url }, claims), id],
    ['has a kid that is a path to an empty file', lookup, withKid('../../../../../../dev/null', ''), id],
    [
      'has a kid that is a path to a known file',
      lookup,
      withKid('/proc/sys/kernel/randomize_va_space', '2\n'),
      id,
    ],
    ['has a kid that is SQL', lookup, withKid("x' UNION SELECT 'secret", 'secret'), id],
    [
      'has the kid __proto__',
      'A look-up in a plain object finds an inherited property.',
      withKid('__proto__', ''),
      id,
    ],
  ];
}

function otherClaims({ header, claims }: ParsedJwt, sign: Sign, now: number): readonly ForgedToken[] {
  const id = 'token-claims';
  const at = Math.floor(now / 1000);
  const change = (changes: JwtMembers): string => sign(header, { ...claims, ...changes });
  const forApi =
    'A token for another API would be accepted, which its operator could send here (RFC 9068 §4).';
  const fromIssuer = 'Only known issuers issue tokens (RFC 8725 §3.8).';
  const timed = 'A token is valid for a limited time (RFC 7519 §4.1.4).';
  return [
    ['expired an hour ago', timed, change({ exp: at - 3600, iat: at - 7200 }), id],
    ['has no expiry', timed, change({ exp: undefined }), id],
    ['has an expiry that is text', timed, change({ exp: 'never' }), id],
    ['is valid in a year only', timed, change({ nbf: at + 31_536_000 }), id],
    ['has another audience', forApi, change({ aud: 'https://another-api.example' }), id],
    ['has no audience', forApi, change({ aud: undefined }), id],
    ['has another issuer', fromIssuer, change({ iss: 'https://attacker.example' }), id],
    ['has an issuer with one more slash', fromIssuer, change({ iss: `${String(claims['iss'])}/` }), id],
    ['has no issuer', fromIssuer, change({ iss: undefined }), id],
  ];
}

function otherTypes({ header, claims }: ParsedJwt, sign: Sign): readonly ForgedToken[] {
  const id = 'token-type';
  const why =
    'An ID token is for the client; as an access token it would give the client more (RFC 8725 §3.11).';
  const extension = 'An extension that is critical must be understood (RFC 7515 §4.1.11).';
  return [
    [
      'has the type and the claims of an ID token',
      why,
      sign({ ...header, typ: 'JWT' }, { ...claims, nonce: 'n-0S6_WzA2Mj', at_hash: 'x', scope: undefined }),
      id,
    ],
    ['has the type of a logout token', why, sign({ ...header, typ: 'logout+jwt' }, claims), id],
    ['has a critical extension', extension, sign({ ...header, crit: ['x'], x: true }, claims), id],
  ];
}

function otherEncodings(token: string): readonly ForgedToken[] {
  const why = 'A token has one encoding (RFC 7515 §2), so that a list of revoked ones cannot be evaded.';
  const [header = '', claims = '', signature = ''] = token.split('.');
  const encodings = [
    ['is padded', `${token}=`],
    ['has a padded header', `${header}=.${claims}.${signature}`],
    ['is followed by a dot', `${token}.`],
    ['is followed by a fourth part', `${token}.e30`],
  ] as const;
  return encodings.map(([name, other]) => [name, why, other, 'encoded-proof']);
}
