import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type DoubleOptions, startDouble } from '../../src/double/index.ts';
import { assertAccessible, inBrowser, type OpenedConsole, openConsole, until } from '../support/browser.ts';
import { shows } from './interaction.ts';

const users = { ann: { secret: 'the-secret-of-ann' }, bob: { secret: 'the-secret-of-bob' } };
const tea = (title: string) => ({ title, price: { value: '3.50', currency: 'EUR' } });
const hostile = '<img src=x onerror="document.title=1"><script>document.title=1</script>\u202egnp';

async function opened(t: TestContext, options: DoubleOptions = {}): Promise<OpenedConsole> {
  const seed = { '/articles': [tea('Assam'), tea(hostile)], '/users/ann/financialrecords': [] };
  const double = await startDouble({ https: false, users, seed, ...options });
  t.after(() => double.close());
  const console = await openConsole(t, double, { path: '/resources' });
  await shows(console.page, '/articles/1');
  return console;
}

test('a collection is shown with its schema, items, formats and entity tags', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  for (const part of ['price @currency', 'fractionDigits 2', 'revision 1']) await shows(page, part);
  for (const type of ['application/xml', 'application/json']) {
    const reply = await double.fetch('/articles/1', { headers: { Accept: type } });
    await shows(page, String(reply.headers.get('etag')));
  }
  const json = await page.getByRole('region', { name: 'JSON of /articles/1' }).innerText();
  assert.deepEqual(JSON.parse(json).title, 'Assam');
  assert.match(
    await page.getByRole('region', { name: 'XML of /articles/1' }).innerText(),
    /<title>Assam<\/title>/,
  );
});

test('the content of an item is shown as text, with marks for invisible characters', inBrowser, async (t) => {
  const { page } = await opened(t);
  const xml = page.getByRole('region', { name: 'XML of /articles/2' });
  assert.match(await xml.innerText(), /&lt;script>|&lt;script&gt;/);
  assert.match(await xml.innerText(), /U\+202E/);
  assert.equal(await page.locator('.items img, .items script').count(), 0);
  assert.match(await page.title(), /^Resources/);
  await assertAccessible(page, 'resources');
});

test('the items of a collection with parameters are shown page by page', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  double.seed({ '/articles': Array.from({ length: 30 }, (_, at) => tea(`Tea ${at}`)) });
  await page.getByRole('button', { name: 'Show items', exact: true }).click();
  await until(page, `document.querySelectorAll('.item').length === 20`);
  await page.getByRole('button', { name: 'Show more items' }).click();
  await until(page, `document.querySelectorAll('.item').length === 32`);
  await page.getByLabel('Collection', { exact: true }).selectOption('/users/{username}/financialrecords');
  await shows(page, '/users/ann/financialrecords has no items');
  await page.getByLabel('username').fill('bob');
  await page.getByRole('button', { name: 'Show items', exact: true }).click();
  await shows(page, '/users/bob/financialrecords has no items');
});
