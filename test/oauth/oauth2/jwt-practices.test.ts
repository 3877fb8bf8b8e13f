// The wrong JWTs of RFC 8725, by section. Each is refused wherever one is accepted, and the hint names what is wrong.
import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, test } from 'node:test';
import { rsa, shortRsa } from '../../support/keys.ts';
import { clients, openServer, type Server, start, tokensFor } from '../../support/oauth/server.ts';

const issuer = 'https://login.example';
const audience = 'https://api.example';
const self = 'https://localhost';
const now = start / 1000;
const records = '/users/ann/financialrecords';
const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rival = generateKeyPairSync('ec', { namedCurve: 'P-256' });

function jwkOf(key: KeyObject, more: object = {}): object {
  return { ...key.export({ format: 'jwk' }), ...more };
}

/** A JWT as it should be, of which any part can be replaced. */
interface Good {
  readonly header: object;
  readonly claims: object;
}

type Text = string | Uint8Array;

function base64url(part: Text): string {
  return Buffer.from(part).toString('base64url');
}

/** Signs a header and claims, which can be any octets. */
function signed(header: Text, claims: Text, key: KeyObject = own.privateKey): string {
  const input = `${base64url(header)}.${base64url(claims)}`;
  const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

function changed({ header, claims }: Good, headers: object, more: object = {}, key?: KeyObject): string {
  return signed(JSON.stringify({ ...header, ...headers }), JSON.stringify({ ...claims, ...more }), key);
}

const header = (headers: object) => (good: Good) => changed(good, headers);
const claims = (more: object) => (good: Good) => changed(good, {}, more);

/** Where a JWT is accepted: as the token of another issuer, to authenticate a client, and as a proof of possession. */
interface Place {
  readonly good: (id: number) => Good;
  /** Resolves to the hint if the JWT is refused, and to undefined if it is accepted. */
  readonly send: (server: Server, jwt: string) => Promise<string | undefined>;
}

const places = {
  issuer: {
    good: () => ({
      header: { alg: 'ES256', typ: 'at+jwt', kid: 'one' },
      claims: { iss: issuer, aud: audience, sub: 'ann', scope: 'read', iat: now, exp: now + 600 },
    }),
    async send({ ask }, bearer) {
      const { status, member } = await ask('GET', records, {
        bearer,
        fields: [['Accept', 'application/json']],
      });
      return status === 200 ? undefined : `${status} ${member('hint')}`;
    },
  },
  assertion: {
    good: (id) => ({
      header: { alg: 'ES256', kid: 'one' },
      claims: { iss: 'signer', sub: 'signer', aud: self, jti: `a${id}`, iat: now, exp: now + 60 },
    }),
    async send({ ask }, assertion) {
      const form = {
        grant_type: 'client_credentials',
        client_id: 'signer',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: assertion,
      };
      const { status, member } = await ask('POST', '/oauth2/token', { form });
      return status === 200 ? undefined : `${status} ${member('error')} ${member('error_description')}`;
    },
  },
  proof: {
    good: (id) => ({
      header: { alg: 'ES256', typ: 'dpop+jwt', jwk: jwkOf(own.publicKey) },
      claims: { jti: `p${id}`, htm: 'POST', htu: `${self}/oauth2/token`, iat: now, nonce },
    }),
    async send({ ask }, proof) {
      const { status, member } = await ask('POST', '/oauth2/token', {
        form: { grant_type: 'client_credentials' },
        basic: 'robot:robot-secret-0123456789',
        fields: [['DPoP', proof]],
      });
      return status === 200 ? undefined : `${status} ${member('error')} ${member('error_description')}`;
    },
  },
} satisfies Readonly<Record<string, Place>>;

type PlaceName = keyof typeof places;

const everywhere: readonly PlaceName[] = ['issuer', 'assertion', 'proof'];
const byKeySet: readonly PlaceName[] = ['issuer', 'assertion'];

/** A wrong JWT: what is wrong, where it is sent, and what the hint names. */
type Row = readonly [wrong: string, where: readonly PlaceName[], make: (good: Good) => string, hint: RegExp];

const unsigned = ({ header, claims }: Good, alg: string): string =>
  `${base64url(JSON.stringify({ ...header, alg }))}.${base64url(JSON.stringify(claims))}.`;

function hmac({ header, claims }: Good, secret: string | Buffer, headers: object = {}): string {
  const input = [{ ...header, alg: 'HS256', ...headers }, claims]
    .map((part) => base64url(JSON.stringify(part)))
    .join('.');
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

const utf16 = (value: object): Buffer => Buffer.from(`\ufeff${JSON.stringify(value)}`, 'utf16le');

/** The wrong ones by the section of RFC 8725. */
const rows: Readonly<Record<string, readonly Row[]>> = {
  '2.1': [
    ['the algorithm none', everywhere, (good) => unsigned(good, 'none'), /the algorithm is none/],
    ['the algorithm nOnE', everywhere, (good) => unsigned(good, 'nOnE'), /the algorithm is none/],
    ['the algorithm none beside a signature', everywhere, header({ alg: 'none' }), /the algorithm is none/],
    ['no signature', everywhere, (good) => changed(good, {}).replace(/[^.]*$/, ''), /no signature/],
    [
      'an HMAC with the public key in PEM as its secret',
      ['issuer', 'proof'],
      (good) => hmac(good, rsa.publicPem),
      /the algorithm is HS256, an HMAC/,
    ],
    [
      'an HMAC of a client that has a key',
      ['assertion'],
      (good) => hmac(good, rsa.publicPem),
      /the client signer has no secret, which verifies no HMAC/,
    ],
    [
      'an HMAC with the JWK as its secret',
      ['issuer', 'proof'],
      (good) => hmac(good, JSON.stringify(jwkOf(own.publicKey))),
      /an HMAC/,
    ],
    [
      'an HMAC with an empty secret and the kid of a file',
      ['issuer', 'proof'],
      (good) => hmac(good, '', { kid: '/dev/null' }),
      /an HMAC/,
    ],
  ],
  '2.2': [
    [
      'an HMAC with a secret that is published as a symmetric key',
      ['issuer'],
      (good) => hmac(good, 'published', { kid: 'mac' }),
      /an HMAC/,
    ],
  ],
  '2.3': [
    [
      'an encrypted JWT of five parts',
      everywhere,
      () =>
        `${base64url(JSON.stringify({ alg: 'RSA-OAEP', enc: 'A256GCM' }))}.a2V5.aXY.${base64url('text')}.dGFn`,
      /it is encrypted \(JWE\), and a signed JWT is required/,
    ],
    [
      'a JWT inside a JWT',
      everywhere,
      (good) => signed(JSON.stringify({ ...good.header, cty: 'JWT' }), changed(good, {})),
      /it contains another JWT \(nested\)/,
    ],
  ],
  '2.4': [
    [
      'compressed claims',
      everywhere,
      (good) => signed(JSON.stringify({ ...good.header, zip: 'DEF' }), Buffer.from([0xab, 0x56, 0x4a, 0x04])),
      /its content is not a JSON object in UTF-8/,
    ],
  ],
  '2.5': [
    [
      'a key whose point is not on the curve',
      ['proof'],
      header({ jwk: jwkOf(own.publicKey, { y: base64url(Buffer.alloc(32, 7)) }) }),
      /jwk is not a public key of ES256 alone, or it is weak/,
    ],
  ],
  '2.6': [
    [
      'claims in UTF-16',
      everywhere,
      ({ header, claims }) => signed(JSON.stringify(header), utf16(claims)),
      /its content is not a JSON object in UTF-8/,
    ],
    [
      'a header in UTF-16',
      ['assertion', 'proof'],
      ({ header, claims }) => signed(utf16(header), JSON.stringify(claims)),
      /its header is not a JSON object in UTF-8/,
    ],
    [
      'a byte that is no UTF-8',
      everywhere,
      ({ header }) => signed(JSON.stringify(header), Buffer.from('7b2261223a22ff227d', 'hex')),
      /its content is not a JSON object in UTF-8/,
    ],
    [
      'a member of the header twice',
      everywhere,
      ({ header, claims }) =>
        signed(JSON.stringify(header).replace('{', '{"alg":"none",'), JSON.stringify(claims)),
      /its header has the member alg more than once/,
    ],
    [
      'a claim twice, the second time with an escape',
      everywhere,
      ({ header, claims }) =>
        signed(JSON.stringify(header), JSON.stringify(claims).replace('{', '{"\\u0069at":1,')),
      /its content has the member iat more than once/,
    ],
    [
      'claims that are a list',
      everywhere,
      ({ header, claims }) => signed(JSON.stringify(header), JSON.stringify([claims])),
      /its content is not a JSON object/,
    ],
  ],
  '2.7': [
    [
      'a token for another API',
      ['issuer'],
      claims({ aud: 'https://other.example' }),
      /^401 the audience is https:\/\/other\.example; this API is https:\/\/api\.example$/,
    ],
    [
      'an assertion for another server',
      ['assertion'],
      claims({ aud: 'https://other.example/token' }),
      /the audience is https:\/\/other\.example\/token; this authorization server is https:\/\/localhost/,
    ],
    [
      'a proof for another endpoint',
      ['proof'],
      claims({ htu: `${self}/other` }),
      /htu is https:\/\/localhost\/other, and the request is for https:\/\/localhost\/oauth2\/token/,
    ],
  ],
  '2.8': [
    [
      'an ID token',
      ['issuer'],
      (good) => changed(good, { typ: 'JWT' }, { nonce: 'n' }),
      /it is an ID token, which is for the client alone/,
    ],
    [
      'a logout token',
      ['issuer', 'assertion', 'proof'],
      header({ typ: 'logout+jwt' }),
      /the typ is logout\+jwt, and/,
    ],
    ['an access token', ['assertion', 'proof'], header({ typ: 'at+jwt' }), /the typ is at\+jwt, and/],
    [
      'a proof of possession',
      ['issuer', 'assertion'],
      header({ typ: 'dpop+jwt' }),
      /the typ is dpop\+jwt, and/,
    ],
  ],
  '2.9': [
    [
      'a kid that is a path',
      byKeySet,
      header({ kid: '../../dev/null' }),
      /no key .*(?:dev\/null|has the kid)/,
    ],
    ['a kid that is SQL', byKeySet, header({ kid: "x' UNION SELECT 'k" }), /no key /],
    ['a huge kid', byKeySet, header({ kid: 'k'.repeat(8000) }), /no key /],
    [
      'the URL of its keys',
      everywhere,
      header({ jku: 'https://evil.example/keys' }),
      /the header has jku, and a token cannot say which key verifies it/,
    ],
    ['the URL of a certificate', everywhere, header({ x5u: 'https://evil.example' }), /the header has x5u/],
  ],
  '3.1': [
    ['no algorithm', everywhere, header({ alg: undefined }), /the algorithm missing/],
    ['an algorithm that is a number', everywhere, header({ alg: 1 }), /algorithm 1 is/],
    [
      'another algorithm than that of the key',
      byKeySet,
      header({ alg: 'ES384' }),
      /the algorithm is ES384, and that of the key is ES256/,
    ],
    [
      'an RSA algorithm with an EC key',
      everywhere,
      header({ alg: 'RS256' }),
      /that of the key is ES256|jwk is not a public key of RS256/,
    ],
  ],
  '3.2': [['an unknown algorithm', everywhere, header({ alg: 'XS1' }), /algorithm XS1 is not/]],
  '3.3': [
    [
      'a changed claim',
      everywhere,
      (good) => {
        const [header, , signature] = changed(good, {}).split('.');
        return `${header}.${base64url(JSON.stringify({ ...good.claims, extra: 1 }))}.${signature}`;
      },
      /the signature is not that of the key/,
    ],
    [
      'another key with the same id',
      everywhere,
      (good) => changed(good, {}, {}, rival.privateKey),
      /the signature is not that of the key/,
    ],
    [
      'a signature in DER',
      everywhere,
      ({ header, claims }) => {
        const input = [header, claims].map((part) => base64url(JSON.stringify(part))).join('.');
        return `${input}.${sign('sha256', Buffer.from(input), own.privateKey).toString('base64url')}`;
      },
      /the signature is in DER; r and s are required one after the other/,
    ],
    [
      'a signature of zeros (CVE-2022-21449)',
      everywhere,
      (good) => changed(good, {}).replace(/[^.]*$/, base64url(Buffer.alloc(64))),
      /the signature is not that of the key/,
    ],
    [
      'an extension that is critical',
      everywhere,
      header({ crit: ['urn:x'], 'urn:x': 1 }),
      /the header has crit or b64/,
    ],
    [
      'claims that are not encoded (RFC 7797)',
      everywhere,
      header({ b64: false, crit: ['b64'] }),
      /the header has crit or b64/,
    ],
    ['an empty list of extensions', everywhere, header({ crit: [] }), /crit or b64/],
    [
      'padding and white space',
      everywhere,
      (good) => `${changed(good, {})}=`,
      /not base64url without padding|^400/,
    ],
  ],
  '3.5': [
    [
      'a key that is too short',
      ['issuer'],
      ({ header, claims }) => {
        const input = [{ ...header, alg: 'RS256', kid: 'weak' }, claims]
          .map((part) => base64url(JSON.stringify(part)))
          .join('.');
        return `${input}.${sign('sha256', Buffer.from(input), shortRsa.privateKey).toString('base64url')}`;
      },
      /the issuer publishes no key weak that can verify a signature/,
    ],
  ],
  '3.8': [
    [
      'an issuer that is not trusted',
      ['issuer'],
      claims({ iss: 'https://evil.example' }),
      /the issuer is https:\/\/evil\.example, which is not trusted here; trusted: https:\/\/login\.example/,
    ],
    ['the issuer with a slash', ['issuer'], claims({ iss: `${issuer}/` }), /is not trusted here/],
    [
      'the key of another issuer',
      ['issuer'],
      (good) => changed(good, { kid: 'two' }, {}, rival.privateKey),
      /publishes no key two/,
    ],
    ['an issuer that is not the client', ['assertion'], claims({ iss: 'x' }), /the issuer is x/],
    ['a subject that is not the client', ['assertion'], claims({ sub: 'x' }), /the subject is not/],
    ['no subject', byKeySet, claims({ sub: undefined }), /no claim sub/],
    ['a subject that is an object', ['issuer'], claims({ sub: {} }), /not the name of a user/],
  ],
  '3.9': [
    ['no audience', byKeySet, claims({ aud: undefined }), /has no audience/],
    [
      'an audience that only begins like ours',
      byKeySet,
      claims({ aud: `${audience}.evil` }),
      /the audience is https:\/\/api\.example\.evil/,
    ],
    [
      'several audiences without ours',
      byKeySet,
      claims({ aud: ['https://a', 'https://b'] }),
      /the audience is https:\/\/a, https:\/\/b; this/,
    ],
    ['an audience that is an object', byKeySet, claims({ aud: {} }), /the audience is/],
  ],
  '3.10': [
    [
      'its own key',
      byKeySet,
      (good) => changed(good, { jwk: jwkOf(rival.publicKey) }, {}, rival.privateKey),
      /the header has jwk, and a token cannot say which key verifies it/,
    ],
    ['a certificate', everywhere, header({ x5c: ['MIIB'] }), /the header has x5c/],
    ['a private key', ['proof'], header({ jwk: jwkOf(own.privateKey) }), /jwk is not a public key/],
    [
      'another key than that of the signature',
      ['proof'],
      header({ jwk: jwkOf(rival.publicKey) }),
      /the signature is not that of the key/,
    ],
  ],
  '3.11': [['no type', ['issuer', 'proof'], header({ typ: undefined }), /typ/]],
  '3.12': [
    ['the claims of an ID token', ['issuer'], claims({ at_hash: 'x' }), /it is an ID token/],
    ['an expired token', ['issuer'], claims({ exp: now - 180 }), /expired 3 minutes ago/],
    ['an expired assertion', ['assertion'], claims({ exp: now }), /expired 0 seconds ago/],
    ['an old proof', ['proof'], claims({ iat: now - 301 }), /created 5 minutes ago/],
    ['no expiry', byKeySet, claims({ exp: undefined }), /no time of expiry/],
    ['an expiry that is text', byKeySet, claims({ exp: '9999999999' }), /no time of expiry/],
    ['a time in the future', byKeySet, claims({ nbf: now + 3600 }), /not valid before 1 hour/],
    ['a proof of the future', ['proof'], claims({ iat: now + 120 }), /created 2 minutes from now/],
    [
      'an assertion that lasts for years',
      ['assertion'],
      claims({ exp: now + 99_999_999 }),
      /at most an hour/,
    ],
    ['no id', ['assertion', 'proof'], claims({ jti: undefined }), /jti/],
  ],
};

async function open(): Promise<Server> {
  const keys = [
    jwkOf(own.publicKey, { kid: 'one', alg: 'ES256' }),
    jwkOf(shortRsa.publicKey, { kid: 'weak', alg: 'RS256' }),
    { kty: 'oct', kid: 'mac', alg: 'HS256', k: base64url('published') },
  ];
  const server = openServer({
    explain: true,
    clients: {
      ...clients,
      signer: {
        jwks: { keys: [jwkOf(own.publicKey, { kid: 'one' })] },
        grants: ['client_credentials'],
        scopes: ['read'],
      },
    },
    oauth2: {
      dpop: 'optional',
      clientAuthentication: ['client_secret_basic', 'private_key_jwt', 'client_secret_jwt'],
      issuers: {
        [issuer]: { audience, jwks: { keys } },
        'https://second.example': { audience, jwks: { keys: [jwkOf(rival.publicKey, { kid: 'two' })] } },
      },
    },
  });
  await server.service.ready;
  return server;
}

// The random numbers of each service are the same, and so is the nonce for proofs.
const nonce = (await (await open()).ask('GET', records)).field('DPoP-Nonce');
let count = 0;

describe('a wrong JWT is refused (RFC 8725)', () => {
  for (const name of everywhere)
    test(`and a right one is accepted: ${name}`, async () => {
      const { good, send }: Place = places[name];
      count += 1;
      assert.equal(await send(await open(), changed(good(count), {})), undefined);
    });

  for (const [section, wrongs] of Object.entries(rows))
    for (const [wrong, where, make, hint] of wrongs)
      for (const name of where)
        test(`§${section}: ${wrong}, as ${name}`, async () => {
          const { good, send }: Place = places[name];
          count += 1;
          const said = await send(await open(), make(good(count)));
          assert.match(said ?? 'accepted', hint);
          assert.doesNotMatch(said ?? '', /eyJ|\n/);
        });
});

test('§2.7: an ID token of this service is not an access token of it, and the reverse', async () => {
  const server = openServer({
    explain: true,
    oauth2: { openid: true, accessTokens: 'jwt' },
    clients: { app: { ...clients.app, scopes: ['read', 'openid'] } },
  });
  await server.service.ready;
  const { access } = await tokensFor(server, { scope: 'openid read' });
  const hinted = await server.ask('GET', `/oauth2/logout?id_token_hint=${access}`);
  assert.equal(hinted.status, 400);
  assert.match(hinted.text, /id_token_hint is not an ID token of this service/);
});
