import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import test from 'node:test';
import { startDouble } from '../../../src/double/index.ts';
import { createConsole } from '../../support/double/control-client.ts';
import { authorizeTarget } from '../../support/oauth/server.ts';

const tea = { title: 'Tea <&>', price: { value: '3.50', currency: 'EUR' } };
const secrets = {
  user: 'the-secret-of-johndoe',
  password: 'the password of johndoe',
  shared: 'the-shared-key-of-johndoe',
  client: 'the-secret-of-the-client',
  consumer: 'the-secret-of-the-printer',
};

async function opened() {
  const double = await startDouble({
    users: { johndoe: { secret: secrets.user, password: secrets.password }, ann: { secret: 'another one' } },
    clients: { app: { secret: secrets.client, redirectUris: ['https://client.example/cb'] } },
    consumers: { printer: { secret: secrets.consumer, callbacks: ['oob'] } },
    seed: { '/articles': [tea, { ...tea, title: 'Sencha' }] },
  });
  const control = createConsole(await double.openControl());
  return { double, control, [Symbol.asyncDispose]: () => double.close() };
}

test('the lists of accounts and tokens contain no secret, no password and no token', async () => {
  await using server = await opened();
  const { control, double } = server;
  double.auth.addKey('johndoe', 'shared-1', { algorithm: 'hmac-sha256', secret: secrets.shared });
  const { publicKey } = generateKeyPairSync('ed25519');
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  double.auth.addKey('johndoe', 'key-1', { algorithm: 'ed25519', publicKey: pem, until: 9e12 });
  const { accessToken, refreshToken = '' } = await double.oauth2.issueToken({ user: 'ann', refresh: true });
  const { token, tokenSecret } = await double.oauth1.issueToken({ user: 'johndoe' });
  const lists = ['/users', '/clients', '/consumers', '/tokens'];
  const values = await Promise.all(lists.map((path) => control.send('GET', path)));
  for (const secret of [...Object.values(secrets), accessToken, refreshToken, token, tokenSecret])
    assert.ok(!JSON.stringify(values).includes(secret), secret);
  assert.deepEqual(values[0].users[0], {
    name: 'johndoe',
    disabled: false,
    password: true,
    secrets: [{}],
    keys: [
      { id: 'shared-1', algorithm: 'hmac-sha256' },
      { id: 'key-1', algorithm: 'ed25519', until: 9e12 },
    ],
  });
  assert.equal(values[1].clients[0].id, 'app');
  assert.equal(values[1].clients[0].confidential, true);
  assert.equal(values[2].consumers[0].key, 'printer');
  const fingerprint = createHash('sha256').update(accessToken).digest('base64url');
  const listed = values[3].tokens.find((each: { fingerprint: string }) => each.fingerprint === fingerprint);
  assert.equal(listed.live, true);
  assert.deepEqual([listed.kind, listed.client, listed.user], ['access', 'app', 'ann']);
});

test('a secret that was rotated with a grace period is listed with the time of its expiry', async () => {
  await using server = await opened();
  const { control, double } = server;
  double.clock.freeze('2026-03-01T12:00:00Z');
  double.auth.rotateSecret('ann', { grace: '1m' });
  const { users } = await control.send('GET', '/users');
  assert.deepEqual(users[1].secrets, [{}, { until: Date.parse('2026-03-01T12:01:00Z') }]);
});

test('tokens are expired and revoked by their fingerprints, and no others with them', async () => {
  await using server = await opened();
  const { control, double } = server;
  const first = await double.oauth2.issueToken({ user: 'ann' });
  const second = await double.oauth2.issueToken({ user: 'ann' });
  const fingerprint = createHash('sha256').update(first.accessToken).digest('base64url');
  assert.deepEqual(await control.send('POST', '/tokens/expire', { fingerprint }), { count: 1 });
  const { tokens } = await control.send('GET', '/tokens');
  assert.deepEqual(
    tokens.map(({ live }: { live: boolean }) => live),
    [false, true],
  );
  assert.deepEqual(await control.send('POST', '/tokens/revoke', { fingerprint }), { count: 1 });
  const { tokens: left } = await control.send('GET', '/tokens');
  assert.equal(left.length, 1);
  const kept = createHash('sha256').update(second.accessToken).digest('base64url');
  assert.equal(left[0].fingerprint, kept);
});

test('an unanswered consent page is listed as a live ticket', async () => {
  await using server = await opened();
  const { control, double } = server;
  const page = authorizeTarget({ redirect_uri: 'https://client.example/cb', scope: 'read' });
  const reply = await double.as('johndoe', { scheme: 'basic' }).fetch(page);
  assert.equal(reply.status, 200, await reply.text());
  const [{ kind, live, user, client }] = (await control.send('GET', '/tokens')).tokens;
  assert.deepEqual([kind, live, user, client], ['ticket', true, 'johndoe', 'app']);
});

test('items are listed as the service sends them, with the entity tags of both formats', async () => {
  await using server = await opened();
  const { control, double } = server;
  const { collections } = await control.send('GET', '/collections');
  const articles = collections.find(({ path }: { path: string }) => path === '/articles');
  assert.equal(articles.access.GET, 'anyone');
  const price = articles.fields.find(({ name }: { name: string }) => name === 'price');
  assert.deepEqual(price.attributes[0], { name: 'currency', type: 'currency', required: true, rules: {} });
  const { items, more } = await control.send('POST', '/items', { collection: '/articles', limit: 1 });
  assert.equal(more, true);
  for (const [format, type] of [
    ['xml', 'application/xml'],
    ['json', 'application/json'],
  ] as const) {
    const reply = await double.fetch(items[0].path, { headers: { Accept: type } });
    assert.equal(await reply.text(), items[0][format]);
    assert.equal(reply.headers.get('etag'), items[0].tags[format]);
  }
  const further = await control.send('POST', '/items', {
    collection: '/articles',
    after: items[0].sequence,
  });
  assert.deepEqual([further.items.length, further.more], [1, false]);
  assert.match(further.items[0].json, /Sencha/);
});

test('the items of a collection with parameters are listed by its path, in any encoding', async () => {
  await using server = await opened();
  const { control, double } = server;
  double.seed({ '/users/ann/financialrecords': [] });
  double.collection('/shelves/{name}/books', {
    element: 'books',
    item: 'book',
    fields: { title: { type: 'text' } },
    access: { read: 'anyone', write: 'anyone' },
  });
  await double.fetch('/shelves/a%20b/books/1', {
    method: 'PUT',
    body: '{"title":"Tea"}',
    headers: { 'Content-Type': 'application/json' },
  });
  for (const collection of ['/shelves/a%20b/books', '/shelves/a b/books']) {
    const { items } = await control.send('POST', '/items', { collection });
    assert.equal(items[0].path, '/shelves/a%20b/books/1');
  }
  const problem = await control.refused(422, 'POST', '/items', { collection: '/nothing' });
  assert.match(String(problem['detail']), /no collection "\/nothing"/);
});

test('the parts of the signed message are returned with the signature, without a secret', async () => {
  await using server = await opened();
  const { control } = server;
  const request = { user: 'johndoe', method: 'GET', url: '/articles?limit=1', nonce: 'n-1' };
  const { message } = await control.send('POST', '/sign', request);
  assert.ok(Array.isArray(message));
  const text = message.map(({ value }) => value).join('');
  assert.match(text, /^GET\+\/articles\?limit=1\+\d{2}\w{3}\d{4}[\d:]+\+n-1$/);
  assert.deepEqual(message[0], { name: 'method', value: 'GET' });
  for (const scheme of ['basic', 'bearer']) {
    const signed = await control.send('POST', '/sign', { ...request, nonce: undefined, scheme });
    assert.deepEqual(signed['message'], []);
  }
  const digest = await control.send('POST', '/sign', { ...request, nonce: undefined, scheme: 'oauth1' });
  assert.match(JSON.stringify(digest['message']), /^\[\{"name":"base string","value":"GET&http/);
});

test('the server signs with a secret, a token or a private key (PEM or JWK) of the request, also in the query', async () => {
  const partner = {
    message: '{timestamp}.{target}.{field:X-Tenant}',
    signature: { query: 'sig' },
    user: { field: 'X-User' },
    timestamp: { field: 'X-Time' },
  };
  await using double = await startDouble({
    users: { ann: { secret: 'the secret of ann' } },
    schemes: { 'message-signatures': {}, partner },
  });
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  double.auth.addKey('ann', 'key-1', { algorithm: 'ed25519', publicKey: pem });
  const control = createConsole(await double.openControl());
  const request = { user: 'ann', method: 'GET', url: '/articles?limit=1' };
  const keys = [
    privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    JSON.stringify(privateKey.export({ format: 'jwk' })),
  ];
  for (const given of keys) {
    const content = { ...request, scheme: 'message-signatures', keyId: 'key-1', privateKey: given };
    const { headers, url } = await control.send('POST', '/sign', content);
    assert.equal((await double.fetch(url, { headers })).status, 200);
    assert.equal(double.journal.last()?.principal?.name, 'ann');
  }
  const headers = { 'X-Tenant': 'tea' };
  const signed = await control.send('POST', '/sign', { ...request, scheme: 'partner', headers });
  await double.fetch(signed.url, { headers: { ...headers, ...signed.headers } });
  assert.deepEqual(double.journal.last()?.principal, { name: 'ann', scheme: 'partner' });
  const wrong = await control.send('POST', '/sign', { ...request, secret: 'another secret' });
  assert.equal((await double.fetch(wrong.url, { headers: wrong.headers })).status, 401);
  const bearer = await control.send('POST', '/sign', { ...request, scheme: 'bearer', token: 'a-token' });
  assert.equal(bearer.headers['Authorization'], 'Bearer a-token');
  const unreadable = { ...request, scheme: 'message-signatures', privateKey: '{"kty":"OKP","d":"hidden"}' };
  const problem = await control.refused(422, 'POST', '/sign', unreadable);
  assert.match(String(problem['detail']), /not a private key as a JWK/);
  assert.ok(!JSON.stringify(problem).includes('hidden'));
});

test('the schemes that sign are listed, with what a client has to know', async () => {
  await using double = await startDouble({
    schemes: {
      aws4: { region: 'eu-central-1', service: 'execute-api' },
      key: { secret: { field: 'X-Key' } },
      partner: {
        message: '{timestamp}.{nonce}.{target}',
        signature: { field: 'X-Signature' },
        user: 'ann',
        nonce: { field: 'X-Nonce' },
        timestamp: { field: 'X-Time' },
      },
    },
  });
  const { signers } = await createConsole(await double.openControl()).send('GET', '/server');
  const members = 'name label kind key privateKeys keyIds user message secure date nonce'.split(' ');
  const rows = signers.map((signer: Record<string, unknown>) => members.map((name) => signer[name]));
  const flags = (text: string) => [...text].map((each) => each === '1');
  assert.deepEqual(rows, [
    ['hmac', 'HMAC', 'hmac', 'secret', ...flags('0011011')],
    ['basic', 'Basic', 'basic', 'password', ...flags('0010100')],
    ['bearer', 'Bearer token (OAuth 2.0)', 'bearer', 'token', ...flags('0000100')],
    ['oauth1', 'OAuth 1.0a', 'oauth1', 'consumer', ...flags('1001111')],
    ['aws4', 'AWS Signature Version 4', 'aws4', 'secret', ...flags('0111010')],
    ['key', 'key', 'api-key', 'secret', ...flags('0100100')],
    ['partner', 'partner', 'declared', 'secret', ...flags('0101011')],
  ]);
});
