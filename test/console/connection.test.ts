import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDouble } from '../../src/double/index.ts';
import { assertAccessible, inBrowser, openConsole, openPage, until } from '../support/browser.ts';
import { shows } from './interaction.ts';

const token = 'a-token-for-this-test-alone';

test('without a token the console requests it, and opens after it is entered', inBrowser, async (t) => {
  await using double = await startDouble({ https: false });
  await double.fetch('/articles');
  const { url } = await double.openControl({ token });
  const page = await openPage(t);
  await page.goto(url);
  await page.getByRole('heading', { name: 'Token required' }).waitFor();
  await assertAccessible(page, 'the form for the token');
  await page.keyboard.type(token);
  await page.keyboard.press('Enter');
  await page.locator('.row[data-number="1"]').waitFor();
  assert.ok(!page.url().includes(token));
});

test('a wrong token is reported, and the correct one can be entered', inBrowser, async (t) => {
  await using double = await startDouble({ https: false });
  await double.fetch('/articles');
  const { url } = await double.openControl({ token });
  const page = await openPage(t);
  await page.goto(`${url}/#a-token-that-is-not-the-right-one`);
  await page.locator('.error').locator('text=did not accept this token').waitFor();
  assert.equal(await page.locator('.connection').innerText(), 'Not authorised');
  await page.getByLabel('Control token').fill(token);
  await page.getByRole('button', { name: 'Open the console' }).click();
  await page.locator('.row[data-number="1"]').waitFor();
});

test('the console reports a stopped server, and reconnects when it is back', inBrowser, async (t) => {
  const double = await startDouble({ https: false });
  await double.fetch('/articles');
  const { page, control } = await openConsole(t, double, { token });
  await page.locator('.row[data-number="1"]').waitFor();
  assert.equal(await page.locator('.connection').innerText(), 'Connected');
  await double.close();
  await until(page, `document.querySelector('.connection').textContent === 'Disconnected. Reconnecting…'`);
  assert.equal(await page.locator('.row[data-number="1"]').isVisible(), true);
  assert.match(await page.locator('#banner').innerText(), /cannot be reached/);
  await assertAccessible(page, 'disconnected');
  const another = await startDouble({ https: false });
  t.after(() => another.close());
  await another.fetch('/articles?second=server');
  await another.openControl({ token, port: Number(new URL(control.url).port) });
  await until(page, `document.querySelector('.connection').textContent === 'Connected'`);
  await until(
    page,
    `document.querySelector('.row .target')?.textContent.includes('second') === true
    || document.querySelector('.rows .target')?.textContent.includes('second') === true`,
  );
  assert.equal(await page.locator('#banner').isVisible(), false);
});

test('a view that has no connection reports it, and loads later', inBrowser, async (t) => {
  const double = await startDouble({ https: false });
  const { page, control } = await openConsole(t, double, { token });
  // A browser has loaded the module of the view before the server stops.
  await page.getByRole('link', { name: 'Access', exact: true }).click();
  await shows(page, 'There are no users.');
  await page.getByRole('link', { name: 'Exchanges', exact: true }).click();
  await shows(page, 'No requests yet.');
  await double.close();
  await shows(page, 'The server cannot be reached. Its exchanges appear here');
  await page.getByRole('link', { name: 'Access', exact: true }).click();
  await shows(page, 'It is asked for users, clients and tokens again');
  await assertAccessible(page, 'a view without a connection');
  const another = await startDouble({ https: false, users: { ann: { secret: 'the-secret-of-ann' } } });
  t.after(() => another.close());
  await another.openControl({ token, port: Number(new URL(control.url).port) });
  await shows(page, 'Rotate secret');
  assert.equal(await page.locator('#banner').isVisible(), false);
});

test('an action that fails is reported in a notice, which is dismissed', inBrowser, async (t) => {
  await using double = await startDouble({ https: false, journal: { body: 4 } });
  await double.fetch('/articles');
  const { page } = await openConsole(t, double, { path: '/exchanges/1' });
  await page.locator('.detail .content').waitFor();
  double.journal.clear();
  await page.getByRole('button', { name: 'Resend', exact: true }).click();
  await page.locator('.notice.error').locator('text=The journal has no entry 1.').waitFor();
  await assertAccessible(page, 'a notice');
  await page.getByRole('button', { name: 'Dismiss' }).click();
  assert.equal(await page.locator('.notice').count(), 0);
});

test('views are opened by their links, and each is accessible', inBrowser, async (t) => {
  await using double = await startDouble({ https: false });
  const { page } = await openConsole(t, double);
  for (const name of ['Send', 'Resources', 'Access', 'Stubs', 'Control', 'Exchanges']) {
    await page.getByRole('link', { name, exact: true }).click();
    await until(page, `document.title.startsWith('${name}')`);
    assert.equal(await page.locator('[aria-current="page"]').innerText(), name);
    await page.getByRole('heading', { name }).first().waitFor({ state: 'attached' });
    await assertAccessible(page, name);
  }
});
