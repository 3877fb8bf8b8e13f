import assert from 'node:assert/strict';
import test from 'node:test';
import { inspect } from 'node:util';
import { type Double, startDouble } from '../../../src/double/index.ts';
import { createRedaction } from '../../../src/double/journal/redaction.ts';
import { rawExchange } from '../../support/double/raw-exchange.ts';
import { seeded } from '../../support/seeded.ts';

/** Everything that the journal of a double prints. */
function printed({ journal }: Double): string {
  const texts: string[] = [inspect(journal), inspect(journal.all(), { depth: 9, showHidden: true })];
  for (const entry of journal) {
    texts.push(String(entry), JSON.stringify(entry));
    texts.push(inspect(entry, { depth: 9, customInspect: false, showHidden: true }));
    const { request, response, auth, received, problem, fault } = entry;
    texts.push(inspect({ request, response, auth, received, problem, fault }, { depth: 9 }));
  }
  return texts.join('\n');
}

function assertHidden(double: Double, ...hidden: readonly string[]): void {
  const text = printed(double);
  for (const each of hidden) {
    assert.notEqual(each, '');
    assert.ok(
      !text.includes(each),
      `${each} is shown: ${text.slice(Math.max(0, text.indexOf(each) - 60)).slice(0, 160)}`,
    );
  }
}

test('a path that contains a common word used as a secret is shown, and selects entries', async () => {
  await using double = await startDouble({ users: { test: { secret: 'test' } }, https: false });
  await double.as('test').fetch('/users/test/financialrecords');
  const path = '/users/test/financialrecords';
  assert.equal(double.journal.all({ path }).length, 1);
  const entry = await double.journal.waitFor({ path, user: 'test' });
  assert.deepEqual([entry.request?.path, entry.request?.target], [path, path]);
  assert.match(String(entry), /GET \/users\/test\/financialrecords by test: 200/);
  assert.equal(
    entry.response?.headers.some(([, value]) => value.includes('[redacted]')),
    false,
  );
});

test('entries are selected by the path and the content as sent, although a secret in them is hidden', async () => {
  const secret = 'the-secret-of-johndoe';
  await using double = await startDouble({ users: { johndoe: { secret } }, https: false });
  const body = `{"title":"with ${secret} in it"}`;
  await double.as('johndoe').fetch(`/articles/${secret}`, { method: 'PUT', body });
  assert.equal(double.journal.all({ path: `/articles/${secret}`, text: `with ${secret}` }).length, 1);
  const { request } = double.journal.last() ?? {};
  assert.deepEqual(
    [request?.path, request?.body],
    ['/articles/[redacted]', '{"title":"with [redacted] in it"}'],
  );
  const missing = double.journal.waitFor({ path: '/nowhere' }, { timeout: 1 });
  await assert.rejects(missing, (error) => error instanceof Error && !error.message.includes(secret));
});

test('members named code or token are shown in data and hidden in OAuth', async () => {
  await using double = await startDouble({
    users: { johndoe: { secret: 's3cret', password: 'pw' } },
    clients: { app: { redirectUris: ['https://client.example/cb'], secret: 'the-secret-of-the-app' } },
  });
  await double.as('johndoe').fetch('/articles', { method: 'POST', body: '{"code":"4711","token":"blue"}' });
  assert.equal(double.journal.last()?.request?.body, '{"code":"4711","token":"blue"}');
  await double
    .as('johndoe')
    .fetch('/articles', { method: 'POST', body: '<article><code>4711</code></article>' });
  assert.equal(double.journal.last()?.request?.body, '<article><code>4711</code></article>');
  const body = new URLSearchParams({ grant_type: 'authorization_code', code: 'abc-def', client_id: 'app' });
  await double.fetch('/oauth2/token', { method: 'POST', secure: true, body });
  assert.equal(
    double.journal.last()?.request?.body,
    'grant_type=authorization_code&code=[redacted]&client_id=app',
  );
});

test('an entity tag is shown as sent, even if a part of it is a secret', async () => {
  await using probe = await startDouble({ randomSeed: 1, https: false });
  const form = (await probe.fetch('/articles')).headers.get('etag')?.split(/[".]/) ?? [];
  assert.ok(form.length > 3);
  const users = Object.fromEntries(
    form.filter((part) => part !== '').map((secret, at) => [`user${at}`, { secret }]),
  );
  await using double = await startDouble({ randomSeed: 1, users, https: false });
  const tag = (await double.fetch('/articles')).headers.get('etag') ?? '';
  await double.fetch('/articles', { headers: { 'if-none-match': tag } });
  const { request, response: reply } = double.journal.last() ?? {};
  assert.equal(reply?.headers.find(([name]) => name === 'ETag')?.[1], tag);
  assert.equal(request?.headers.find(([name]) => name === 'if-none-match')?.[1], tag);
});

test('former secrets stay hidden after rotateSecret, removeUser, setUser, restore and reset', async () => {
  const former = [
    'the-first-secret-of-ann',
    'the-second-secret-of-ann',
    'the-password-of-bob',
    'the-late-secret',
  ];
  const [first = '', second = '', password = '', late = ''] = former;
  const users = { ann: { secret: first }, bob: { secret: 'the-secret-of-bob', password } };
  await using double = await startDouble({ users, https: false });
  const send = async (): Promise<void> => {
    for (const each of former)
      await double.fetch(`/articles/${each}?q=${each}`, {
        method: 'PUT',
        headers: { 'x-note': each },
        body: each,
      });
  };
  const snapshot = double.snapshot();
  double.auth.rotateSecret('ann', { secret: second });
  double.auth.setUser('carl', { secret: late });
  await send();
  assertHidden(double, ...former);
  double.auth.rotateSecret('ann');
  double.auth.removeUser('bob');
  double.auth.removeUser('carl');
  assertHidden(double, ...former);
  double.restore(snapshot);
  await send();
  assertHidden(double, ...former);
  double.reset();
  await send();
  assertHidden(double, ...former);
});

test('issued tokens are hidden in any field, parameter and content', async () => {
  await using double = await startDouble({
    users: { johndoe: { secret: 's3cret', password: 'pw' } },
    clients: { app: { redirectUris: ['https://client.example/cb'], secret: 'the-secret-of-the-app' } },
    consumers: { printer: { secret: 'the-secret-of-the-printer', callbacks: ['oob'] } },
  });
  const { accessToken } = await double.oauth2.issueToken({ user: 'johndoe' });
  const { token, tokenSecret } = await double.oauth1.issueToken({ user: 'johndoe' });
  const { refreshToken = '' } = await double.oauth2.issueToken({ user: 'johndoe', refresh: true });
  const client = { client_id: 'app', client_secret: 'the-secret-of-the-app' };
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken, ...client };
  const init = { method: 'POST', secure: true, body: new URLSearchParams(form) };
  const refreshed = JSON.parse(await (await double.fetch('/oauth2/token', init)).text());
  assertHidden(double, refreshToken, refreshed.access_token, refreshed.refresh_token, client.client_secret);
  assert.match(printed(double), /grant_type=refresh_token/);
  for (const each of [accessToken, token, tokenSecret]) {
    await double.fetch(`/articles/x${each}y?api_key=${each}&q=${each}`, {
      method: 'POST',
      headers: { 'X-Api-Key': each, 'X-Note': `see ${each}.` },
      body: `{"note":"${each}"}`,
    });
    await double.oauth2.revokeTokens(each);
  }
  assertHidden(double, accessToken, token, tokenSecret);
});

test('keys, tokens and digests in an unknown or misspelt field are hidden, and challenges are shown', async () => {
  await using double = await startDouble({ users: { johndoe: { secret: 's3cret' } }, https: false });
  const signature = await double.as('johndoe').signRequest({ url: `${double.url}/articles` });
  const value = signature['Authentication'] ?? '';
  const digest = value.split(':').at(-1) ?? '';
  assert.equal(digest.length, 44);
  for (const name of ['Authentification', 'Authenticaton', 'X-Authentication', 'X-Signed-By', 'Autorization'])
    await double.fetch('/articles', { headers: { [name]: value } });
  await double.fetch('/articles', { headers: { 'X-Signed-By': value.replace(/^hmac /, '') } });
  await double.fetch('/articles?api_key=an-unknown-key', { headers: { 'X-Api-Key': 'an-unknown-key' } });
  await rawExchange(double.url, `GET / HTTP/1.1\r\nHost: a\r\nAutentication: ${value}\r\nno colon\r\n\r\n`);
  assertHidden(double, digest, 'an-unknown-key');
  await double.fetch('/articles', { method: 'POST', body: '{}' });
  const challenge = double.journal
    .last()
    ?.response?.headers.find(([name]) => name === 'WWW-Authenticate')?.[1];
  assert.match(challenge ?? '', /^Basic .*, HMAC /i);
});

test('a short secret is hidden where credentials are expected, and shown elsewhere', async () => {
  await using double = await startDouble({
    users: { ann: { secret: 'tea', password: 'milk' } },
    https: false,
  });
  const init = { method: 'POST', headers: { 'x-note': 'tea' }, body: '{"title":"tea and milk"}' };
  await double.as('ann').fetch('/articles?q=tea&password=milk', init);
  const { request } = double.journal.last() ?? {};
  assert.equal(request?.target, '/articles?q=tea&password=[redacted]');
  assert.equal(request?.body, '{"title":"tea and milk"}');
  assert.equal(request?.headers.find(([name]) => name === 'x-note')?.[1], 'tea');
  assert.deepEqual(request?.query, [
    ['q', 'tea'],
    ['password', '[redacted]'],
  ]);
});

test('neither of the fields with credentials is shown, and raw() has both', async () => {
  const password = 'the-password-of-johndoe';
  await using double = await startDouble({
    users: { johndoe: { secret: 'the-secret-of-johndoe', password } },
  });
  const signature = await double.as('johndoe').signRequest({ url: `${double.url}/articles` });
  const authentication = signature['Authentication'] ?? '';
  const basic = `Basic ${Buffer.from(`johndoe:${password}`).toString('base64')}`;
  await fetch(`${double.url}/articles`, { headers: signature });
  await double.fetch('/articles', { secure: true, headers: { authorization: basic } });
  await double.fetch('/articles', { headers: { authorization: basic, authentication } });
  assert.deepEqual(
    double.journal.all().map(({ response: reply }) => reply?.status),
    [200, 200, 400],
  );
  assertHidden(
    double,
    authentication.slice('hmac '.length),
    basic.slice('Basic '.length),
    authentication.split(':').at(-1) ?? '',
  );
  const shown = double.journal
    .all()
    .map(({ request }) => request?.headers.filter(([, value]) => value === '[redacted]').length);
  assert.deepEqual(shown, [1, 1, 2]);
  const raw = double.journal.last()?.raw().request?.headers;
  assert.deepEqual(
    raw?.filter(([name]) => name.startsWith('auth')),
    [
      ['authorization', basic],
      ['authentication', authentication],
    ],
  );
});

test('a password of letters is redacted as a word, one with other characters anywhere, and a short one never', () => {
  const redact = createRedaction(() => ['secret', 's3cret', 'a+b+c+', 'pw', '']);
  assert.equal(
    redact('secret secretary "secret" as3cret s3cret:x a+b+c+ pw'),
    '[redacted] secretary "[redacted]" a[redacted] [redacted]:x [redacted] pw',
  );
});

test('redaction removes secrets of any characters from any text', () => {
  const random = seeded();
  const alphabet = 'ab01+/=$&\\^.*?()[]{}|-~"\' äß€';
  for (let times = 0; times < 2000; times += 1) {
    const long = `${random.text(alphabet, 20)}123456`;
    const text = `${random.text(alphabet, 20)}${long}${random.text(alphabet, 20)}`;
    assert.ok(!createRedaction(() => [long])(text).includes(long), `seed ${random.seed}: ${text}`);
  }
});
