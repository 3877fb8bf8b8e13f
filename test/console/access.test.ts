import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { startDouble } from '../../src/double/index.ts';
import { assertAccessible, inBrowser, type OpenedConsole, openConsole, until } from '../support/browser.ts';
import { pressUntilFocused, shows } from './interaction.ts';

const hostile = '<img/src=x/onerror=document.title=1>';
const callback = 'https://client.example/cb';

async function opened(t: TestContext): Promise<OpenedConsole> {
  const double = await startDouble({
    users: { ann: { secret: 'the-secret-of-ann', password: 'the password of ann' } },
    clients: { app: { redirectUris: [callback], secret: 'the-secret-of-app' } },
    consumers: { printer: { secret: 'the-secret-of-the-printer', callbacks: ['oob'] } },
  });
  t.after(() => double.close());
  const opened = await openConsole(t, double, { path: '/access' });
  await shows(opened.page, 'client.example');
  return opened;
}

test('users and keys are added, rotated and removed, and no secret is shown', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  await page.getByLabel('Name').fill('bob');
  await page.getByLabel('Secret', { exact: true }).fill('the-chosen-secret');
  await page.getByRole('button', { name: 'Add user' }).click();
  await shows(page, 'bob was added.');
  assert.equal(double.auth.credentials('bob').secret, 'the-chosen-secret');
  await page.getByRole('button', { name: 'Rotate secret of bob' }).click();
  await page.getByLabel('Accept the former one for').fill('10m');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await shows(page, 'bob has a new secret.');
  assert.notEqual(double.auth.credentials('bob').secret, 'the-chosen-secret');
  await shows(page, 'former until');
  await page.getByLabel('Key id').fill('shared-1');
  await page.getByLabel('Algorithm').selectOption('hmac-sha256');
  await page.getByLabel('Public key, or secret').fill('a-shared-secret');
  await page.getByRole('button', { name: 'Add key' }).click();
  await shows(page, 'shared-1');
  await page.getByRole('button', { name: 'Remove the key shared-1' }).click();
  await page.getByRole('button', { name: 'Confirm' }).click();
  await shows(page, 'shared-1', false);
  await page.getByRole('button', { name: 'Remove bob' }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  assert.ok(double.auth.credentials('bob'));
  await page.getByRole('button', { name: 'Remove bob' }).click();
  await page.getByRole('button', { name: 'Confirm' }).click();
  await until(page, `document.querySelectorAll('[aria-label="Table of users"] tbody tr').length === 1`);
  const html = await page.evaluate<string>('document.documentElement.outerHTML');
  for (const secret of ['the-secret-of', 'the password of', 'a-shared-secret'])
    assert.ok(!html.includes(secret), secret);
});

test('tokens are issued, expired and revoked by their fingerprints', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  const { accessToken } = await double.oauth2.issueToken({ user: 'ann' });
  const fingerprint = createHash('sha256').update(accessToken).digest('base64url').slice(0, 12);
  await page.getByLabel('For').selectOption('ann');
  await page.getByLabel('To', { exact: true }).selectOption('oauth1 printer');
  await page.getByRole('button', { name: 'Issue token' }).click();
  await shows(page, 'A token was issued.');
  await shows(page, 'OAuth 1.0a access');
  await shows(page, fingerprint);
  const use = () =>
    double.fetch('/articles', { secure: true, headers: { Authorization: `Bearer ${accessToken}` } });
  assert.equal((await use()).status, 200);
  await page.getByRole('button', { name: `Expire ${fingerprint}` }).click();
  await until(
    page,
    `!document.querySelector('[aria-label="Table of tokens"]').innerText.includes('${fingerprint}')`,
  );
  assert.equal((await use()).status, 401);
  await page.getByLabel('Live only').click();
  await shows(page, 'expired');
  await page.getByRole('button', { name: 'Revoke all' }).click();
  await page.getByRole('button', { name: 'Confirm' }).click();
  await shows(page, 'There are no tokens');
  assert.ok(!(await page.evaluate<string>('document.documentElement.outerHTML')).includes(accessToken));
});

test('a pending consent is given by keyboard alone', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'app',
    redirect_uri: callback,
    state: 's',
    code_challenge: createHash('sha256').update('v'.repeat(43)).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const headers = { Accept: 'application/json' };
  await double.as('ann', { scheme: 'basic' }).fetch(`/oauth2/authorize?${query}`, { headers });
  await page.reload();
  await shows(page, 'Decide');
  await pressUntilFocused(page, 'Decide');
  await page.keyboard.press('Enter');
  await pressUntilFocused(page, 'Allow');
  await page.keyboard.press('Enter');
  await shows(page, 'Consent was given.');
  await page.getByLabel('Live only').click();
  await shows(page, 'OAuth 2.0 code');
});

test('names are shown as text, and the view is accessible in both colour schemes', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  double.auth.setUser('x', { secret: 'another' });
  double.auth.addKey('x', hostile, { algorithm: 'hmac-sha256', secret: 'shared' });
  await double.oauth2.issueToken({ user: 'ann', refresh: true });
  await page.reload();
  await shows(page, 'onerror');
  assert.equal(await page.locator('main img').count(), 0);
  assert.match(await page.title(), /^Access/);
  await assertAccessible(page, 'access');
  await page.getByRole('button', { name: 'Remove x' }).click();
  await assertAccessible(page, 'access, with a question');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Rotate secret of x' }).click();
  await page.getByRole('button', { name: 'Confirm' }).click();
  await shows(page, 'x has a new secret.');
  await assertAccessible(page, 'access, after a change');
});

test('a change of the token filter after the server has stopped reports an error', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  await double.close();
  await page.getByLabel('Live only').click();
  await until(page, `document.querySelector('#notices').innerText.includes('The server cannot be reached.')`);
  await until(page, `document.querySelector('.connection').textContent.startsWith('Disconnected')`);
});
