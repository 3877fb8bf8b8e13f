// A consumer that signs without a token (two-legged), and over plain HTTP.
import assert from 'node:assert/strict';
import { createHash, createHmac, createSign, randomUUID } from 'node:crypto';
import test from 'node:test';
import { rsa } from '../../support/keys.ts';
import { ask, openTestService, type Signing, sign } from '../../support/oauth/consumer.ts';
import { records } from '../../support/oauth/oauth1-refusals.ts';

const shared = { callbacks: ['oob'], scopes: ['read', 'write'], plainHttp: true } as const;
const consumers = {
  shop: { ...shared, secret: 'shop-secret-0123456789', users: '*' },
  clerk: { ...shared, secret: 'clerk-secret-0123456789', users: ['ann'] },
  reader: { ...shared, secret: 'reader-secret-0123456789', scopes: ['read'], users: '*' },
  nobody: { ...shared, secret: 'nobody-secret-0123456789' },
  sealed: { ...shared, secret: 'sealed-secret-0123456789', users: '*', plainHttp: false },
  strong: { ...shared, secret: 'strong-secret-0123456789', users: '*', methods: ['HMAC-SHA512'] },
  open: { ...shared, secret: 'open-secret-0123456789', users: '*', methods: ['PLAINTEXT', 'HMAC-SHA1'] },
} as const;
const read: Signing = { method: 'GET', target: records, key: 'shop' };
const write: Signing = { key: 'shop', target: '/articles', sending: xml() };

function xml(): NonNullable<Signing['sending']> {
  return {
    fields: [['Content-Type', 'application/xml']],
    content: '<article><title>Signed</title><price currency="EUR">9.99</price></article>',
  };
}

const plain = (signing: Signing): Signing => ({
  ...signing,
  origin: 'http://localhost',
  sending: { ...signing.sending, secure: false },
});
const withMethod = (signing: Signing, oauth_signature_method: string): Signing => ({
  ...signing,
  protocol: { ...signing.protocol, oauth_signature_method },
});

const rows: readonly (readonly [what: string, signing: Signing, status: number])[] = [
  ['without oauth_token', read, 200],
  ['with an empty oauth_token', { ...read, protocol: { oauth_token: '' } }, 200],
  ['in the query', { ...read, place: 'query' }, 200],
  ['for a user that is listed', { ...read, key: 'clerk' }, 200],
  ['for another user', { ...read, key: 'clerk', target: records.replace('ann', 'bob') }, 403],
  ['for a user, if none is listed', { ...read, key: 'nobody' }, 403],
  ['to write without the scope', { ...write, key: 'reader' }, 403],
  ['with the secret of another consumer', { ...read, secret: consumers.clerk.secret }, 401],
  ['by HMAC-SHA512', withMethod({ ...read, key: 'strong' }, 'HMAC-SHA512'), 200],
  ['by a method that it is not registered for', { ...read, key: 'strong' }, 400],
  ['over plain HTTP', plain(read), 200],
  ['over plain HTTP, in the query', plain({ ...read, place: 'query' }), 200],
  ['over plain HTTP, with the https URL signed', { ...plain(read), origin: 'https://localhost' }, 401],
  ['over TLS, with the http URL signed', { ...read, origin: 'http://localhost' }, 401],
  ['over plain HTTP, by an unknown consumer', plain({ ...read, key: 'unknown' }), 401],
  ['over plain HTTP, with a wrong secret', plain({ ...read, key: 'sealed', secret: 'wrong' }), 401],
  ['over plain HTTP, by a consumer that requires TLS', plain({ ...read, key: 'sealed' }), 403],
  ['by PLAINTEXT over TLS', withMethod({ ...read, key: 'open' }, 'PLAINTEXT'), 200],
  ['by PLAINTEXT over plain HTTP', plain(withMethod({ ...read, key: 'open' }, 'PLAINTEXT')), 403],
];
for (const [what, signing, status] of rows)
  test(`a consumer without a token that signs ${what} gets ${status}`, async () => {
    const answer = await ask(openTestService({ consumers }), signing);
    assert.equal(answer.status, status, answer.text);
  });

test('a request without a token is accepted once, over plain HTTP too', async () => {
  const server = openTestService({ consumers });
  for (const signing of [read, plain(read)]) {
    const { method, target, sending } = sign(server, signing);
    assert.equal((await server.ask(method, target, sending)).status, 200);
    assert.match((await server.ask(method, target, sending)).field('WWW-Authenticate'), /nonce_used/);
  }
});

test('over plain HTTP, the token endpoints and other credentials still require TLS', async () => {
  const server = openTestService({ consumers });
  const token = plain({ target: '/oauth1/request_token', key: 'shop', protocol: { oauth_callback: 'oob' } });
  assert.equal((await ask(server, token)).status, 403);
  const basic = await server.ask('GET', records, { basic: 'ann:ann-password', secure: false });
  assert.equal(basic.status, 403);
});

test('over plain HTTP, OAuth is refused unread if every consumer requires TLS, and offered if one does not', async () => {
  const { sealed } = consumers;
  const without = openTestService({ consumers: { sealed } });
  assert.equal((await ask(without, plain({ ...read, key: 'sealed', secret: 'wrong' }))).status, 403);
  const challenge = async (server: typeof without): Promise<string> =>
    (await server.ask('GET', records, { secure: false })).field('WWW-Authenticate');
  assert.doesNotMatch(await challenge(without), /OAuth/);
  assert.match(await challenge(openTestService({ consumers })), /OAuth realm=/);
});

for (const [method, hash] of [
  ['HMAC-SHA1', 'sha1'],
  ['HMAC-SHA256', 'sha256'],
  ['HMAC-SHA512', 'sha512'],
] as const)
  test(`oauth_body_hash with ${method} is that of the content by ${hash}, or by SHA-1`, async () => {
    const methods = [method];
    const server = openTestService({ consumers: { shop: { ...consumers.shop, methods } } });
    const { content = '' } = xml();
    const send = (used: string, hashed: string): Promise<unknown> =>
      ask(server, {
        ...withMethod(write, method),
        protocol: {
          oauth_signature_method: method,
          oauth_body_hash: createHash(used).update(hashed).digest('base64'),
        },
      }).then(({ status }) => status);
    assert.equal(await send(hash, content), 201);
    assert.equal(await send('sha1', content), 201);
    assert.equal(await send(hash, `${content} `), 400);
    assert.equal(await send('md5', content), 400);
  });

// mastercard-oauth1-signer 1.2.0: the hash has neither in the base string nor in Authorization percent-encodings of its own.
for (const [what, method, tampered, status] of [
  ['by RSA-SHA256', 'RSA-SHA256', '', 200],
  ['by RSA-SHA1', 'RSA-SHA1', '', 200],
  ['by RSA-SHA256, and other content was hashed', 'RSA-SHA256', 'other content', 400],
  ['by HMAC-SHA256', 'HMAC-SHA256', '', 401],
] as const)
  test(`oauth_body_hash that is not percent-encoded, signed ${what}, gets ${status}`, async () => {
    const { publicPem: rsaPublicKey, privateKey } = rsa;
    const secret = consumers.shop.secret;
    const methods = [method];
    const server = openTestService({ consumers: { shop: { ...consumers.shop, rsaPublicKey, methods } } });
    const hash = createHash(method === 'RSA-SHA1' ? 'sha1' : 'sha256')
      .update(tampered)
      .digest('base64');
    const parameters = [
      `oauth_body_hash=${hash}`,
      'oauth_consumer_key=shop',
      `oauth_nonce=${randomUUID()}`,
      `oauth_signature_method=${method}`,
      `oauth_timestamp=${Math.floor(server.clock.now() / 1000)}`,
      'oauth_version=1.0',
    ];
    const base = ['GET', `https://localhost${records}`, parameters.join('&')]
      .map(encodeURIComponent)
      .join('&');
    const signature =
      method === 'HMAC-SHA256'
        ? createHmac('sha256', `${secret}&`).update(base).digest('base64')
        : createSign(method).update(base).sign(privateKey, 'base64');
    const sent = [...parameters, `oauth_signature=${encodeURIComponent(signature)}`];
    const field = `OAuth ${sent.map((pair) => pair.replace('=', '="')).join('",')}"`;
    const answer = await server.ask('GET', records, { fields: [['Authorization', field]] });
    assert.equal(answer.status, status, answer.text);
  });
