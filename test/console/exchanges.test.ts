import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
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
import { long } from '../support/store/thoroughness.ts';

const users = { ann: { secret: 'the-secret-of-ann' }, bob: { secret: 'the-secret-of-bob' } };

/** Starts a double with six exchanges, and opens its console. */
async function opened(t: TestContext, options: DoubleOptions = {}): Promise<OpenedConsole> {
  const double = await startDouble({ https: false, users, ...options });
  t.after(() => double.close());
  await double.fetch('/articles');
  await double.fetch('/articles/17');
  await double.as('ann').fetch('/articles?limit=3');
  // A mistake that is found soon: the search for it takes most of a second if the secret is wrong.
  const headers = await double.as('bob').signRequest({ url: '/articles', method: 'POST' });
  await double.fetch('/articles', { headers });
  await double.fetch('/articles', { method: 'DELETE' });
  await double.fetch('/articles', { method: 'POST', body: '{}' });
  return openConsole(t, double);
}

/** Waits until the table shows these numbers, from its top. */
async function shows(page: Page, numbers: readonly number[]): Promise<void> {
  const shown = `[...document.querySelectorAll('.rows .row')]
    .sort((one, other) => one.ariaRowIndex - other.ariaRowIndex).map((row) => row.dataset.number).join()`;
  await until(page, `${shown} === '${numbers.join()}'`, shown);
}

const all = [6, 5, 4, 3, 2, 1];

test('exchanges are listed with their details, the latest first', inBrowser, async (t) => {
  const { page } = await opened(t);
  await shows(page, all);
  const row = page.locator('.row[data-number="4"]');
  const cells = Object.fromEntries(
    await Promise.all(
      ['number', 'method', 'target', 'user', 'scheme', 'status', 'step', 'problem'].map(async (name) => [
        name,
        await row.locator(`.${name}`).innerText(),
      ]),
    ),
  );
  assert.deepEqual(cells, {
    number: '4',
    method: 'GET',
    target: '/articles',
    user: 'bob',
    scheme: 'hmac',
    status: '401',
    step: '7',
    problem: 'POST was signed, but GET arrived credentials-refused',
  });
  assert.match(await row.locator('.time').innerText(), /^\d\d:\d\d:\d\d\.\d{3}$/);
  assert.match(await row.locator('.duration').innerText(), /\d (?:ms|s)$/);
});

test('a row shows the likely cause before the problem, and is found by it', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  const headers = await double.as('ann').signRequest({ url: '/articles' });
  await double.fetch('/articles?limit=3', { headers });
  await shows(page, [7, ...all]);
  const cell = page.locator('.row[data-number="7"] .problem');
  assert.match(await cell.innerText(), /^the query was left out\s*credentials-refused$/);
  await page.getByLabel('Search').fill('query was left');
  await shows(page, [7]);
  // With an exchange open, the table is narrower. The cause is still shown as a whole.
  await page.getByLabel('Search').fill('');
  await page.locator('.row[data-number="7"] .target').click();
  await page.locator('.detail h2').waitFor();
  const [edge, end] = ['.row[data-number="7"] .problem', '.row[data-number="7"] .problem strong'].map(
    (selector) => `document.querySelector('${selector}').getBoundingClientRect().right`,
  );
  assert.equal(await page.evaluate(`${end} <= ${edge}`), true);
});

test('an empty table shows the reason directly under its headings', inBrowser, async (t) => {
  const { page } = await opened(t);
  await shows(page, all);
  const gap = `document.querySelector('.list > .empty').getBoundingClientRect().top
    - document.querySelector('.grid .head').getBoundingClientRect().bottom`;
  await page.getByLabel('Search').fill('nothing at all');
  await page.getByRole('main').locator('text=No exchange matches the filters.').waitFor();
  assert.ok(Math.abs(await page.evaluate<number>(gap)) < 4);
  await page.getByRole('button', { name: 'Reset the filters' }).click();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByRole('main').locator('text=The table was cleared.').waitFor();
});

test('the token is removed from the address, and the session survives a reload', inBrowser, async (t) => {
  const { page, control } = await opened(t);
  await shows(page, all);
  assert.equal(page.url(), `${control.url}/#/exchanges`);
  await page.reload();
  await shows(page, all);
});

test('an exchange appears when the server has responded', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  await shows(page, all);
  await double.fetch('/articles');
  await shows(page, [7, ...all]);
  await Promise.all([1, 2, 3].map(() => double.fetch('/articles')));
  await shows(page, [10, 9, 8, 7, ...all]);
});

test('filters by method, path, user, status, problem and text are combined', inBrowser, async (t) => {
  const { page } = await opened(t);
  await shows(page, all);
  await page.getByLabel('Method').selectOption('GET');
  await shows(page, [4, 3, 2, 1]);
  await page.getByLabel('Status').selectOption('4');
  await shows(page, [4, 2]);
  await page.getByLabel('Path').fill('/articles/{id}');
  await shows(page, [2]);
  await page.getByLabel('Search').fill('nothing at all');
  await shows(page, []);
  await page.getByRole('button', { name: 'Reset the filters' }).click();
  await shows(page, all);
  await page.getByLabel('User').selectOption('bob');
  await shows(page, [4]);
  await page.getByLabel('User').selectOption('');
  await page.getByLabel('Problem').selectOption('method-not-allowed');
  await shows(page, [5]);
  await page.getByLabel('Problem').selectOption('');
  await page.getByLabel('Search').fill('LIMIT=3');
  await shows(page, [3]);
  assert.equal(await page.locator('.count').innerText(), '1 of 6 exchanges');
});

test('a paused table does not change until it is resumed', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  await shows(page, all);
  await page.getByRole('button', { name: 'Pause' }).click();
  await double.fetch('/articles');
  await until(page, `document.querySelector('.count')?.textContent.includes('1 new')`);
  await shows(page, all);
  await page.getByRole('button', { name: 'Resume' }).click();
  await shows(page, [7, ...all]);
});

test('a cleared table shows only pinned and new exchanges of the journal', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  await shows(page, all);
  await page.getByRole('button', { name: 'Pin #2 to the top' }).click();
  await shows(page, [2, 6, 5, 4, 3, 1]);
  await page.getByRole('button', { name: 'Clear' }).click();
  await shows(page, [2]);
  await double.fetch('/articles');
  await shows(page, [2, 7]);
  assert.equal(double.journal.length, 7);
  await page.getByRole('button', { name: 'Unpin #2' }).click();
  await shows(page, [7]);
});

test('an exchange stays pinned while another view is open', inBrowser, async (t) => {
  const { page } = await opened(t);
  await page.getByRole('button', { name: 'Pin #2 to the top' }).click();
  await page.getByRole('link', { name: 'Send', exact: true }).click();
  await page.getByRole('link', { name: 'Exchanges', exact: true }).click();
  await shows(page, [2, 6, 5, 4, 3, 1]);
});

test('the journal is deleted on a second click only', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  await shows(page, all);
  await page.locator('.menu summary').click();
  await page.getByRole('button', { name: 'Delete all entries…' }).click();
  assert.equal(double.journal.length, 6);
  await page.getByRole('button', { name: 'Delete them for everyone?' }).click();
  await page.locator('.notice').waitFor();
  assert.equal(double.journal.length, 0);
  await shows(page, []);
  await double.fetch('/articles');
  await shows(page, [7]);
});

test('the journal is downloaded as JSON and as HAR', inBrowser, async (t) => {
  const { page } = await opened(t);
  await shows(page, all);
  for (const [label, name, count] of [
    ['Download as JSON', 'journal.json', (content: string): number => JSON.parse(content).entries.length],
    ['Download as HAR', 'journal.har', (content: string): number => JSON.parse(content).log.entries.length],
  ] as const) {
    const download = page.waitForEvent('download');
    await page.evaluate(`document.querySelector('.menu').open = true`);
    await page.getByRole('button', { name: label }).click();
    const file = await download;
    assert.equal(file.suggestedFilename(), name);
    assert.equal(count(readFileSync(await file.path(), 'utf8')), 6);
  }
});

test('a reset of the server empties the table, and numbers start at 1 again', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  await shows(page, all);
  double.reset();
  await double.fetch('/articles/1');
  await shows(page, [1]);
});

test('the table is used with the keyboard alone', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  await shows(page, all);
  const { keyboard } = page;
  await keyboard.press('/');
  await keyboard.type('articles');
  assert.equal(await page.getByLabel('Search').inputValue(), 'articles');
  await keyboard.press('Escape');
  await keyboard.press('ArrowDown');
  await keyboard.press('ArrowDown');
  await selects(page, 5);
  await keyboard.press('End');
  await selects(page, 1);
  await keyboard.press('Home');
  await selects(page, 6);
  await keyboard.press('p');
  await page.locator('.row[data-number="6"] .pinned').waitFor();
  await keyboard.press('PageDown');
  await selects(page, 1);
  await keyboard.press('ArrowUp');
  await keyboard.press('Enter');
  await until(page, `location.hash === '#/exchanges/2'`);
  await page.locator('.detail h2').waitFor();
  await keyboard.press('ArrowUp');
  await until(page, `location.hash === '#/exchanges/3'`);
  await keyboard.press('Escape');
  await until(page, `location.hash === '#/exchanges'`);
  await page.locator('.detail').waitFor({ state: 'hidden' });
  // All controls are reached with Tab.
  await page.getByLabel('Search').focus();
  const reached = new Set<unknown>();
  for (let count = 0; count < 12; count += 1) {
    await keyboard.press('Tab');
    reached.add(
      await page.evaluate(
        `document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent.slice(0, 20)`,
      ),
    );
  }
  for (const name of ['Method', 'Path', 'User', 'Status', 'Problem', 'Pause', 'Clear', 'Journal'])
    assert.ok(reached.has(name), `${name} is not among ${[...reached].join(', ')}`);
  assert.equal(double.journal.length, 6);
});

async function selects(page: Page, number: number): Promise<void> {
  await until(
    page,
    `document.getElementById(document.querySelector('.grid').getAttribute('aria-activedescendant'))
    ?.dataset.number === '${number}'`,
  );
}

test('without exchanges the table shows a curl command that sends a request', inBrowser, async (t) => {
  await using double = await startDouble({ https: false });
  const { page } = await openConsole(t, double);
  await page.getByRole('main').locator(`text=curl ${double.url}/`).waitFor();
  await assertAccessible(page, 'without exchanges');
  await double.fetch('/articles');
  await shows(page, [1]);
});

test('the table is accessible in both colour schemes, wide and narrow', inBrowser, async (t) => {
  const { page } = await opened(t);
  await shows(page, all);
  for (const width of [1400, 800, 360]) {
    await page.setViewportSize({ width, height: 800 });
    await assertAccessible(page, `${width} px`);
    assert.equal(
      await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
      true,
      `${width} px: the page scrolls sideways`,
    );
  }
});

test('the link of an exchange opens it, and scrolls the table to its row', inBrowser, async (t) => {
  await using double = await startDouble({ https: false, users });
  for (let count = 0; count < 60; count += 1) await double.fetch('/articles');
  const { page } = await openConsole(t, double, { path: '/exchanges/3' });
  await page.reload();
  const row = `document.querySelector('.row[data-number="3"]')?.getBoundingClientRect()`;
  await until(page, `(${row}?.bottom ?? Infinity) <= innerHeight`, row);
});

test('rows do not move when exchanges are added above them', inBrowser, async (t) => {
  const { page, double } = await opened(t);
  for (let count = 0; count < 100; count += 1) await double.fetch('/articles');
  await page.locator('.row[data-number="106"]').waitFor();
  await page.evaluate(`document.querySelector('.grid').scrollTop = 1500`);
  await page.locator('.row[data-number="50"]').waitFor();
  const top = `document.querySelector('.row[data-number="50"]').getBoundingClientRect().top`;
  const before = await page.evaluate(top);
  for (let count = 0; count < 5; count += 1) await double.fetch('/articles');
  await until(page, `document.querySelector('.count')?.textContent === '111 exchanges'`);
  assert.equal(await page.evaluate(top), before);
});

test('only visible rows of many exchanges are rendered, and all are reached', inBrowser, async (t) => {
  const many = long ? 10_000 : 1000;
  const { page, double } = await opened(t, { journal: { entries: many, bytes: 256 * 1024 * 1024 } });
  for (let count = 6; count < many; count += 1) await double.fetch(`/articles?offset=${count}`);
  await until(page, `document.querySelector('.count')?.textContent === '${many} exchanges'`);
  assert.ok((await page.locator('.rows .row').count()) < 80);
  await page.locator('.grid').focus();
  await page.keyboard.press('End');
  await selects(page, 1);
  await page.getByLabel('Search').fill('offset=77');
  const offsets = Array.from({ length: many - 6 }, (_, index) => String(index + 6));
  const found = offsets.filter((offset) => offset.startsWith('77')).length;
  await until(page, `document.querySelector('.count')?.textContent === '${found} of ${many} exchanges'`);
});
