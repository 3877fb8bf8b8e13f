import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startDouble } from '../../src/double/index.ts';
import {
  assertAccessible,
  inBrowser,
  type OpenedConsole,
  openConsole,
  openPage,
  openView,
  until,
} from '../support/browser.ts';
import { startServer } from '../support/cli/command.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { pressUntilFocused, shows } from './interaction.ts';

const start = '2026-03-01T12:00:00Z';

async function opened(t: TestContext): Promise<OpenedConsole> {
  const users = { ann: { secret: 'the-secret-of-ann' } };
  const double = await startDouble({ https: false, users, now: start });
  t.after(() => double.close());
  const opened = await openConsole(t, double, { path: '/control' });
  await shows(opened.page, '2026-03-01 12:00:00 UTC');
  return opened;
}

test('the clock is advanced, set, skewed, frozen and followed', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  await shows(page, 'Frozen.');
  await page.getByRole('button', { name: 'Advance by +11m' }).click();
  await shows(page, '12:11:00');
  assert.equal(double.clock.now(), Date.parse(start) + 660_000);
  await page.getByRole('button', { name: 'Set back by −1h' }).click();
  await shows(page, '11:11:00');
  await page.getByLabel('By', { exact: true }).fill('90s');
  await page.getByRole('button', { name: 'Advance', exact: true }).click();
  await shows(page, '11:12:30');
  await page.getByLabel('To', { exact: true }).fill('2030-01-01T00:00:00Z');
  await page.getByRole('button', { name: 'Set', exact: true }).click();
  await shows(page, '2030-01-01 00:00:00');
  await page.getByRole('button', { name: 'Skew' }).click();
  await shows(page, 'Date is 5 min behind.');
  assert.equal((await double.fetch('/')).headers.get('date'), 'Mon, 31 Dec 2029 23:55:00 GMT');
  await page.getByRole('button', { name: 'Follow the host' }).click();
  await shows(page, 'Running');
  await page.getByRole('button', { name: 'Freeze' }).click();
  await shows(page, 'Frozen.');
  await page.getByLabel('By', { exact: true }).fill('soon');
  await page.getByRole('button', { name: 'Advance', exact: true }).click();
  await until(page, `document.querySelector('.notice.error') !== null`);
});

test('faults are planned by keyboard alone, listed, applied and removed', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  await pressUntilFocused(page, 'Status');
  await page.keyboard.press('End');
  await page.keyboard.press('Backspace');
  await page.keyboard.type('4');
  await pressUntilFocused(page, 'Path');
  await page.keyboard.type('/articles');
  await pressUntilFocused(page, 'Times');
  await page.keyboard.press('Enter');
  await shows(page, '{"status":504}');
  assert.equal((await double.fetch('/articles/1')).status, 404);
  assert.equal((await double.fetch('/articles')).status, 504);
  await page.getByLabel('Fault', { exact: true }).selectOption('nonceSeen');
  await page.getByLabel('Times').fill('always');
  await page.getByRole('button', { name: 'Plan fault' }).click();
  await shows(page, 'nonceSeen');
  assert.equal((await double.as('ann').fetch('/articles')).status, 401);
  await page.getByRole('button', { name: 'Remove all faults' }).click();
  await page.getByRole('button', { name: 'Confirm' }).click();
  await shows(page, 'No faults are planned.');
  assert.equal((await double.as('ann').fetch('/articles')).status, 200);
  await page.getByRole('button', { name: 'Burn nonces' }).click();
  await until(page, `document.querySelector('.notices').innerText.includes('count as used')`);
  assert.equal((await double.as('ann').fetch('/articles')).status, 401);
});

test('markup in a fault is shown as text, and the view is accessible', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  double.faults.next({ path: '/<img src=x onerror=document.title=1>' }, { status: 503, body: '<script>' });
  await page.reload();
  await shows(page, 'onerror');
  assert.equal(await page.locator('main img').count(), 0);
  await page.getByRole('button', { name: 'Take snapshot' }).click();
  await shows(page, 'Snapshot 1');
  await assertAccessible(page, 'control');
});

test('the state is seeded, saved, restored and reset', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  const tea = JSON.stringify([{ title: 'Tea', price: { value: '3.50', currency: 'EUR' } }]);
  await page.getByLabel('Items').fill(tea);
  await page.getByRole('button', { name: 'Add items' }).click();
  await until(page, `document.querySelector('.notices').innerText.includes('were added')`);
  assert.equal((await double.fetch('/articles/1')).status, 200);
  await page.getByRole('button', { name: 'Take snapshot' }).click();
  await shows(page, 'Snapshot 1');
  await page.getByRole('button', { name: 'Reset' }).click();
  await page.getByRole('button', { name: 'Confirm' }).click();
  await until(page, `document.querySelector('.notices').innerText.includes('as at its start')`);
  assert.equal((await double.fetch('/articles/1')).status, 404);
  await page.getByRole('button', { name: 'Restore snapshot 1' }).click();
  await page.keyboard.press('Escape');
  assert.equal((await double.fetch('/articles/1')).status, 404);
  await page.getByRole('button', { name: 'Restore snapshot 1' }).click();
  await page.getByRole('button', { name: 'Confirm' }).click();
  await until(page, `document.querySelector('.notices').innerText.includes('was restored')`);
  assert.equal((await double.fetch('/articles/1')).status, 200);
});

test('with a data directory, what requires memory is disabled with the reason', inBrowser, async (t) => {
  const token = 'a-token-for-this-test-alone';
  const data = join(temporaryDirectory(), 'data');
  const server = await startServer(['--data', data, '--port', '0', '--control-port', '0', '--log', 'off'], {
    environment: { COUNTERSIGN_CONTROL_TOKEN: token },
  });
  t.after(async () => {
    server.signal('SIGTERM');
    await server.ended;
  });
  const page = await openPage(t);
  await page.goto(`${server.controlUrl}/#${token}`);
  const isDisabled = (name: string) =>
    `[...document.querySelectorAll('button')].find((each) => (each.ariaLabel ?? each.textContent) === '${name}')?.matches(':disabled')`;
  for (const [path, disabled, enabled] of [
    ['/control', ['Take snapshot', 'Reset'], 'Add items'],
    ['/access', ['Add user', 'Add key', 'Remove demo'], 'Rotate secret of demo'],
  ] as const) {
    await openView(page, server.controlUrl, path);
    await shows(page, 'This one has a data directory');
    for (const name of disabled) await until(page, isDisabled(name));
    assert.equal(await page.evaluate(isDisabled(enabled)), false, enabled);
    await assertAccessible(page, path);
  }
  await openView(page, server.controlUrl, '/stubs');
  await shows(page, 'Coverage of the partner’s document');
  assert.equal(await page.evaluate(isDisabled('Add stub')), false);
  await openView(page, server.controlUrl, '/send');
  await until(page, `document.querySelector('select option[value="demo"]') !== null`);
  await page.getByLabel('User', { exact: true }).selectOption('demo');
  await shows(page, 'Enter the key');
  await page.getByLabel('Secret').fill('a-secret');
  await shows(page, 'Authentication: hmac demo:');
});
