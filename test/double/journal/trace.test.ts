import assert from 'node:assert/strict';
import test from 'node:test';
import { type Double, type DoubleOptions, type JournalAuth, startDouble } from '../../../src/double/index.ts';
import { digestOnce } from '../../../src/schemes/hmac/credentials.ts';

const users = { johndoe: { secret: 'a-secret', password: 'a-password' } };

async function open(options: DoubleOptions = {}): Promise<Double> {
  return startDouble({ users, now: '2026-03-01T12:00:00Z', ...options });
}

/** The story of a request with these fields. */
async function readTrace(
  double: Double,
  target: string,
  headers: Record<string, string>,
  secure = false,
): Promise<JournalAuth> {
  await double.fetch(target, { headers, secure });
  const auth = double.journal.last()?.auth;
  assert.ok(auth !== undefined, 'there is no story');
  return auth;
}

/** Credentials in the full form over a message that the test makes: `DATE` and `NONCE` in it are what is sent. */
function credentialsOver(
  message: string,
  { date = '01 mar 2026 12:00:00', nonce = 'n-1', sent = '' } = {},
): Record<'date' | 'authentication', string> {
  const digest = digestOnce('a-secret', message);
  return { date, authentication: `hmac johndoe:${sent || nonce}:${digest}` };
}

test('good credentials have passed every check of their form', async () => {
  await using double = await open();
  const full = await readTrace(double, '/articles', credentialsOver('GET+/articles+01mar202612:00:00+n-1'));
  assert.deepEqual(
    [full.scheme, full.passed, full.failedAt, full.hint],
    ['hmac', ['parse', 'user', 'digest', 'date', 'nonce'], undefined, undefined],
  );
  const simple = await readTrace(double, '/articles', {
    authentication: `hmac johndoe:${digestOnce('a-secret', 'GET+/articles')}`,
  });
  assert.deepEqual(simple.passed, ['parse', 'user', 'digest']);
  const basic = await readTrace(
    double,
    '/articles',
    { authorization: formatBasic('johndoe', 'a-password') },
    true,
  );
  assert.deepEqual([basic.scheme, basic.passed], ['basic', ['parse', 'user', 'password']]);
});

function formatBasic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

test('an entry has no auth member without credentials, or if the response preceded their verification', async () => {
  await using double = await open();
  await double.fetch('/articles');
  assert.equal(double.journal.last()?.auth, undefined);
  await double.as('johndoe').fetch('/nowhere');
  assert.equal(double.journal.last()?.auth, undefined);
});

test('an unsigned query is found, with both messages and their first difference', async () => {
  await using double = await open();
  const story = await readTrace(
    double,
    '/articles?limit=2',
    credentialsOver('GET+/articles+01mar202612:00:00+n-1'),
  );
  assert.deepEqual(story, {
    scheme: 'hmac',
    passed: ['parse', 'user'],
    failedAt: 'digest',
    detail: 'The user, the secret or the signed message is wrong.',
    hint: 'the query was left out',
    expected: 'GET+/articles?limit=2+01mar202612:00:00+n-1',
    received: 'GET+/articles+01mar202612:00:00+n-1',
    firstDifference: {
      at: 13,
      expected: '?limit=2+01mar202612:00:00+n-1',
      received: '+01mar202612:00:00+n-1',
    },
    parts: [
      { name: 'method', expected: 'GET' },
      { name: 'target', expected: '/articles?limit=2', signed: '/articles' },
      { name: 'date', expected: '01mar202612:00:00' },
      { name: 'nonce', expected: 'n-1' },
    ],
    differs: 'target',
    error: undefined,
  });
});

test('each check that fails is named, with the checks that passed before it', async () => {
  await using double = await open({ tls: 'required' });
  const message = 'GET+/articles+01mar202612:00:00+n-1';
  const good = credentialsOver(message);
  const stale = credentialsOver('GET+/articles+01mar202611:00:00+n-2', {
    date: '01 mar 2026 11:00:00',
    nonce: 'n-2',
  });
  const failures: readonly (readonly [
    headers: Record<string, string>,
    failedAt: string,
    passed: string[],
    hint?: string,
  ])[] = [
    [
      { ...good, authentication: good.authentication.replace('johndoe', 'nobody') },
      'user',
      ['parse'],
      'there is no user nobody; the request is signed with the secret of another user, johndoe',
    ],
    [
      { ...good, authentication: credentialsOver('x').authentication },
      'digest',
      ['parse', 'user'],
      'the secret is different, or the message differs in a way that is not a common mistake',
    ],
    [
      stale,
      'date',
      ['parse', 'user', 'digest'],
      'off by exactly 1 hour: probably a time zone; the date must be in UTC',
    ],
    [{ ...good, date: '2026-03-01T12:00:00Z' }, 'parse', [], 'it is a date and time of RFC 3339'],
    [{ authorization: formatBasic('johndoe', 'a-password') }, 'transport', []],
    [{ ...good, authorization: 'hmac b' }, 'parse', []],
  ];
  for (const [headers, failedAt, passed, hint] of failures) {
    const story = await readTrace(double, '/articles', headers);
    const said = story.hint?.replace(
      / \([\d,]+ forms of the message were tried; not tried: other base paths and parameters that did not arrive\)$/,
      '',
    );
    assert.deepEqual([story.failedAt, story.passed, said], [failedAt, passed, hint]);
  }
  assert.equal((await readTrace(double, '/articles', good)).failedAt, undefined);
  const replayed = await readTrace(double, '/articles', good);
  assert.deepEqual(
    [replayed.failedAt, replayed.passed.at(-1), replayed.expected],
    ['nonce', 'date', message],
  );
  for (const [user, failedAt, passed] of [
    ['johndoe', 'password', ['parse', 'user']],
    ['stranger', 'user', ['parse']],
  ] as const) {
    const basic = await readTrace(double, '/articles', { authorization: formatBasic(user, 'wrong') }, true);
    assert.deepEqual([basic.failedAt, basic.passed], [failedAt, passed]);
  }
});

test('OAuth tokens and signatures are traced check by check, with the base string of the server', async () => {
  const clients = { app: { secret: 'app-secret', redirectUris: ['https://client.example/cb'] } };
  const consumers = { key: { secret: 'key-secret', callbacks: ['oob'] } };
  await using double = await open({ clients, consumers });
  await double.as('johndoe', { scheme: 'bearer' }).fetch('/articles', { secure: true });
  const bearer = double.journal.last()?.auth;
  assert.deepEqual(
    [bearer?.scheme, bearer?.passed, bearer?.failedAt],
    ['bearer', ['parse', 'token'], undefined],
  );
  const unknown = await readTrace(double, '/articles', { authorization: 'Bearer abc' }, true);
  assert.deepEqual([unknown.passed, unknown.failedAt], [['parse'], 'token']);

  const john = double.as('johndoe', { scheme: 'oauth1' });
  await john.fetch('/articles', { secure: true });
  assert.equal(double.journal.last()?.auth?.passed.at(-1), 'nonce');
  const signature = await john.signRequest({ url: `${double.secureUrl}/articles` });
  const story = await readTrace(double, '/articles?limit=2', signature, true);
  assert.deepEqual([story.scheme, story.failedAt, story.passed.at(-1)], ['oauth', 'signature', 'user']);
  const authority = encodeURIComponent(`${double.secureUrl}/articles`);
  assert.ok(story.expected?.startsWith(`GET&${authority}&limit%3D2%26`), story.expected);
  assert.match(story.expected ?? '', /oauth_token%3D\[redacted\]/);
});

test('credentials fail at the throttle after too many failures', async () => {
  await using double = await open({ maxAuthFailures: 2 });
  const wrong = { authentication: `hmac johndoe:${digestOnce('another', 'GET+/articles')}` };
  const stories = [];
  for (let times = 0; times < 3; times += 1)
    stories.push((await readTrace(double, '/articles', wrong)).failedAt);
  assert.deepEqual(stories, ['digest', 'digest', 'throttle']);
});

test('the text of a refusal has both messages, and with explain: false the response has neither', async () => {
  await using double = await open({ explain: false });
  await readTrace(double, '/articles?limit=2', credentialsOver('GET+/articles+01mar202612:00:00+n-1'));
  const entry = double.journal.last();
  assert.equal(
    String(entry),
    `#1 GET /articles?limit=2 by johndoe: 401, credentials-refused, step 7 (credentials): The user, the secret or the signed message is wrong: the query was left out
  hmac: failed at digest
  expected GET+/articles?limit=2+01mar202612:00:00+n-1
  received GET+/articles+01mar202612:00:00+n-1`,
  );
  assert.doesNotMatch(entry.response?.body ?? '', /left out|GET\+/);
});
