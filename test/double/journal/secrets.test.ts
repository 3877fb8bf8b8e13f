import assert from 'node:assert/strict';
import test from 'node:test';
import { inspect } from 'node:util';
import { type Double, startDouble } from '../../../src/double/index.ts';
import { createRedaction } from '../../../src/double/journal/redaction.ts';
import { rawExchange } from '../../support/double/raw-exchange.ts';
import { seeded } from '../../support/seeded.ts';

const secret = 'the-secret-of-johndoe';
const password = 'the-password-of-johndoe';
const users = { johndoe: { secret, password } };
const clients = {
  app: { secret: 'the-secret-of-app', redirectUris: ['https://client.example/cb'], scopes: ['read'] },
} as const;

/** All that a journal shows or prints of itself. */
function printed({ journal }: Double): string {
  const texts: string[] = [inspect(journal), inspect(journal.all(), { depth: 9, showHidden: true })];
  for (const entry of journal) {
    texts.push(
      String(entry),
      JSON.stringify(entry),
      inspect(entry, { depth: 9, customInspect: false, showHidden: true }),
    );
    const { request, response: reply, auth, received, problem, fault } = entry;
    texts.push(inspect({ request, reply, auth, received, problem, fault }, { depth: 9 }));
  }
  return texts.join('\n');
}

function holdsNone(double: Double, ...hidden: string[]): void {
  const text = printed(double);
  for (const one of hidden)
    assert.ok(!text.includes(one), `${one} is shown: ${text.slice(text.indexOf(one) - 60).slice(0, 120)}`);
}

test('neither of the fields with credentials is shown, and raw() has both', async () => {
  await using double = await startDouble({ users });
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
  holdsNone(
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

test('a secret or password in an unexpected place is hidden', async () => {
  await using double = await startDouble({ users, clients });
  await double.fetch(`/articles/${secret}?key=${password}`, {
    method: 'PUT',
    headers: { 'x-key': secret },
    body: `${password} the-secret-of-app`,
  });
  await double
    .as('johndoe')
    .fetch('/articles/1', { method: 'PUT', body: `<article><title>${secret}</title><a/></article>` });
  await rawExchange(
    double.url,
    `GET / HTTP/1.1\r\nHost: a\r\nCookie: abc=d\r\nX: ${secret}\r\nno colon\r\n\r\n`,
  );
  holdsNone(double, secret, password, 'the-secret-of-app', 'abc=d');
  assert.match(double.journal.all()[0]?.raw().request?.target ?? '', /the-secret-of-johndoe/);
});

test('a percent-encoded secret is hidden, both encoded and decoded', async () => {
  await using double = await startDouble({ users: { johndoe: { secret: 'a secret/of+johndoe' } } });
  await double.fetch('/articles/a%20secret%2Fof%2Bjohndoe?key=a%20secret%2fof%2bjohndoe');
  holdsNone(double, 'a secret/of+johndoe', 'a%20secret%2Fof%2Bjohndoe');
  assert.deepEqual(double.journal.last()?.request?.query, [['key', '[redacted]']]);
});

test('a new secret is hidden after rotateSecret', async () => {
  await using double = await startDouble({ users });
  const rotated = double.auth.rotateSecret('johndoe');
  await double.fetch(`/articles?key=${rotated}`);
  holdsNone(double, rotated);
});

test('tokens, codes and the secret of the client are hidden', async () => {
  await using double = await startDouble({ users, clients });
  const { accessToken, refreshToken = '' } = await double.oauth2.issueToken({
    client: 'app',
    user: 'johndoe',
    refresh: true,
  });
  assert.notEqual(refreshToken, '');
  const bearing = { authorization: `Bearer ${accessToken}` };
  assert.equal((await double.fetch('/articles', { secure: true, headers: bearing })).status, 200);
  const body = new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
    client_id: 'app',
    client_secret: 'the-secret-of-app',
  });
  const refreshed = await double.fetch('/oauth2/token', { method: 'POST', secure: true, body });
  const given: { access_token?: string; refresh_token?: string } = JSON.parse(await refreshed.text());
  assert.equal(refreshed.status, 200);
  await double.fetch(`/articles?access_token=${accessToken}&code=abc-def`, { secure: true });
  holdsNone(
    double,
    accessToken,
    refreshToken,
    'the-secret-of-app',
    given.access_token ?? '',
    given.refresh_token ?? '',
    'abc-def',
  );
  assert.match(printed(double), /grant_type=refresh_token/);
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
