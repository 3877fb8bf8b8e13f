import assert from 'node:assert/strict';
import test from 'node:test';
import { type DoubleOptions, startDouble } from '../../../src/double/index.ts';

const secret = 's3cret-of-ann';
const users = {
  ann: { secret, password: 'pw of ann' },
  bob: { secret: 's3cret of bob', password: 'pw of bob' },
};

const securitySchemes = {
  key: { type: 'apiKey', in: 'header', name: 'X-Key' },
  inQuery: { type: 'apiKey', in: 'query', name: 'key' },
  inCookie: { type: 'apiKey', in: 'cookie', name: 'session' },
  token: { type: 'http', scheme: 'bearer' },
  password: { type: 'http', scheme: 'basic' },
  signature: { type: 'apiKey', in: 'header', name: 'X-Signature' },
};

/** Starts a double whose operation GET /x has these requirements. */
function start(
  security: readonly Record<string, readonly string[]>[] | undefined,
  options: DoubleOptions = {},
  schemes: object = securitySchemes,
) {
  const operation = { ...(security && { security }), responses: { 204: { description: 'Done' } } };
  const partner = {
    openapi: '3.1.0',
    paths: { '/x': { get: operation } },
    components: { securitySchemes: schemes },
  };
  return startDouble({ users, partner, onError: () => {}, ...options });
}

const right = {
  key: { headers: { 'X-Key': secret } },
  inQuery: { query: `?key=${encodeURIComponent(secret)}` },
  inCookie: { headers: { Cookie: `session=${secret}` } },
  token: { headers: { Authorization: `Bearer ${secret}` } },
  password: { headers: { Authorization: `Basic ${btoa('ann:pw of ann')}` } },
} as const;

const wrongFor = {
  key: { headers: { 'X-Key': 'wrong' } },
  inQuery: { query: '?key=wrong' },
  inCookie: { headers: { Cookie: 'session=wrong' } },
  token: { headers: { Authorization: 'Bearer wrong' } },
  password: { headers: { Authorization: `Basic ${btoa('ann:wrong')}` } },
} as const;

interface Parts {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: string;
}

async function statusOf(
  double: Awaited<ReturnType<typeof start>>,
  all: readonly Parts[],
  secure = true,
): Promise<number> {
  const headers = Object.assign({}, ...all.map((each) => each.headers));
  const query = all.map((each) => each.query ?? '').join('');
  const { status } = await double.fetch(`${secure ? double.secureUrl : double.url}/x${query}`, { headers });
  return status;
}

const wrongOthers: readonly Parts[] = [
  { headers: { Authorization: 'Bearer other' } },
  { headers: { Authorization: `Basic ${btoa('ann:wrong')}` } },
  { headers: { Authorization: 'GNAP other' } },
  { headers: { Authorization: 'no scheme: at all' } },
  { headers: { 'X-Key': 'wrong' } },
  { query: '?key=wrong' },
  {
    headers: { Authentication: 'hmac ann:wrong', Authorization: 'Bearer other', 'X-Key': 'wrong' },
    query: '?key=wrong',
  },
];

test('an operation without security does not look at credentials', async () => {
  for (const security of [undefined, []]) {
    await using double = await start(security, { maxAuthFailures: 1, strictQuery: false });
    for (const secure of [true, false])
      for (const others of wrongOthers) assert.equal(await statusOf(double, [others], secure), 204);
  }
});

test('credentials beside those of the operation are left alone', async () => {
  await using double = await start([{ inQuery: [] }], { maxAuthFailures: 1 });
  for (const { headers = {} } of wrongOthers)
    assert.equal(await statusOf(double, [right.inQuery, { headers }]), 204, JSON.stringify(headers));
  assert.equal(await statusOf(double, [{ query: '?key=wrong' }, right.key]), 401);
});

test('a request that has only other credentials is refused with 401, which names the expected ones', async () => {
  await using double = await start([{ key: [] }]);
  const response = await double.fetch(`${double.secureUrl}/x`, right.token);
  assert.equal(response.status, 401);
  assert.match(response.headers.get('www-authenticate') ?? '', /^key /);
  const { headers } = right.password;
  assert.equal((await double.fetch('/x', { headers })).status, 401, 'not 403: TLS would not help');
});

const pairs: readonly (readonly (keyof typeof right)[])[] = [
  ['key', 'token'],
  ['key', 'password'],
  ['inQuery', 'token'],
  ['inQuery', 'password'],
  ['token', 'key'],
  ['inCookie', 'token'],
  ['inCookie', 'inQuery'],
];

for (const names of pairs)
  test(`${names.join(' and ')} in one requirement are required together`, async () => {
    await using double = await start([Object.fromEntries(names.map((name) => [name, []]))]);
    const all = names.map((name) => right[name]);
    assert.equal(await statusOf(double, all), 204);
    assert.equal(double.journal.last()?.principal?.name, 'ann');
    for (const missing of all) {
      assert.equal(
        await statusOf(
          double,
          all.filter((each) => each !== missing),
        ),
        401,
      );
      assert.match(double.journal.last()?.problem?.detail ?? '', / are required beside those of /);
    }
    assert.equal(await statusOf(double, []), 401);
    for (const name of names) {
      const wrong = names.map((each) => (each === name ? wrongFor[each] : right[each]));
      assert.equal(await statusOf(double, wrong), 401, `a wrong ${name}`);
    }
  });

test('credentials that are required together are those of one user', async () => {
  await using double = await start([{ key: [], token: [] }]);
  const ofBob = { headers: { Authorization: `Bearer ${users.bob.secret}` } };
  assert.equal(await statusOf(double, [right.key, ofBob]), 401);
  assert.equal(await statusOf(double, [right.key, right.token]), 204);
});

test('a signature of the option schemes is required together with a documented key', async () => {
  const signature = {
    user: 'ann',
    message: '{timestamp} {method} {path}',
    signature: { field: 'X-Signature' },
    timestamp: { field: 'X-Timestamp' },
  };
  await using double = await start([{ key: [], signature: [] }], { schemes: { signature } });
  const client = double.as('ann', { scheme: 'signature' });
  const url = `${double.secureUrl}/x`;
  assert.equal((await client.fetch(url, right.key)).status, 204);
  assert.equal((await client.fetch(url)).status, 401);
  assert.equal((await client.fetch(url, { headers: { 'X-Key': users.bob.secret } })).status, 401);
  assert.equal((await double.fetch(url, right.key)).status, 401);
});

test('the first alternative of which all credentials are there is verified', async () => {
  await using double = await start([{ key: [], token: [] }, { inQuery: [] }, { password: [] }]);
  assert.equal(await statusOf(double, [right.inQuery]), 204);
  assert.equal(double.journal.last()?.principal?.scheme, 'inQuery');
  assert.equal(await statusOf(double, [right.password]), 204);
  assert.equal(await statusOf(double, [{ headers: { 'X-Key': 'wrong' } }, right.password]), 204);
  assert.equal(double.journal.last()?.principal?.scheme, 'basic');
  assert.equal(await statusOf(double, [right.key, right.token, { query: '?key=wrong' }]), 204);
  assert.equal(await statusOf(double, [{ headers: { 'X-Key': 'wrong' } }, right.token, right.inQuery]), 401);
});

test('an empty alternative accepts anyone, in whatever place, but not wrong credentials', async () => {
  for (const security of [
    [{}, { key: [] }],
    [{ key: [] }, {}],
  ]) {
    await using double = await start(security);
    assert.equal(await statusOf(double, []), 204);
    assert.equal(await statusOf(double, [right.token]), 204);
    assert.equal(double.journal.last()?.principal, undefined);
    assert.equal(await statusOf(double, [right.key]), 204);
    assert.equal(double.journal.last()?.principal?.name, 'ann');
    assert.equal(await statusOf(double, [{ headers: { 'X-Key': 'wrong' } }]), 401);
  }
});

test('two schemes in Authorization cannot be required together', async () => {
  await using double = await start([{ token: [], password: [] }]);
  assert.match(
    double.partner.faults.join(),
    /requires token and password together, and a request has one field Authorization/,
  );
});

test('signs by each name that the document gives a scheme, also where two declare the same key', async () => {
  const key = { type: 'apiKey', in: 'header', name: 'X-Api-Token' };
  const operation = (name: string) => ({
    get: { security: [{ [name]: [] }], responses: { 204: { description: 'done' } } },
  });
  const partner = {
    openapi: '3.1.0',
    paths: { '/personal': operation('Personal'), '/plan': operation('Plan'), '/login': operation('Login') },
    components: { securitySchemes: { Personal: key, Plan: key, Login: { type: 'http', scheme: 'basic' } } },
  };
  await using double = await startDouble({ users: { ann: { secret, password: 'pw of ann' } }, partner });
  for (const [path, scheme] of [
    ['/personal', 'Personal'],
    ['/plan', 'Plan'],
    ['/personal', 'Plan'],
    ['/login', 'Login'],
  ] as const)
    assert.equal((await double.as('ann', { scheme }).fetch(path)).status, 204, `${path} with ${scheme}`);
  assert.throws(() => double.as('ann', { scheme: 'Plam' }), /did you mean "Plan"/);
});

test('a key in Authorization is read alone and after any word, as the document does not name one', async () => {
  const bot = { type: 'apiKey', in: 'header', name: 'Authorization' };
  const key = 'a-key/with+characters==';
  await using double = await start([{ bot: [] }], { users: { ann: { secret: key } } }, { bot });
  const statusFor = async (value: string): Promise<number> =>
    (await double.fetch('/x', { headers: { Authorization: value } })).status;
  for (const value of [key, `Bot ${key}`, `Bearer ${key}`, `Token ${key}`])
    assert.equal(await statusFor(value), 204, value);
  for (const value of ['wrong', 'Bot wrong', `Bot Bot ${key}`, `${key}x`, 'Bot'])
    assert.equal(await statusFor(value), 401, value);
  assert.equal((await double.fetch('/x')).status, 401);
  assert.equal((await double.as('ann', { scheme: 'bot' }).fetch('/x')).status, 204);
});

test('a key whose name no field can have costs its operations, and is named', async () => {
  const key = { type: 'apiKey', in: 'header', name: 'API Key' };
  await using double = await start([{ key: [] }], {}, { key });
  assert.match(double.partner.faults.join(), /has a key in "header" with the name "API Key", which/);
});
