import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { type DoubleOptions, startDouble } from '../../src/double/index.ts';
import {
  activate,
  assertAccessible,
  inBrowser,
  type OpenedConsole,
  openConsole,
  type Page,
  until,
} from '../support/browser.ts';
import { rsa } from '../support/keys.ts';
import { tally } from '../support/schemes/tally.ts';
import { pressUntilFocused, shows } from './interaction.ts';

const users = {
  ann: { secret: 'the-secret-of-ann', password: 'the password of ann' },
  bob: { secret: 'b0b' },
};

async function opened(t: TestContext, options: DoubleOptions = {}, path = '/send'): Promise<OpenedConsole> {
  const double = await startDouble({ users, ...options });
  t.after(() => double.close());
  const opened = await openConsole(t, double, { path });
  await shows(opened.page, 'Deliberate mistakes');
  return opened;
}

const shown = `document.querySelector('[aria-label="Message"].wire')?.textContent ?? document.querySelector('main').innerText`;

/** Waits until the message that is shown matches, and returns it. */
async function message(page: Page, pattern: RegExp): Promise<string> {
  await until(
    page,
    `${pattern}.test(${shown}) && !document.querySelector('.editor .primary').disabled`,
    shown,
  );
  return page.evaluate<string>(shown);
}

/** Checks or unchecks a mistake, and waits until the message that is shown has changed. */
async function check(page: Page, mistake: string): Promise<void> {
  const before = await page.evaluate<string>(shown);
  await page.getByLabel(mistake).click();
  await until(page, `(${shown}) !== ${JSON.stringify(before)}`);
}

/** Sends the message, and returns the number of its entry. */
async function send(page: Page, last: number | undefined): Promise<number> {
  await activate(page, 'Send');
  const number = `Number(/#(\\d+)/.exec(document.querySelector('.links')?.textContent ?? '')?.[1] ?? 0)`;
  await until(page, `${number} > ${last ?? 0}`, `document.querySelector('main').innerText`);
  return page.evaluate<number>(number);
}

test('the server signs the message that is shown, and sends it unchanged', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  await page.getByLabel('Method').fill('POST');
  await page.getByLabel('Header fields').fill('Content-Type: application/json\nX-Note: one: two');
  await page.getByLabel('Body').fill('{"title":"Tea ☕","price":{"value":"3.50","currency":"EUR"}}');
  await page.getByLabel('User', { exact: true }).selectOption('ann');
  const shown = await message(page, /Content-Digest[\s\S]*Authentication: hmac ann:/);
  await send(page, 0);
  const entry = double.journal.last();
  assert.equal(entry?.response?.status, 201);
  assert.equal(entry?.principal?.name, 'ann');
  const { request } = entry?.raw() ?? {};
  const lines = request?.headers.map(([name, value]) => `${name}: ${value}`) ?? [];
  const content = Buffer.from(request?.body ?? '').toString();
  assert.equal(shown, ['POST /articles HTTP/1.1', ...lines, '', content].join('\n'));
});

test('the parts of the signed message are shown in order', inBrowser, async (t) => {
  const { page } = await opened(t, { https: false });
  const rows = `[...document.querySelectorAll('[aria-label="Table of signed parts"] tbody tr')].map((row) =>
    [...row.cells].map((cell) => cell.innerText).join(' '))`;
  await shows(page, 'These credentials sign no message.');
  await page.getByLabel('Target').fill('/articles?limit=1');
  await page.getByLabel('User', { exact: true }).selectOption('ann');
  await message(page, /hmac ann:/);
  const parts = await page.evaluate<string[]>(rows);
  assert.deepEqual(parts.slice(0, 3), ['method GET', 'fixed text +', 'target /articles?limit=1']);
  await page.getByLabel('Leave the query out of what is signed').click();
  await until(page, `${rows}[2] === 'target /articles'`, rows);
  await assertAccessible(page, 'what is signed');
});

test('each deliberate mistake is refused with its own problem', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  await page.getByLabel('Target').fill('/articles?limit=1');
  await page.getByLabel('User', { exact: true }).selectOption('ann');
  await message(page, /hmac ann:/);
  let last = await send(page, 0);
  assert.equal(double.journal.last()?.response?.status, 200);
  const cases = [
    ['Leave the query out of what is signed', 'credentials-refused'],
    ['Another date: two hours ago', 'date-out-of-window'],
    ['Reuse the last nonce', 'nonce-replayed'],
    ['Change one character of the credentials', 'credentials-refused'],
    ['Name another user', 'credentials-refused'],
  ] as const;
  for (const [label, problem] of cases) {
    await message(page, /hmac ann:/);
    await check(page, label);
    await message(page, /hmac (ann|bob):/);
    last = await send(page, last);
    assert.equal(double.journal.last()?.problem?.type, problem, label);
    await check(page, label);
  }
  assert.match(await page.locator('.links').innerText(), /signature explained/i);
});

test('messages are signed with every algorithm of RFC 9421', inBrowser, async (t) => {
  const { page, double } = await opened(t, { schemes: { 'message-signatures': {} } });
  const keys = {
    ed25519: generateKeyPairSync('ed25519'),
    'ecdsa-p256-sha256': generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    'ecdsa-p384-sha384': generateKeyPairSync('ec', { namedCurve: 'P-384' }),
    'rsa-pss-sha512': rsa,
    'rsa-v1_5-sha256': rsa,
  } as const;
  await page.getByLabel('Target').fill('/articles?limit=1');
  await page.getByLabel('User', { exact: true }).selectOption('ann');
  await page.getByLabel('Scheme').selectOption('message-signatures');
  await message(page, /Signature-Input: .*keyid="ann"/);
  let last = await send(page, 0);
  assert.equal(double.journal.last()?.principal?.name, 'ann', 'hmac-sha256');
  for (const [algorithm, { publicKey, privateKey }] of Object.entries(keys)) {
    const spki = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    double.auth.addKey('ann', algorithm, { algorithm: algorithm as keyof typeof keys, publicKey: spki });
    const isJwk = algorithm === 'ecdsa-p256-sha256';
    const key = isJwk
      ? JSON.stringify(privateKey.export({ format: 'jwk' }))
      : privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    await page.getByLabel('Key id').fill(algorithm);
    await page.getByLabel('Algorithm').selectOption(algorithm);
    await page.getByLabel('Secret or private key').fill(key);
    await message(page, new RegExp(`keyid="${algorithm}"`));
    last = await send(page, last);
    assert.equal(double.journal.last()?.principal?.name, 'ann', algorithm);
    assert.equal(double.journal.last()?.response?.status, 200, algorithm);
  }
});

test('requests with other schemes are sent over TLS, signed by the server', inBrowser, async (t) => {
  const { page, double } = await opened(t, {
    clients: { app: { redirectUris: ['https://client.example/cb'] } },
    consumers: { printer: { secret: 'the-secret-of-the-printer', callbacks: ['oob'] } },
  });
  await page.getByLabel('User', { exact: true }).selectOption('ann');
  let last = 0;
  for (const [scheme, name] of [
    ['hmac, simple', 'hmac'],
    ['basic', 'basic'],
    ['bearer', 'bearer'],
    ['oauth1', 'oauth'],
  ] as const) {
    await page.getByLabel('Scheme').selectOption(scheme);
    if (scheme === 'bearer' || scheme === 'oauth1') {
      await shows(page, 'Press Sign');
      await page.getByRole('button', { name: 'Sign', exact: true }).click();
    }
    await message(page, /(Authorization|Authentication): (hmac|Basic|Bearer|OAuth) /);
    last = await send(page, last);
    const { principal } = double.journal.last() ?? {};
    assert.deepEqual(principal && [principal.name, principal.scheme], ['ann', name], scheme);
  }
});

test('the server signs with configured schemes, also in the query', inBrowser, async (t) => {
  const { page, double } = await opened(t, {
    schemes: {
      aws4: { region: 'eu-central-1', service: 'execute-api' },
      links: {
        message: '{timestamp}.{target}.{field:X-Tenant}',
        signature: { query: 'sig' },
        user: { field: 'X-User' },
        timestamp: { field: 'X-Time' },
      },
      tally,
      'draft-cavage': {},
    },
  });
  await page.getByLabel('User', { exact: true }).selectOption('ann');
  await page.getByLabel('Target').fill('/articles?limit=1');
  await page.getByLabel('Header fields').fill('X-Tenant: tea');
  let last = 0;
  for (const [scheme, signature] of [
    ['aws4', /Authorization: AWS4-HMAC-SHA256 /],
    ['links', /GET \/articles\?limit=1&sig=/],
    ['tally', /X-Tally: 1:/],
    ['draft-cavage', /Authorization: Signature keyId=/],
  ] as const) {
    await page.getByLabel('Scheme').selectOption(scheme);
    await message(page, signature);
    last = await send(page, last);
    assert.deepEqual(double.journal.last()?.principal, { name: 'ann', scheme });
    assert.equal(double.journal.last()?.response?.status, 200);
    for (const mistake of [
      'Leave the query out of what is signed',
      'Change one character of the credentials',
    ]) {
      await check(page, mistake);
      await message(page, signature);
      last = await send(page, last);
      assert.equal(double.journal.last()?.response?.status, 401, `${scheme}: ${mistake}`);
      await check(page, mistake);
      await message(page, signature);
    }
  }
});

test('a mistake that is not possible shows the reason', inBrowser, async (t) => {
  const { page } = await opened(t, { schemes: { key: { secret: { field: 'X-Key' } } } });
  const reason = (name: string) => `document.getElementById('mistake-${name}-reason').textContent`;
  await shows(page, 'The request has no credentials.');
  await page.getByLabel('User', { exact: true }).selectOption('ann');
  await until(page, `${reason('query')} === 'The target has no query.'`);
  await until(page, `${reason('nonce')} === 'No nonce was sent yet.'`);
  await until(page, `${reason('date')} === '' && !document.getElementById('mistake-date').disabled`);
  await page.getByLabel('Scheme').selectOption('hmac, simple');
  await until(page, `${reason('date')} === 'Its credentials have no date.'`);
  await page.getByLabel('Scheme').selectOption('key');
  await message(page, /X-Key: the-secret-of-ann/);
  await until(page, `${reason('query')} === 'The scheme signs no message.'`);
  await until(page, `${reason('user')} === 'Its credentials do not name a user.'`);
  await assertAccessible(page, 'send, with mistakes that are not possible');
});

test('an edited exchange is sent again with a new signature', inBrowser, async (t) => {
  await using double = await startDouble({ users });
  await double.as('ann').fetch('/articles?limit=7', { headers: { 'X-Note': '<b>note</b>' } });
  const { page } = await openConsole(t, double, { path: '/send?entry=1' });
  const shown = await message(page, /limit=7[\s\S]*hmac ann:/);
  assert.match(shown, /x-note: <b>note<\/b>/i);
  await page.getByLabel('Target').fill('/articles?limit=8');
  await message(page, /limit=8/);
  await send(page, 1);
  assert.equal(double.journal.last()?.principal?.name, 'ann');
});

test('a request is composed and sent by keyboard alone', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  await message(page, /GET \/articles/);
  await pressUntilFocused(page, 'Target');
  await page.keyboard.press('End');
  await page.keyboard.type('?limit=1');
  await pressUntilFocused(page, 'User');
  await page.keyboard.type('ann');
  await pressUntilFocused(page, 'Leave the query out');
  await page.keyboard.press('Space');
  await message(page, /hmac ann:/);
  await pressUntilFocused(page, 'Send');
  await page.keyboard.press('Enter');
  await until(page, `document.querySelector('.links') !== null`);
  assert.equal(double.journal.last()?.auth?.hint, 'the query was left out');
});

test('the form is accessible, and a key that cannot be read is reported', inBrowser, async (t) => {
  const { page } = await opened(t, { schemes: { 'message-signatures': {} } });
  await page.getByLabel('User', { exact: true }).selectOption('ann');
  await message(page, /hmac ann:/);
  await send(page, 0);
  await assertAccessible(page, 'send');
  await page.getByLabel('Scheme').selectOption('message-signatures');
  await page.getByLabel('Algorithm').selectOption('ed25519');
  await page.getByLabel('Secret or private key').fill('-----BEGIN NOTHING-----');
  await until(
    page,
    `document.querySelector('.error')?.textContent.includes('is not a private key') === true`,
  );
  await assertAccessible(page, 'send, with an error');
});
