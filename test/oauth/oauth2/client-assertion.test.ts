import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import type { ServiceOptions } from '../../../src/index.ts';
import { rsa, shortRsa } from '../../support/keys.ts';
import { signJwt as jwt } from '../../support/oauth/jwt.ts';
import { type Answer, clients, openServer, type Server, start } from '../../support/oauth/server.ts';

const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const issuer = 'https://localhost';
const seconds = start / 1000;
const secret = 'a secret of the client of 32 bytes or more';
const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const machine = { grants: ['client_credentials'], users: '*' } as const;
const registered = {
  ...clients,
  signer: { ...machine, jwks: { keys: [{ ...own.publicKey.export({ format: 'jwk' }), kid: 'one' }] } },
  pem: { ...machine, publicKey: rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString() },
  sharer: { ...machine, secret },
  short: { ...machine, secret: 'short' },
} satisfies ServiceOptions['clients'];

function open(options: ServiceOptions = {}): Server {
  return openServer({
    clients: registered,
    explain: true,
    oauth2: { clientAuthentication: ['client_secret_basic', 'none', 'private_key_jwt', 'client_secret_jwt'] },
    ...options,
  });
}

let count = 0;

/** The claims of an assertion as they should be, with what is to be different. */
function claimsOf(client: string, changes: object = {}): object {
  count += 1;
  const times = { iat: seconds, exp: seconds + 60 };
  return { iss: client, sub: client, aud: issuer, jti: `id ${count}`, ...times, ...changes };
}

function send({ ask }: Server, assertion: string, more: Record<string, string> = {}): Promise<Answer> {
  const common = { client_assertion: assertion, client_assertion_type: type };
  return ask('POST', '/oauth2/token', { form: { grant_type: 'client_credentials', ...common, ...more } });
}

describe('a client authenticates with an assertion', () => {
  test('that it signed with its key, registered as a JWK or in PEM', async () => {
    const server = open();
    assert.equal((await send(server, jwt(claimsOf('signer'), own.privateKey, { kid: 'one' }))).status, 200);
    assert.equal(
      (await send(server, jwt(claimsOf('signer'), own.privateKey), { client_id: 'signer' })).status,
      200,
    );
    assert.equal((await send(server, jwt(claimsOf('pem'), rsa.privateKey))).status, 200);
  });

  test('that it signed with its secret', async () => {
    assert.equal((await send(open(), jwt(claimsOf('sharer'), secret))).status, 200);
  });

  test('whose audience is the issuer or the token endpoint, alone or among others', async () => {
    const server = open();
    for (const aud of [issuer, `${issuer}/oauth2/token`, ['https://a.example', issuer]])
      assert.equal(
        (await send(server, jwt(claimsOf('signer', { aud }), own.privateKey))).status,
        200,
        String(aud),
      );
  });

  test('at the endpoints of revocation and introspection too', async () => {
    const server = open();
    const issued = await send(server, jwt(claimsOf('signer'), own.privateKey));
    const token = issued.member('access_token');
    const form = {
      token,
      client_assertion: jwt(claimsOf('signer'), own.privateKey),
      client_assertion_type: type,
    };
    assert.equal((await server.ask('POST', '/oauth2/introspect', { form })).member('active'), 'true');
    const again = { ...form, client_assertion: jwt(claimsOf('signer'), own.privateKey) };
    assert.equal((await server.ask('POST', '/oauth2/revoke', { form: again })).status, 200);
  });
});

test('an assertion is accepted once, until it is expired', async () => {
  const server = open();
  const assertion = jwt(claimsOf('signer', { exp: seconds + 3600 }), own.privateKey);
  assert.equal((await send(server, assertion)).status, 200);
  for (const later of ['0s', '30m', '29m', '2m']) {
    server.clock.advance(later);
    const repeated = await send(server, assertion);
    assert.equal(repeated.status, 401);
    const expected = later === '2m' ? /expired 1 minute ago/ : /used before: each jti is accepted once/;
    assert.match(repeated.member('error_description'), expected);
  }
});

test('the same jti of another client is another one', async () => {
  const server = open();
  assert.equal((await send(server, jwt(claimsOf('signer', { jti: 'same' }), own.privateKey))).status, 200);
  assert.equal((await send(server, jwt(claimsOf('pem', { jti: 'same' }), rsa.privateKey))).status, 200);
});

const refused: readonly (readonly [what: string, assertion: () => string, reason: RegExp])[] = [
  [
    'is of the future',
    () => jwt(claimsOf('signer', { iat: seconds + 600 }), own.privateKey),
    /was issued 10 minutes from now/,
  ],
  [
    'is two hours old',
    () => jwt(claimsOf('signer', { iat: seconds - 7200 }), own.privateKey),
    /was issued 2 hours ago/,
  ],
  ['has a jti that is no text', () => jwt(claimsOf('signer', { jti: 1 }), own.privateKey), /jti is not text/],
  [
    'is an HMAC with a secret that is stored as a digest',
    () => jwt(claimsOf('robot'), 'robot-secret-0123456789 and more of it'),
    /stored as a digest/,
  ],
  ['is an HMAC with a short secret', () => jwt(claimsOf('short'), 'short'), /HS256 requires at least 32/],
  ['is an HMAC with another secret', () => jwt(claimsOf('sharer'), `${secret}!`), /not that of the secret/],
  [
    'is signed by a client without a key',
    () => jwt(claimsOf('app'), own.privateKey),
    /no key is registered for the client app/,
  ],
  ['is an ID token', () => jwt(claimsOf('signer', { nonce: 'n' }), own.privateKey), /it is an ID token/],
];

describe('an assertion is refused, and the reason is explained, if it', () => {
  for (const [what, assertion, reason] of refused)
    test(what, async () => {
      const answer = await send(open(), assertion());
      assert.deepEqual([answer.status, answer.member('error')], [401, 'invalid_client']);
      assert.match(answer.member('error_description'), reason);
      assert.doesNotMatch(answer.text, /eyJ/);
    });

  test('is of an unknown client, which only a journal shows', async () => {
    const answer = await send(open(), jwt(claimsOf('nobody'), own.privateKey));
    assert.equal(answer.member('error_description'), 'The client is unknown or its assertion is not valid.');
  });

  test('is older than a service that has lost the ids', async () => {
    const server = open({ notBefore: start });
    const answer = await send(server, jwt(claimsOf('signer', { iat: seconds - 1 }), own.privateKey));
    assert.match(answer.member('error_description'), /older than this service/);
    assert.equal((await send(server, jwt(claimsOf('signer'), own.privateKey))).status, 200);
  });
});

test('a client uses one method in a request', async () => {
  const server = open();
  for (const sending of [
    { more: { client_secret: secret } },
    { more: {}, basic: `sharer:${secret}` },
    { more: { client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer' } },
  ]) {
    const form = {
      grant_type: 'client_credentials',
      client_assertion: jwt(claimsOf('signer'), own.privateKey),
    };
    const answer = await server.ask('POST', '/oauth2/token', {
      form: { client_assertion_type: type, ...form, ...sending.more },
      basic: sending.basic,
    });
    assert.deepEqual([answer.status, answer.member('error')], [400, 'invalid_request']);
  }
  const answer = await send(server, jwt(claimsOf('signer'), own.privateKey), { client_id: 'pem' });
  assert.match(answer.member('error_description'), /the issuer is signer, and pem is required/);
});

test('a client with a key is not public: its id alone proves nothing', async () => {
  const form = { grant_type: 'client_credentials', client_id: 'signer' };
  const answer = await open().ask('POST', '/oauth2/token', { form });
  assert.deepEqual([answer.status, answer.member('error')], [401, 'invalid_client']);
});

test('only the methods that are configured are accepted, and the metadata lists them', async () => {
  const server = open({ oauth2: { clientAuthentication: ['private_key_jwt'] } });
  assert.equal((await send(server, jwt(claimsOf('signer'), own.privateKey))).status, 200);
  const answer = await send(server, jwt(claimsOf('sharer'), secret));
  assert.match(
    answer.member('error_description'),
    /authenticates with client_secret_jwt, which is not supported; supported: private_key_jwt/,
  );
  const form = { grant_type: 'client_credentials' };
  const basic = `sharer:${secret}`;
  assert.equal((await server.ask('POST', '/oauth2/token', { form, basic })).status, 401);
  const metadata = await server.ask('GET', '/.well-known/oauth-authorization-server');
  const described = JSON.parse(metadata.text);
  assert.deepEqual(described.token_endpoint_auth_methods_supported, ['private_key_jwt']);
  assert.ok(described.token_endpoint_auth_signing_alg_values_supported.includes('ES256'));
  assert.ok(!described.token_endpoint_auth_signing_alg_values_supported.includes('HS256'));
});

test('by default, assertions are not accepted, and the metadata does not mention them', async () => {
  const server = open({ oauth2: {} });
  assert.equal((await send(server, jwt(claimsOf('signer'), own.privateKey))).status, 401);
  const metadata = await server.ask('GET', '/.well-known/oauth-authorization-server');
  assert.doesNotMatch(metadata.text, /_jwt|signing_alg/);
});

test('a key that is private or weak cannot be registered', () => {
  const keys: object[] = [
    { jwks: { keys: [own.privateKey.export({ format: 'jwk' })] } },
    { jwks: { keys: [] } },
    { publicKey: rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() },
    { publicKey: 'https://keys.example' },
    { publicKey: shortRsa.publicPem },
  ];
  for (const each of keys)
    assert.throws(() => open({ clients: { signer: { ...machine, ...each } } }), /of the client "signer"/);
});
