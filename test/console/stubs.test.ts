import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDouble } from '../../src/double/index.ts';
import { activate, assertAccessible, inBrowser, openConsole, until } from '../support/browser.ts';
import { shows } from './interaction.ts';

test('stubs are added, counted and removed', inBrowser, async (t) => {
  await using double = await startDouble({ https: false });
  const { page } = await openConsole(t, double, { path: '/stubs' });
  await shows(page, 'There are no stubs.');
  await shows(page, 'This server has no document of a partner.');
  await page.getByLabel('Path').fill('/v1/orders/{id}');
  await page.getByLabel('Status').fill('202');
  await page.getByLabel('Access', { exact: true }).selectOption('anyone');
  await page.getByLabel('Times').fill('2');
  await page.getByLabel('Body').fill('{"id": 7}');
  await activate(page, 'Add stub');
  await shows(page, 'GET /v1/orders/{id}');
  const response = await double.fetch('/v1/orders/7');
  assert.equal(response.status, 202);
  assert.deepEqual(await response.json(), { id: 7 });
  double.stub({ path: '/v1/plain', query: { page: '<b>1</b>' } }, { body: 'plain' }, { access: 'anyone' });
  await page.reload();
  await shows(page, 'query page: <b>1</b>');
  const cells = `[...document.querySelector('tbody tr').cells].slice(0, 4).map((cell) => cell.innerText).join('|')`;
  await until(page, `${cells} === 'Stub 1|GET /v1/orders/{id}|1|1'`, cells);
  await assertAccessible(page, 'stubs');
  await page.getByRole('button', { name: 'Remove stub 1' }).click();
  await page.getByRole('button', { name: 'Confirm' }).click();
  await shows(page, 'Stub 1', false);
  assert.equal((await double.fetch('/v1/orders/7')).status, 404);
  await page.getByRole('button', { name: 'Remove all stubs' }).click();
  await page.getByRole('button', { name: 'Confirm' }).click();
  await shows(page, 'There are no stubs.');
});

test('the form of a stub accepts parameters, header fields and schemes', inBrowser, async (t) => {
  await using double = await startDouble({
    https: false,
    users: { ann: { secret: 'the-secret-of-ann' } },
    schemes: {
      partner: { message: '{method}{target}', signature: { field: 'X-Sig' }, user: { field: 'X-User' } },
    },
  });
  const { page } = await openConsole(t, double, { path: '/stubs' });
  await page.getByLabel('Path').fill('/v1/orders');
  await page.getByLabel('Schemes').fill('hmac');
  await page.getByLabel('Query parameters').fill('state=open');
  await page.getByLabel('Request header fields').fill('X-Tenant blue');
  await page.getByLabel('Response header fields').fill('X-Request-Cost: 3\nX-Note: a: b');
  await activate(page, 'Add stub');
  const reason = '“X-Tenant blue” is not a header field such as name:value.';
  const shown = 'document.body.innerText';
  await until(page, `${shown}.includes(${JSON.stringify(reason)})`, shown);
  assert.deepEqual(double.journal.length, 0);
  await page.getByLabel('Request header fields').fill('X-Tenant: blue');
  await activate(page, 'Add stub');
  await shows(page, 'query state: open');
  const ann = double.as('ann');
  const headers = { 'X-Tenant': 'blue' };
  const response = await ann.fetch('/v1/orders?state=open', { headers });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('X-Request-Cost'), '3');
  assert.equal(response.headers.get('X-Note'), 'a: b');
  assert.equal((await ann.fetch('/v1/orders?state=closed', { headers })).status, 404);
  assert.equal((await ann.fetch('/v1/orders?state=open')).status, 404);
  assert.equal(
    (await double.as('ann', { scheme: 'partner' }).fetch('/v1/orders?state=open', { headers })).status,
    401,
  );
});

test('the coverage of a partner’s document shows what was used and what was not', inBrowser, async (t) => {
  const text = {
    '200': { description: 'ok', content: { 'text/plain': { schema: { type: 'string' }, example: 'ok' } } },
  };
  const parameters = [{ name: 'limit', in: 'query', schema: { type: 'integer' } }];
  const document = {
    openapi: '3.1.0',
    paths: {
      '/orders': { get: { operationId: 'listOrders', parameters, responses: text } },
      '/health': { get: { operationId: 'health', responses: text } },
    },
  };
  await using double = await startDouble({ https: false, partner: document });
  await double.fetch('/orders');
  const { page } = await openConsole(t, double, { path: '/stubs' });
  await shows(page, '1 of 2 operations');
  const rows = `[...document.querySelectorAll('[aria-label="Table of operations"] tbody tr')]
    .map((row) => [...row.cells].map((cell) => cell.innerText.replace(/\\s+/g, ' ')).join('|')).join(' / ')`;
  await until(
    page,
    `${rows} === 'listOrders GET /orders|1|200 × 1|query.limit / health GET /health|none||200'`,
    rows,
  );
  await assertAccessible(page, 'coverage');
});
