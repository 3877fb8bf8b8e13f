import assert from 'node:assert/strict';
import { createHash, createHmac, generateKeyPairSync, sign, verify } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { signRequest, signUrl } from '../../../src/client/index.ts';
import { type Double, type DoubleOptions, startDouble } from '../../../src/double/index.ts';
import { action, defineScheme, Problem, type Scheme } from '../../../src/index.ts';
import { secrets } from '../../support/scheme-contract.ts';
import { tally } from '../../support/schemes/tally.ts';

const users = { ann: { secret: secrets.ann }, jane: { secret: secrets.bob } };

async function start(context: TestContext, options: DoubleOptions): Promise<Double> {
  const double = await startDouble({ https: false, ...options });
  context.after(() => double.close());
  return double;
}

/** The scheme of the REST API of Kraken, as its documentation describes it ("Spot REST Authentication"). */
const kraken = defineScheme({
  headers: ['API-Key', 'API-Sign'],
  needsBody: true,
  key: 'base64',
  parse: ({ headers, body }) => ({
    user: headers.get('API-Key'),
    signature: headers.get('API-Sign'),
    nonce: new URLSearchParams(String(body)).get('nonce'),
  }),
  message: ({ path, body }, { nonce }) => [
    ['path', path],
    ['digest', createHash('sha256').update(`${nonce}${body}`).digest()],
  ],
  sign: (message, key) => createHmac('sha512', key).update(message).digest('base64'),
  format: ({ user, signature }) => ({ headers: { 'API-Key': user, 'API-Sign': signature } }),
});

// The example of the documentation.
const krakenSecret =
  'kQH5HW/8p1uGOVjbgWA7FunAmGO8lsSUXNsu3eow76sz84Q18fWxnyRzBHCd3pd5nE9qa99HAZtuZuj6F1huXg==';
const krakenBody = 'nonce=1616492376594&ordertype=limit&pair=XBTUSD&price=37500&type=buy&volume=1.25';
const krakenSignature =
  '4/dpxb3iT4tp/ZCVEwSnEsLxx0bqyhLpdfOpc6fn7OR8+UClSV5n9E6aSS8MPtnRfp32bAb0nmbRn6H8ndwLUQ==';

const resources = { '/0/private/{call}': { POST: action('authenticated', () => ({ status: 204 })) } };

test('the scheme of Kraken signs the example of its documentation as published', () => {
  const headers = signRequest({
    method: 'POST',
    url: 'https://api.kraken.com/0/private/AddOrder',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: krakenBody,
    scheme: kraken,
    user: 'ann',
    secret: krakenSecret,
  });
  assert.deepEqual(headers, { 'API-Key': 'ann', 'API-Sign': krakenSignature });
});

test('a request of Kraken is accepted once, and hints name its mistakes', async (context) => {
  const double = await start(context, {
    users: { ann: { secret: krakenSecret } },
    schemes: { kraken },
    resources,
  });
  const post = async (signature: string, body = krakenBody, path = '/0/private/AddOrder') => {
    const type = 'application/x-www-form-urlencoded';
    const headers = { 'API-Key': 'ann', 'API-Sign': signature, 'Content-Type': type };
    await double.fetch(path, { method: 'POST', headers, body });
    return double.journal.last();
  };
  const mac = (key: string | Buffer, path: string, digest: string | Buffer): string =>
    createHmac('sha512', key).update(path).update(digest).digest('base64');
  const key = Buffer.from(krakenSecret, 'base64');
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  const digest = hash(`1616492376594${krakenBody}`);
  for (const [signature, hint] of [
    [mac(krakenSecret, '/0/private/AddOrder', digest), /the key was not decoded from base64/],
    [mac(key, '/0/private/AddOrder/', digest), /there was a trailing slash/],
    [
      mac(key, '/0/private/AddOrder', digest.toString('hex')),
      /the digest was signed in hexadecimal, not as bytes/,
    ],
    [mac(key, '/0/private/AddOrder', hash(krakenBody)), /^the nonce was left out of the digest/],
    [mac(key, '/0/private/AddOrder', hash('1616492376594')), /^the content was left out of the digest/],
    [
      mac(
        key,
        '/0/private/AddOrder',
        hash(`1616492376594${krakenBody.split('&').sort().reverse().join('&')}`),
      ),
      /^the parameters of the form were sorted in reverse/,
    ],
    [
      mac(key, '/0/private/AddOrder', hash(`1616492376594${krakenBody.replace('limit', 'market')}`)),
      /^the secret is different, or the message differs/,
    ],
    [
      mac(key, '/0/private/AddOrder', hash(`1616492376594${krakenBody}\n`)),
      /^the content was signed with a line feed at the end that is not sent/,
    ],
    [Buffer.from(krakenSignature, 'base64').toString('hex'), /it is hexadecimal/],
  ] as const) {
    const entry = await post(signature);
    assert.match(`${entry?.auth?.hint ?? ''}${entry?.auth?.detail ?? ''}`, hint, `${entry}`);
  }
  const missing = await post(krakenSignature, 'ordertype=limit');
  assert.match(`${missing}`, /The nonce is missing.*the fields API-Key, API-Sign or the content/);
  const accepted = await post(krakenSignature);
  assert.deepEqual(accepted?.principal, { name: 'ann', scheme: 'kraken' });
  assert.equal((await post(krakenSignature))?.problem?.type, 'nonce-replayed');
  // Without a date, the nonce is remembered for a day.
  double.clock.advance('23h');
  assert.equal((await post(krakenSignature))?.problem?.type, 'nonce-replayed');
});

test('an exception of a definition refuses the request, and is reported unless it is a Problem', async (context) => {
  const errors: unknown[] = [];
  const failing = (where: 'parse' | 'message' | 'join' | 'sign' | 'problem'): Scheme =>
    defineScheme({
      headers: [`X-${where}`],
      // What is thrown before the content is used refuses the request at once.
      needsBody: where === 'parse',
      parse: ({ headers }) => {
        if (where === 'parse') throw new TypeError('no such member');
        if (where === 'problem') throw new Problem('malformed-credentials', 'Send the new form.');
        return { user: 'ann', signature: headers.get(`X-${where}`) };
      },
      message: ({ method }) => {
        if (where === 'message') throw new TypeError('no such part');
        return [['method', method]];
      },
      join: (parts) => {
        if (where === 'join') throw new TypeError('cannot be joined');
        return String(parts[0]?.[1]);
      },
      sign: (message, key) => {
        if (where === 'sign' && message.toString() === 'GET') throw new TypeError('no such key');
        return createHmac('sha256', key).update(message).digest('hex');
      },
      format: ({ signature }) => ({ headers: { [`X-${where}`]: signature } }),
    });
  const schemes = {
    parse: failing('parse'),
    message: failing('message'),
    join: failing('join'),
    sign: failing('sign'),
    problem: failing('problem'),
  };
  const double = await start(context, {
    users,
    schemes,
    onError: (error) => errors.push(error),
    explain: true,
  });
  const signature = 'a'.repeat(64);
  for (const [name, status, text] of [
    ['parse', 400, /The credentials cannot be read.*no such member/],
    ['message', 400, /The credentials cannot be read.*no such part/],
    ['join', 400, /The credentials cannot be read.*cannot be joined/],
    ['sign', 401, /The user, the secret or the signed message is wrong/],
    ['problem', 400, /Send the new form/],
  ] as const) {
    errors.length = 0;
    const headers = { [`X-${name}`]: signature, Accept: 'application/json' };
    const response = await double.fetch('/articles', { headers });
    assert.equal(response.status, status, name);
    assert.match(await response.text(), text, name);
    assert.equal(errors.length, name === 'problem' ? 0 : 1, name);
    if (name !== 'problem') assert.match(String(errors[0]), new RegExp(`the scheme ${name}: `));
  }
});

test('a scheme with public keys signs and verifies with the keys of the users', async (context) => {
  const pair = generateKeyPairSync('ed25519');
  const ed = defineScheme({
    headers: ['X-Key', 'X-Time', 'X-Sig'],
    algorithms: ['ed25519'],
    replay: 'refuse',
    parse: ({ headers }) => ({
      user: headers.get('X-Key'),
      date: Number(headers.get('X-Time')),
      signature: headers.get('X-Sig'),
    }),
    message: ({ method, target }, { date }) => [
      ['time', `${date}`],
      ['', '.'],
      ['method', method],
      ['', '.'],
      ['target', target],
    ],
    sign: (message, privateKey) => sign(null, message, privateKey).toString('hex'),
    verify: (message, key, signature) => verify(null, message, key, Buffer.from(signature, 'hex')),
    format: ({ user, date, signature }) => ({
      headers: { 'X-Key': user, 'X-Time': `${date}`, 'X-Sig': signature },
    }),
  });
  const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const ann = { secret: 's3cret', keys: { 'key-1': { algorithm: 'ed25519', publicKey } } } as const;
  const double = await start(context, { users: { ann }, schemes: { ed } });
  const signer = double.as('ann', { scheme: 'ed', keyId: 'key-1', privateKey: pair.privateKey });
  await signer.fetch('/articles?limit=2');
  assert.deepEqual(double.journal.last()?.principal, { name: 'ann', scheme: 'ed' });
  double.clock.advance('1s');
  const { headers } = await signer.signUrl({ url: '/articles' });
  await double.fetch('/articles?limit=2', { headers });
  assert.match(double.journal.last()?.auth?.hint ?? '', /the query was left out/);
  assert.throws(
    () => double.as('ann', { scheme: 'ed', secret: 's3cret' }),
    /the scheme ed requires a private key/,
  );
  const generated = double.auth.generateKey('ann', 'key-2', 'ed25519');
  assert.ok(generated.privateKey.includes('PRIVATE KEY'));
  double.clock.advance('1s');
  await double.as('ann', { scheme: 'ed' }).fetch('/articles');
  assert.equal(double.journal.last()?.principal?.name, 'ann');
});

/** Signs the query, in which the credentials stand too, as exchanges do. */
const exchange = defineScheme({
  headers: ['X-Api-Key'],
  query: ['timestamp', 'signature'],
  parse: ({ headers, query }) => {
    const parameters = new URLSearchParams(query);
    return {
      user: headers.get('X-Api-Key'),
      date: Number(parameters.get('timestamp')),
      signature: parameters.get('signature'),
    };
  },
  message: ({ query }) => [['query', query]],
  sign: (message, key) => createHmac('sha256', key).update(message).digest('hex'),
  format: ({ user, date, signature }) => ({
    headers: { 'X-Api-Key': user },
    query: { timestamp: `${date}`, signature },
  }),
});

test('credentials in the query are signed, but for the signature itself', async (context) => {
  const double = await start(context, { users, schemes: { exchange } });
  const signed = signUrl({
    method: 'GET',
    url: `${double.url}/articles?limit=2`,
    scheme: exchange,
    user: 'ann',
    secret: secrets.ann,
    clock: double.clock,
  });
  const query = new URL(signed.url).search.slice(1);
  const [message = ''] = query.split('&signature=');
  assert.match(message, /^limit=2&timestamp=\d{13}$/);
  assert.ok(query.endsWith(createHmac('sha256', secrets.ann).update(message).digest('hex')));
  await double.fetch(signed.url, { headers: signed.headers });
  assert.equal(double.journal.last()?.principal?.name, 'ann');
  await double.fetch(signed.url.replace('limit=2', 'limit=3'), { headers: signed.headers });
  assert.equal(double.journal.last()?.problem?.type, 'credentials-refused');
  assert.doesNotMatch(`${double.journal.last()}${JSON.stringify(double.journal.last())}`, /[0-9a-f]{64}/);
  await double.fetch(`${signed.url}&timestamp=1`, { headers: signed.headers });
  assert.match(`${double.journal.last()}`, /The query parameter timestamp was sent twice/);
  await double.as('ann', { scheme: 'exchange' }).fetch('/articles');
  assert.equal(double.journal.last()?.principal?.name, 'ann');
});

test('a nonce that contains the separator is rejected', async (context) => {
  const dotted = defineScheme({
    headers: ['X-User', 'X-Nonce', 'X-Sig'],
    parse: ({ headers }) => ({
      user: headers.get('X-User'),
      nonce: headers.get('X-Nonce'),
      signature: headers.get('X-Sig'),
    }),
    message: ({ target }, { nonce }) => [
      ['nonce', nonce],
      ['target', target],
    ],
    join: '.',
    sign: (message, key) => createHmac('sha256', key).update(message).digest('hex'),
    format: ({ user, nonce, signature }) => ({
      headers: { 'X-User': user, 'X-Nonce': nonce, 'X-Sig': signature },
    }),
  });
  const double = await start(context, { users, schemes: { dotted } });
  const { headers } = await double
    .as('ann', { scheme: 'dotted', nonce: 'a.b' })
    .signUrl({ url: '/articles' });
  await double.fetch('/articles', { headers });
  assert.match(`${double.journal.last()}`, /The nonce contains ".", which separates the parts/);
});

test('a scheme without HMAC explains mistakes in its message and its key', async (context) => {
  const keyed = defineScheme({
    headers: ['X-User', 'X-Sig'],
    parse: ({ headers }) => ({ user: headers.get('X-User'), signature: headers.get('X-Sig') }),
    message: ({ method, target }) => [
      ['method', method],
      ['', ' '],
      ['target', target],
    ],
    sign: (message, key) => createHash('sha3-256').update(key).update(message).digest('base64'),
    format: ({ user, signature }) => ({ headers: { 'X-User': user, 'X-Sig': signature } }),
  });
  const double = await start(context, { users, schemes: { keyed } });
  const send = async (key: string | Buffer, message: string): Promise<string> => {
    const signature = createHash('sha3-256').update(key).update(message).digest('base64');
    await double.fetch('/articles?limit=2', { headers: { 'X-User': 'ann', 'X-Sig': signature } });
    return double.journal.last()?.auth?.hint ?? '';
  };
  assert.equal(await send(secrets.ann, 'GET /articles?limit=2'), '');
  assert.match(await send(secrets.ann, 'GET /articles'), /the query was left out/);
  assert.match(
    await send(Buffer.from(secrets.ann, 'hex'), 'GET /articles?limit=2'),
    /decoded from hexadecimal/,
  );
  assert.match(await send(secrets.bob, 'GET /articles?limit=2'), /the secret of another user, jane/);
});

test('pages of other origins can send the headers of a scheme, and the OpenAPI document lists them', async (context) => {
  const double = await start(context, {
    users,
    schemes: { tally },
    openapi: true,
    cors: ['https://app.example'],
  });
  const preflight = await double.fetch('/articles', {
    method: 'OPTIONS',
    headers: {
      Origin: 'https://app.example',
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'x-tally,x-tally-nonce,x-tally-time,x-tally-user',
    },
  });
  assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /x-tally-nonce/i);
  const document: unknown = await (await double.fetch('/openapi.json')).json();
  assert.match(
    JSON.stringify(document),
    /"tally":\{"type":"apiKey","description":"The signature","in":"header","name":"X-Tally"|"name":"X-Tally"/,
  );
});

test('defineScheme rejects an invalid definition', () => {
  const good = {
    headers: ['X-User', 'X-Sig'],
    parse: () => ({ user: 'ann', signature: 'x' }),
    message: () => [['method', 'GET']] as const,
    sign: () => 'x',
    format: () => ({ headers: { 'X-Sig': 'x' } }),
  };
  for (const [change, message] of [
    [{ header: [] }, /header is not a member of definition; did you mean "headers"\?$/],
    [{ headers: [] }, /headers, query, json or form must name where the credentials are/],
    [{ headers: ['Host'] }, /Host cannot contain credentials/],
    [
      { headers: ['Authorization'] },
      /definition\.authorization must be the name of the scheme in Authorization$/,
    ],
    [{ headers: ['Authorization'], authorization: 'Digest' }, /the scheme Digest is built in/],
    [{ headers: ['X-User'] }, /format sends the field X-Sig, which headers does not name/],
    [{ parse: 'x' }, /definition\.parse must be a function, is a string$/],
    [{ window: 0 }, /definition\.window must be a number of seconds up to 86400 or text such as 5m, is 0$/],
    [{ window: '2d' }, /definition\.window/],
    [{ nonce: 'maybe' }, /definition\.nonce/],
    [{ key: 'rot13' }, /definition\.key/],
    [
      {
        format: () => {
          throw new Error('no user');
        },
      },
      /format throws for .*no user/,
    ],
  ] as const)
    assert.throws(() => Reflect.apply(defineScheme, undefined, [{ ...good, ...change }]), message);
});

test('a scheme in code can be a value of schemes, but not under the name of a built-in one', async (context) => {
  await assert.rejects(
    startDouble({ schemes: Object.fromEntries([['aws4', tally]]) }),
    /this name is that of a built-in scheme/,
  );
  await assert.rejects(
    startDouble({ schemes: Object.fromEntries([['draft-cavage', tally]]) }),
    /this name is that of a built-in scheme/,
  );
  const double = await start(context, { users, schemes: { mine: tally } });
  await double.as('ann', { scheme: 'mine' }).fetch('/articles');
  assert.equal(double.journal.last()?.principal?.scheme, 'mine');
});
