import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { type DoubleOptions, startDouble } from '../../src/double/index.ts';
import {
  assertAccessible,
  inBrowser,
  type OpenedConsole,
  openConsole,
  type Page,
  until,
} from '../support/browser.ts';

const secret = 'the-secret-of-ann';
const users = { ann: { secret } };
const tea = JSON.stringify({ title: 'Tea', price: { value: '1.50', currency: 'EUR' } });

/** Opens the console of a double that has received the requests of `act`, at `path`. */
async function opened(
  t: TestContext,
  path: string,
  act: (double: OpenedConsole['double']) => Promise<unknown>,
  options: DoubleOptions = {},
): Promise<OpenedConsole> {
  const double = await startDouble({ https: false, users, ...options });
  t.after(() => double.close());
  await act(double);
  const console = await openConsole(t, double, { path });
  await console.page.locator('.detail .content').waitFor();
  return console;
}

/** Returns the states of the steps: p(assed), a(nswered), r(efused), s(kipped). */
function readSteps(page: Page): Promise<string> {
  return page.evaluate(
    `[...document.querySelectorAll('.steps li')].map((item) => item.className[0]).join('')`,
  );
}

test('a row is opened by a click, and closed by its button', inBrowser, async (t) => {
  await using double = await startDouble({ https: false });
  await double.fetch('/articles');
  const { page } = await openConsole(t, double);
  await page.locator('.row[data-number="1"] .target').click();
  await page.getByRole('heading', { name: 'GET /articles' }).waitFor();
  assert.match(page.url(), /#\/exchanges\/1$/);
  await page.getByRole('button', { name: 'Close (Escape)' }).click();
  await page.locator('.detail').waitFor({ state: 'hidden' });
  assert.match(page.url(), /#\/exchanges$/);
});

test('the decision marks the steps up to the one that refused, with its detail', inBrowser, async (t) => {
  const { page } = await opened(t, '/exchanges/1', (double) =>
    double.fetch('/articles', { method: 'DELETE' }),
  );
  assert.equal(await readSteps(page), 'pppppppppr' + 'sssssss');
  const verdict = await page.locator('.verdict').innerText();
  assert.match(verdict, /Refused at step 9, Method implemented: method-not-allowed/);
  assert.match(verdict, /This resource does not implement DELETE/);
  await assertAccessible(page, 'a refusal');
});

test('the decision marks the steps up to the one that responded', inBrowser, async (t) => {
  const act = (double: OpenedConsole['double']) => double.fetch('/articles', { method: 'OPTIONS' });
  const { page } = await opened(t, '/exchanges/1', act);
  assert.equal(await readSteps(page), 'ppppppppa' + 'ssssssss');
  assert.match(await page.locator('.verdict').innerText(), /Answered at step 8, OPTIONS/);
});

test('the decision shows an applied fault, and every step as skipped', inBrowser, async (t) => {
  const { page } = await opened(t, '/exchanges/1', async (double) => {
    double.faults.next({}, { status: 503, retryAfter: 7 });
    await double.fetch('/articles');
  });
  assert.equal(await readSteps(page), 's'.repeat(17));
  assert.match(await page.locator('.verdict').innerText(), /A planned fault was applied.*"retryAfter": 7/s);
});

test('request and response are shown as on the wire, and JSON can be indented', inBrowser, async (t) => {
  const { page } = await opened(t, '/exchanges/1', (double) =>
    double.as('ann').fetch('/articles', {
      method: 'POST',
      body: tea,
      headers: { 'Content-Type': 'application/json', 'X-Note': 'kept', Accept: 'application/xml' },
    }),
  );
  const [request, sent, response, received] = await page.locator('pre.wire').allInnerTexts();
  assert.match(request ?? '', /^POST \/articles HTTP\/1\.1\n/);
  assert.match(request ?? '', /x-note: kept\n/i);
  assert.match(request ?? '', /(authorization|authentication): \[redacted\]/i);
  assert.equal(sent, JSON.stringify(JSON.parse(tea), null, 2));
  assert.match(response ?? '', /^HTTP\/1\.1 201\n/);
  assert.match(received ?? '', /<article[^>]*>\n {2}<title>Tea<\/title>\n {2}<price/);
  await page.getByRole('button', { name: 'Indented' }).first().click();
  assert.equal((await page.locator('pre.wire').allInnerTexts())[1], tea);
});

test('a request that could not be parsed is shown unchanged', inBrowser, async (t) => {
  await using double = await startDouble({ https: false });
  const { page, control } = await openConsole(t, double);
  const headers = { Authorization: `Bearer ${control.token}`, 'Content-Type': 'application/json' };
  await fetch(`${control.url}/send`, {
    method: 'POST',
    headers,
    body: '{"text":"GET  twice HTTP/1.1\\r\\n\\r\\n"}',
  });
  await page.locator('.row[data-number="1"]').click();
  await page.getByRole('heading', { name: 'Unparsable request' }).waitFor();
  assert.match(await page.locator('pre.wire').first().innerText(), /GET {2}twice/);
});

test('resending repeats the credentials, and opens the new exchange', inBrowser, async (t) => {
  const { page, double } = await opened(t, '/exchanges/1', async (started) => {
    const headers = await started.as('ann').signRequest({ url: `${started.url}/articles` });
    assert.equal((await fetch(`${started.url}/articles`, { headers })).status, 200);
  });
  await page.getByRole('button', { name: 'Resend', exact: true }).click();
  await until(page, `location.hash === '#/exchanges/2'`);
  await page.locator('.verdict').locator('text=nonce-replayed').waitFor();
  assert.equal(double.journal.length, 2);
});

test('edit and resend opens the send view with the number of the exchange', inBrowser, async (t) => {
  const { page } = await opened(t, '/exchanges/1', (double) => double.fetch('/articles'));
  await page.getByRole('button', { name: 'Edit and resend' }).click();
  await until(page, `location.hash === '#/send?entry=1'`);
  await page.getByRole('heading', { name: 'Send' }).first().waitFor();
});

test('the curl command of a request has its method, target, fields and content', inBrowser, async (t) => {
  const body = '{"title":"it\'s tea"}';
  const { page, double } = await opened(t, '/exchanges/1', (started) =>
    started
      .as('ann')
      .fetch('/articles?a=b&c', { method: 'POST', body, headers: { 'Content-Type': 'application/json' } }),
  );
  await page.evaluate(`navigator.clipboard.writeText = async (text) => { window.copied = text }`);
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  await until(page, 'window.copied !== undefined');
  const command = await page.evaluate<string>('window.copied');
  assert.match(command, /^curl --include --path-as-is --globoff --request POST /);
  assert.match(command, /--header 'content-type: application\/json'/i);
  assert.match(command, /--header 'auth[a-z]+: CREDENTIALS of ann'/i);
  assert.ok(command.includes(`--data-raw '{"title":"it'\\''s tea"}'`), command);
  assert.ok(command.endsWith(` '${double.url}/articles?a=b&c'`), command);
  await page.locator('.notice').locator('text=which the journal redacts').waitFor();
  await page.getByRole('button', { name: 'Copy link' }).click();
  await until(page, `window.copied === location.origin + '/#/exchanges/1'`);
});

test('an exchange reports that the server did not read the content', inBrowser, async (t) => {
  const { page } = await opened(t, '/exchanges/1', (double) =>
    fetch(`${double.url}/articles`, { method: 'POST', body: 'tea' }),
  );
  assert.match(await page.locator('.content').innerText(), /The server did not read the content/);
});

test('an exchange that the journal does not contain is reported', inBrowser, async (t) => {
  await using double = await startDouble({ https: false });
  const { page } = await openConsole(t, double, { path: '/exchanges/99' });
  await page.locator('.detail .error').locator('text=It is not in the journal').waitFor();
});

test('a wrong signature is explained part by part, and differences are marked', inBrowser, async (t) => {
  const { page } = await opened(t, '/exchanges/1/signature', async (double) =>
    double.fetch('/articles?limit=5&offset=1', {
      headers: await double.as('ann').signRequest({ url: '/articles' }),
    }),
  );
  assert.match(await page.locator('.verdict').innerText(), /^The query was left out\.$/);
  assert.deepEqual(await page.locator('.checks code').allInnerTexts(), ['parse', 'user', 'digest']);
  assert.deepEqual(await page.locator('.parts tbody th').allInnerTexts(), [
    'method',
    'target',
    'date',
    'nonce',
  ]);
  assert.deepEqual(await page.locator('.parts .result > [aria-hidden]').allInnerTexts(), [
    '=',
    '≠',
    '=',
    '=',
  ]);
  assert.deepEqual(await page.locator('.parts mark:not(.gap)').allInnerTexts(), ['?limit=5&offset=1']);
  assert.equal(await page.locator('.parts mark.gap').count(), 1);
  const line = await page.evaluate(
    `getComputedStyle(document.querySelector('.parts mark:not(.gap)')).borderBottomStyle`,
  );
  assert.equal(line, 'solid');
  await assertAccessible(page, 'a wrong signature');
});

test('white space and non-printing characters in a message are visible', inBrowser, async (t) => {
  const { page } = await opened(t, '/exchanges/1/signature', (double) => {
    const date = new Date(double.clock.now()).toUTCString();
    const message = `GET+/articles+${date.replaceAll(' ', '')}+a-nonce\n`;
    const digest = createHmac('sha256', secret).update(message).digest('base64');
    const headers = { 'X-Date': date, Authorization: `hmac ann:a-nonce:${digest}` };
    return double.fetch('/articles', { headers });
  });
  assert.match(await page.locator('.verdict').innerText(), /A line feed was signed at the end/);
  assert.match(await page.locator('.parts mark').first().innerText(), /↵/);
});

test('without a known mistake, the expected message is shown alone', inBrowser, async (t) => {
  const { page } = await opened(t, '/exchanges/1/signature', (double) =>
    double.as('ann', { secret: 'another-secret' }).fetch('/articles'),
  );
  assert.equal(await page.locator('.parts thead th').count(), 2);
  assert.match(await page.locator('.hint').innerText(), /what it signed is not known/);
});

test('a date is shown against the window', inBrowser, async (t) => {
  const { page } = await opened(
    t,
    '/exchanges/1/signature',
    (double) => double.as('ann', { date: '2026-03-01T10:00:00Z' }).fetch('/articles'),
    { now: '2026-03-01T12:00:00Z' },
  );
  const told = await page.locator('.timeline').getAttribute('aria-label');
  assert.equal(told, 'The date is 2 h behind the server’s clock; 10 min are accepted.');
  assert.equal(await page.evaluate(`document.querySelector('.marker').style.left`), '3%');
  await assertAccessible(page, 'a date outside the window');
});

test('a nonce is shown with its first use', inBrowser, async (t) => {
  const { page } = await opened(t, '/exchanges/2/signature', async (double) => {
    const headers = await double.as('ann', { nonce: 'used-twice' }).signRequest({ url: '/articles' });
    for (let count = 0; count < 2; count += 1) await double.fetch('/articles', { headers });
  });
  assert.match(await page.locator('.content').innerText(), /used-twice was first used in #1 at \d{4}-/);
});

test('the signature view reports that the credentials were not read', inBrowser, async (t) => {
  const { page } = await opened(t, '/exchanges/1/signature', (double) => double.fetch('/none'));
  assert.match(
    await page.locator('.content').innerText(),
    /Step 6 responded before the credentials were read/,
  );
});

test('at 360 pixels an exchange covers the table, and Escape returns to it', inBrowser, async (t) => {
  const { page } = await opened(t, '/exchanges/1/signature', (double) =>
    double.as('ann', { secret: 'wrong-one' }).fetch('/articles'),
  );
  await page.setViewportSize({ width: 360, height: 700 });
  assert.equal(await page.locator('.grid').isVisible(), false);
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  await assertAccessible(page, 'an exchange at 360 px');
  await page.keyboard.press('Escape');
  await page.locator('.row[data-number="1"]').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await until(page, `document.activeElement.tagName === 'H2'`);
});
