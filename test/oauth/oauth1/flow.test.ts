import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { rsa } from '../../support/keys.ts';
import {
  accessToken,
  answer,
  approve,
  ask,
  askAccessToken,
  askRequestToken,
  callback,
  consumers,
  given,
  openTestService,
  plain,
  question,
  requestToken,
  type Signing,
} from '../../support/oauth/consumer.ts';

const records = '/users/ann/financialrecords';
const article = '<article><title>Signed</title><price currency="EUR">9.99</price></article>';
const xml: readonly (readonly [string, string])[] = [['Content-Type', 'application/xml']];

test('a consumer obtains a request token, a user allows it, and the consumer reads on behalf of the user', async () => {
  const server = openTestService();
  const asked = await askRequestToken(server);
  assert.equal(asked.status, 200);
  assert.equal(asked.field('Content-Type'), 'application/x-www-form-urlencoded');
  assert.equal(asked.field('Cache-Control'), 'no-store');
  assert.deepEqual(
    [...new URLSearchParams(asked.text).keys()],
    ['oauth_token', 'oauth_token_secret', 'oauth_callback_confirmed'],
  );
  assert.equal(given(asked, 'oauth_callback_confirmed'), 'true');
  const token = { token: given(asked, 'oauth_token'), secret: given(asked, 'oauth_token_secret') };
  const shown = await question(server, token.token);
  assert.equal(shown.status, 200);
  assert.equal(shown.member('scope'), 'read write');
  const allowed = await answer(server, shown);
  assert.equal(allowed.status, 303);
  const location = allowed.field('Location');
  assert.ok(location.startsWith(`${callback}&oauth_token=${token.token}&oauth_verifier=`), location);
  const access = await askAccessToken(server, token, allowed.returned('oauth_verifier'));
  assert.equal(access.status, 200);
  assert.deepEqual(
    [...new URLSearchParams(access.text).keys()],
    ['oauth_token', 'oauth_token_secret', 'expires_in', 'scope'],
  );
  assert.equal(given(access, 'expires_in'), '86400');
  assert.equal(given(access, 'scope'), 'read write');
  const credentials = { token: given(access, 'oauth_token'), secret: given(access, 'oauth_token_secret') };
  const read = await ask(server, { method: 'GET', target: records, token: credentials });
  assert.equal(read.status, 200);
  assert.equal(read.field('Cache-Control'), 'private, no-cache');
});

test("a parameter in Authorization that is not the protocol's is signed like the others", async () => {
  const signing = { protocol: { note: 'a & b' } };
  assert.equal((await askRequestToken(openTestService(), signing)).status, 200);
  assert.equal(
    (await askRequestToken(openTestService(), { ...signing, tampered: { note: 'b' } })).status,
    401,
  );
});

test('expires_in never exceeds the lifetime of an access token', async () => {
  const server = openTestService({ lifetimes: { oauth1Access: 90.9 } });
  const token = await requestToken(server);
  const access = await askAccessToken(server, token, await approve(server, token.token));
  assert.equal(given(access, 'expires_in'), '90');
});

const places: readonly (readonly [place: string, signing: Signing])[] = [
  ['in the header', { method: 'GET', target: `${records}?limit=5&x=%7E+a` }],
  ['in the query', { method: 'GET', target: `${records}?limit=5`, place: 'query' }],
  [
    'in the header, with HMAC-SHA256',
    { method: 'GET', target: records, protocol: { oauth_signature_method: 'HMAC-SHA256' } },
  ],
  ['in the header, for HEAD', { method: 'HEAD', target: records }],
  [
    'in the header, without a version',
    { method: 'GET', target: records, protocol: { oauth_version: undefined } },
  ],
  [
    'in the header, with an odd nonce',
    { method: 'GET', target: records, protocol: { oauth_nonce: 'ü "x" \\ + %' } },
  ],
];

for (const [place, signing] of places) {
  test(`parameters are read ${place}`, async () => {
    const server = openTestService();
    const token = await accessToken(server);
    assert.equal((await ask(server, { ...signing, token })).status, 200);
  });
}

test('a form with the parameters reaches the resource, which does not accept forms', async () => {
  const server = openTestService();
  const token = await accessToken(server);
  const sent = await ask(server, { target: '/articles', token, place: 'form', form: { a: 'b c' } });
  assert.equal(sent.status, 415);
});

test('a form is signed even if the parameters are in the header', async () => {
  const server = openTestService();
  const token = await accessToken(server);
  const signing: Signing = { target: '/articles', token, form: { a: '1+1 = 2', b: '' } };
  assert.equal((await ask(server, signing)).status, 415);
  const { form: _, ...unsigned } = signing;
  const refused = await ask(server, { ...unsigned, sending: { form: 'a=2' } });
  assert.match(refused.field('WWW-Authenticate'), /oauth_problem="signature_invalid"/);
});

test('a write with a token succeeds, and its oauth_body_hash is verified', async () => {
  const server = openTestService();
  const token = await accessToken(server);
  const hash = (algorithm: string): string => createHash(algorithm).update(article).digest('base64');
  const send = (method: string, oauth_body_hash: string): ReturnType<typeof ask> =>
    ask(server, {
      target: '/articles',
      token,
      protocol: { oauth_signature_method: method, oauth_body_hash },
      sending: { content: article, fields: xml },
    });
  assert.equal((await send('HMAC-SHA1', hash('sha1'))).status, 201);
  assert.equal((await send('HMAC-SHA256', hash('sha256'))).status, 201);
  assert.equal((await send('HMAC-SHA256', hash('sha1'))).status, 201, 'as most clients do');
  const wrong = await send('HMAC-SHA1', hash('sha256'));
  assert.equal(wrong.status, 400);
  assert.match(wrong.field('WWW-Authenticate'), /oauth_parameters_rejected="oauth_body_hash"/);
});

test('a token is limited to the requested scope', async () => {
  const server = openTestService();
  const token = await accessToken(server, { form: { scope: 'read' } });
  assert.equal((await ask(server, { method: 'GET', target: records, token })).status, 200);
  const refused = await ask(server, {
    target: '/articles',
    token,
    sending: { content: article, fields: xml },
  });
  assert.equal(refused.status, 403);
  assert.equal(
    refused.field('WWW-Authenticate'),
    'OAuth realm="Countersign", oauth_problem="permission_denied"',
  );
  const elsewhere = await ask(server, { method: 'GET', target: '/users/bob/financialrecords', token });
  assert.equal(elsewhere.status, 403);
});

test('tokens are limited to the current scopes of their consumer', async () => {
  const server = openTestService();
  const token = await accessToken(server);
  server.service.replaceConsumers({ printer: { secret: 'printer-secret-0123456789', scopes: ['read'] } });
  assert.equal((await ask(server, { method: 'GET', target: records, token })).status, 200);
  const refused = await ask(server, {
    target: '/articles',
    token,
    sending: { content: article, fields: xml },
  });
  assert.equal(refused.status, 403);
});

test('the verifier is shown to the user if there is no callback', async () => {
  const server = openTestService();
  const token = await requestToken(server, { protocol: { oauth_callback: 'oob' } });
  const shown = await question(server, token.token);
  const form = { consent_ticket: shown.member('consent_ticket'), decision: 'allow' };
  const page = await server.ask('POST', '/oauth1/authorize', { basic: 'ann:ann-password', form });
  assert.equal(page.status, 200);
  assert.match(page.field('Content-Type'), /^text\/html/);
  const verifier = /<code id="oauth_verifier">([a-z0-9]{12})<\/code>/.exec(page.text)?.[1];
  assert.equal((await askAccessToken(server, token, verifier)).status, 200);
});

test('a refusal redirects the user to the consumer and invalidates the request token', async () => {
  const server = openTestService();
  const token = await requestToken(server);
  const refused = await answer(server, await question(server, token.token), 'deny');
  assert.equal(refused.status, 303);
  assert.equal(
    refused.field('Location'),
    `${callback}&oauth_token=${token.token}&oauth_problem=user_refused`,
  );
  assert.equal(given(await askAccessToken(server, token, 'x'), 'oauth_problem'), 'token_used');
});

test('a consumer may send the callback of its request token again', async () => {
  const server = openTestService();
  const request = await requestToken(server);
  const verifier = await approve(server, request.token);
  const protocol = { oauth_callback: callback };
  assert.equal((await askAccessToken(server, request, verifier, { protocol })).status, 200);
  const read = { method: 'GET', target: records, token: await accessToken(server), protocol };
  assert.equal((await ask(server, read)).status, 200);
});

test('a consumer registered for PLAINTEXT signs with or without a nonce', async () => {
  const server = openTestService({ consumers: plain });
  const signing = {
    key: 'plain',
    secret: 'plain&secret-0123456789',
    protocol: { oauth_signature_method: 'PLAINTEXT', oauth_callback: 'oob' },
  };
  const token = await accessToken(server, signing);
  const { secret, key } = signing;
  const bare = { oauth_signature_method: 'PLAINTEXT', oauth_timestamp: undefined, oauth_nonce: undefined };
  const read = { method: 'GET', target: records, token, secret, key };
  assert.equal(
    (await ask(server, { ...read, protocol: { oauth_signature_method: 'PLAINTEXT' } })).status,
    200,
  );
  assert.equal((await ask(server, { ...read, protocol: bare })).status, 200);
});

for (const method of ['RSA-SHA256', 'RSA-SHA1', 'RSA-SHA512'] as const)
  test(`a consumer that is registered with an RSA key signs with it by ${method}`, () =>
    signsWithKey(method));

async function signsWithKey(method: 'RSA-SHA256' | 'RSA-SHA1' | 'RSA-SHA512'): Promise<void> {
  const { publicPem, privatePem: privateKey } = rsa;
  const signing = { rsaPublicKey: publicPem, callbacks: ['oob'], methods: [method] } as const;
  const server = openTestService({ consumers: { ...consumers, rsa: signing } });
  const protocol = { oauth_signature_method: method, oauth_callback: 'oob' };
  const token = await accessToken(server, { key: 'rsa', privateKey, protocol });
  const read: Signing = { method: 'GET', target: records, token, key: 'rsa' };
  const by = { oauth_signature_method: method };
  assert.equal((await ask(server, { ...read, privateKey, protocol: by })).status, 200);
  for (const wrong of [
    read,
    { ...read, protocol: by },
    { ...read, protocol: by, key: 'printer', privateKey },
  ]) {
    const refused = await ask(server, wrong);
    assert.match(refused.field('WWW-Authenticate'), /oauth_problem="signature_invalid"/);
  }
}

test('a signature covers the origin from Host if the server knows it, and a foreign Host is refused', async () => {
  const server = openTestService({ publicUrl: 'https://api.example' });
  const token = await accessToken(server, {
    origin: 'https://api.example',
    sending: { fields: [['Host', 'API.example:443']] },
  });
  const read: Signing = { method: 'GET', target: records, token };
  assert.equal(
    (await ask(server, { ...read, origin: 'https://api.example' })).status,
    401,
    'Host is localhost',
  );
  assert.equal((await ask(server, read)).status, 200);
  const strange: Signing = {
    ...read,
    origin: 'https://evil.example',
    sending: { fields: [['Host', 'evil.example']] },
  };
  assert.equal((await ask(server, strange)).status, 401);
});

test('tokens survive a restart with the same store and key', async () => {
  const store = createMemoryStore({ storeId: 'kept' });
  const masterKey = new Uint8Array(32).fill(7);
  const token = await accessToken(openTestService({ store, masterKey }));
  const after = await ask(openTestService({ store, masterKey }), { method: 'GET', target: records, token });
  assert.equal(after.status, 200);
  const otherKey = openTestService({ store, masterKey: new Uint8Array(32) });
  assert.equal((await ask(otherKey, { method: 'GET', target: records, token })).status, 401);
});

test('the store contains no token, secret or verifier', async () => {
  const store = createMemoryStore({ storeId: 'kept' });
  const server = openTestService({ store });
  const request = await requestToken(server);
  const verifier = await approve(server, request.token);
  const token = await accessToken(server);
  const kept: unknown[] = [];
  for (const collection of ['oauth:tokens', 'oauth:grants']) {
    kept.push((await store.list(collection, 0, 100)).entries.map(({ id, value }) => [id, value]));
  }
  const text = JSON.stringify(kept);
  assert.ok(text.includes('printer'));
  for (const secret of [request.token, request.secret, verifier, token.token, token.secret]) {
    assert.ok(!text.includes(secret));
  }
});

test('exactly one of several concurrent requests with the same ticket, verifier or nonce succeeds', async () => {
  const server = openTestService();
  const token = await requestToken(server);
  const shown = await question(server, token.token);
  const answers = await Promise.all(Array.from({ length: 8 }, () => answer(server, shown)));
  const [allowed, ...others] = answers.filter(({ status }) => status === 303);
  assert.ok(allowed !== undefined && others.length === 0);
  const verifier = allowed.returned('oauth_verifier');
  const exchanges = await Promise.all(
    Array.from({ length: 8 }, () => askAccessToken(server, token, verifier)),
  );
  const good = exchanges.filter(({ status }) => status === 200);
  assert.equal(good.length, 1);
  for (const one of exchanges)
    if (one.status !== 200) assert.equal(given(one, 'oauth_problem'), 'token_used');
  const [first] = good;
  const credentials = {
    token: first ? given(first, 'oauth_token') : '',
    secret: first ? given(first, 'oauth_token_secret') : '',
  };
  const read: Signing = {
    method: 'GET',
    target: records,
    token: credentials,
    protocol: { oauth_nonce: 'the same' },
  };
  const reads = await Promise.all(Array.from({ length: 8 }, () => ask(server, read)));
  assert.deepEqual(reads.map(({ status }) => status).sort(), [200, ...Array(7).fill(401)]);
});

test('only one of two concurrent decisions about a request token counts', async () => {
  const server = openTestService();
  const token = await requestToken(server);
  const [one, other] = [await question(server, token.token), await question(server, token.token, 'bob')];
  const answers = await Promise.all([answer(server, one), answer(server, other, 'allow', 'bob')]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 400]);
});

test('concurrent wrong verifiers are counted one by one, and the third uses up the token', async () => {
  const server = openTestService();
  const token = await requestToken(server);
  const verifier = await approve(server, token.token);
  const tries = await Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map((wrong) => askAccessToken(server, token, wrong)),
  );
  const problems = tries.map((one) => given(one, 'oauth_problem')).sort();
  assert.deepEqual(problems, [
    'token_used',
    'token_used',
    'verifier_invalid',
    'verifier_invalid',
    'verifier_invalid',
  ]);
  assert.equal(given(await askAccessToken(server, token, verifier), 'oauth_problem'), 'token_used');
});

test('the right verifier is accepted after two wrong ones', async () => {
  const server = openTestService();
  const token = await requestToken(server);
  const verifier = await approve(server, token.token);
  for (const wrong of ['a', `${verifier}x`])
    assert.equal(given(await askAccessToken(server, token, wrong), 'oauth_problem'), 'verifier_invalid');
  assert.equal((await askAccessToken(server, token, verifier)).status, 200);
});

test('a nonce is unique per consumer, token and timestamp', async () => {
  const server = openTestService();
  const [one, other] = [
    await accessToken(server),
    await accessToken(server, { key: 'rival', protocol: { oauth_callback: 'oob' } }),
  ];
  const protocol = { oauth_nonce: 'n' };
  const read: Signing = { method: 'GET', target: records, token: one, protocol };
  assert.equal((await ask(server, read)).status, 200);
  assert.equal((await ask(server, { ...read, token: other, key: 'rival' })).status, 200);
  assert.equal((await ask(server, { ...read, token: await accessToken(server) })).status, 200);
  server.clock.advance(1000);
  assert.equal((await ask(server, read)).status, 200);
  const again = await ask(server, read);
  assert.match(again.field('WWW-Authenticate'), /oauth_problem="nonce_used"/);
});

test('with explain a refusal has the base string that the server made', async () => {
  const server = openTestService({ explain: true });
  const token = await accessToken(server);
  const target = `${records}?b=2&a=%20`;
  const refused = await ask(server, {
    method: 'GET',
    target,
    token,
    protocol: { oauth_nonce: 'n' },
    tampered: { oauth_signature: 'wrong' },
    sending: { fields: [['Accept', 'application/json']] },
  });
  const advice = /oauth_problem_advice="([^"]*)"/.exec(refused.field('WWW-Authenticate'))?.[1] ?? '';
  assert.equal(decodeURIComponent(advice), refused.member('oauth_problem_advice'));
  assert.equal(
    refused.member('oauth_problem_advice'),
    'GET&https%3A%2F%2Flocalhost%2Fusers%2Fann%2Ffinancialrecords&a%3D%2520%26b%3D2%26oauth_consumer_key%3Dprinter' +
      `%26oauth_nonce%3Dn%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D${server.clock.now() / 1000}` +
      `%26oauth_token%3D${token.token}%26oauth_version%3D1.0`,
  );
});

test('with explain, refusals are identical for every known and unknown consumer', async () => {
  const rsaPublicKey = rsa.publicPem;
  const server = openTestService({
    explain: true,
    maxAuthFailures: 0,
    consumers: { ...consumers, ...plain, signer: { rsaPublicKey, callbacks: ['oob'] } },
  });
  const token = await accessToken(server);
  for (const method of ['HMAC-SHA1', 'HMAC-SHA256', 'PLAINTEXT', 'RSA-SHA1', 'RSA-SHA256']) {
    for (const using of [token, { token: 'unknown', secret: 'unknown' }]) {
      const shown = new Set<string>();
      for (const key of ['printer', 'rival', 'reader', 'plain', 'signer', 'nobody', 'x']) {
        const refused = await ask(server, {
          method: 'GET',
          target: records,
          key,
          token: using,
          protocol: { oauth_nonce: 'n', oauth_signature_method: method },
          tampered: { oauth_signature: Buffer.alloc(256, 7).toString('base64') },
        });
        const { status, text } = refused;
        const said = [status, text, refused.field('WWW-Authenticate'), refused.field('Cache-Control')];
        shown.add(
          said
            .join('\n')
            .replaceAll(`oauth_consumer_key%3D${key}%26`, '')
            .replaceAll(`oauth_consumer_key%253D${key}%2526`, ''),
        );
      }
      assert.equal(shown.size, 1, [...shown].join('\n\n'));
      assert.match([...shown][0] ?? '', /signature_invalid/);
    }
  }
});

test('without consumers, the endpoints of OAuth 1.0a respond with 404 and no challenge offers it', async () => {
  const server = openTestService({ consumers: {} });
  for (const path of ['request_token', 'authorize', 'access_token'])
    assert.equal((await server.ask('POST', `/oauth1/${path}`)).status, 404);
  const refused = await ask(server, { method: 'GET', target: records });
  assert.equal(refused.status, 401);
  assert.doesNotMatch(refused.field('WWW-Authenticate'), /OAuth/);
  assert.equal((await server.ask('GET', '/articles?oauth_token=x')).status, 200);
});
