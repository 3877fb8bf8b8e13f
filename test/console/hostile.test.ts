import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { startDouble } from '../../src/double/index.ts';
import type { CollectionDeclaration } from '../../src/index.ts';
import { inBrowser, type OpenedConsole, openConsole, until } from '../support/browser.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const markup = `<img src=x onerror="window.attacked=1"><script>window.attacked=1</script>"'><svg onload=window.attacked=1>`;
const bidi = '\u202egnp.exe\u2066\u200b\ufeff';

/** A collection whose content is read from everyone. */
const articles: CollectionDeclaration = {
  element: 'articles',
  item: 'article',
  fields: { title: { type: 'text' } },
  access: { read: 'anyone', write: 'anyone' },
};

/** Opens the console of a double that received these bytes. */
async function opened(t: TestContext, ...requests: readonly (string | Buffer)[]): Promise<OpenedConsole> {
  const double = await startDouble({ https: false, collections: { '/articles': articles } });
  t.after(() => double.close());
  const console = await openConsole(t, double);
  const { control } = console;
  const headers = { Authorization: `Bearer ${control.token}`, 'Content-Type': 'application/json' };
  for (const bytes of requests) {
    const body = JSON.stringify({ bytes: Buffer.from(bytes).toString('base64') });
    assert.equal((await fetch(`${control.url}/send`, { method: 'POST', headers, body })).status, 200);
  }
  await console.page.locator(`.row[data-number="${requests.length}"]`).waitFor();
  return console;
}

/** Asserts that nothing of what was received became an element or ran. */
async function assertInert({ page }: OpenedConsole): Promise<void> {
  assert.equal(await page.evaluate('window.attacked'), undefined);
  assert.equal(await page.evaluate(`document.querySelectorAll('main img, main script, main svg').length`), 0);
}

test('markup in methods, targets, fields and content is shown as text', inBrowser, async (t) => {
  const escaped = encodeURI(markup);
  const console = await opened(
    t,
    `POST /articles?${escaped} HTTP/1.1\r\nHost: a.example\r\nX-Attack: ${markup}\r\nAuthorization: Basic ${Buffer.from(`${markup}:x`).toString('base64')}\r\nContent-Type: text/html\r\nContent-Length: ${markup.length}\r\n\r\n${markup}`,
    `${markup} / HTTP/1.1\r\nHost: a.example\r\n\r\n`,
    `GET /${markup} HTTP/1.1\r\nHost: a.example\r\n\r\n`,
  );
  const { page } = console;
  for (const number of [1, 2, 3]) {
    await page.locator(`.row[data-number="${number}"]`).click();
    await until(page, `document.title.startsWith('#${number} ')`);
    await page.locator('.detail pre').first().waitFor();
    await page.locator('.tabs a').nth(1).click();
    await until(page, `location.hash.endsWith('/signature')`);
    await assertInert(console);
  }
});

test('characters that reorder text or are invisible are shown by their code', inBrowser, async (t) => {
  const content = `{"name":"${bidi}"}`;
  const { page } = await opened(
    t,
    `POST /articles HTTP/1.1\r\nHost: a.example\r\nX-Name: a\u00a0\u0085b\r\nContent-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`,
    'GET /\u0007\u001b[31m HTTP/1.1\r\nHost: a.example\r\n\r\n',
  );
  await page.locator('.row[data-number="2"]').click();
  await page.locator('.detail pre').first().waitFor();
  assert.match(await page.locator('.detail pre').first().innerText(), /U\+001B\[31m/);
  const text = await page.evaluate<string>('document.body.innerText');
  assert.doesNotMatch(text, /[\u202a-\u202e\u2066-\u2069\u200b\ufeff\u0007\u001b\u0085]/);
});

test('content that is not UTF-8 is shown with replacement characters', inBrowser, async (t) => {
  const console = await opened(
    t,
    Buffer.concat([
      Buffer.from(
        'POST /articles HTTP/1.1\r\nHost: a.example\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\n',
      ),
      Buffer.from([0xff, 0xfe, 0xc3, 0x28]),
    ]),
  );
  await console.page.locator('.row[data-number="1"]').click();
  await console.page.locator('.detail pre').first().waitFor();
  await assertInert(console);
});

test('a date that is not a valid time is shown as text', inBrowser, async (t) => {
  const dates = ['9'.repeat(30), '-1e400', '<b>1</b>', ''];
  const { page } = await opened(
    t,
    ...dates.map(
      (date) =>
        `GET /articles HTTP/1.1\r\nHost: a.example\r\nAuthorization: OAuth oauth_timestamp="${date}", oauth_nonce="${markup.replaceAll('"', '')}"\r\n\r\n`,
    ),
  );
  for (const number of dates.keys()) {
    await page.evaluate(`location.hash = '#/exchanges/${number + 1}/signature'`);
    await until(page, `document.querySelector('.tabs [aria-current]')?.textContent === 'Signature'`);
    await until(page, `document.title.startsWith('#${number + 1} ')`);
  }
  assert.equal(await page.evaluate('window.attacked'), undefined);
});

test('a long value is truncated, and shown piece by piece on request', inBrowser, async (t) => {
  await using double = await startDouble({ https: false });
  double.resource('/long', {
    GET: {
      access: 'anyone',
      handle: () => ({ status: 200, headers: [['X-Long', 'v'.repeat(1024 * 1024)]] }),
    },
  });
  await double.fetch('/long');
  const { page } = await openConsole(t, double, { path: '/exchanges/1' });
  await page.locator('.detail pre').first().waitFor();
  const length = `document.querySelector('.detail').innerText.length`;
  assert.ok((await page.evaluate<number>(length)) < 20_000);
  await page.getByRole('button', { name: /show more/ }).click();
  assert.ok((await page.evaluate<number>(length)) > 60_000);
  await page.getByRole('button', { name: /show more/ }).waitFor();
});

test('the curl command of a hostile request sends it unchanged', inBrowser, async (t) => {
  const file = join(temporaryDirectory(), 'private');
  writeFileSync(file, 'private');
  const contents = [`@${file}`, '-K/dev/null', '\u0003\u001b[201~\nid\n', `'; id; '\\'$(id)`, '=id'];
  const targets = [
    'http://attacker.example:1/articles?a=[1-2]&b={c,d}',
    '//attacker.example/../articles?%00',
  ];
  const sent = [
    ...contents.map((content) => ({ content, target: '/articles' })),
    ...targets.map((target) => ({ content: '', target })),
  ];
  const hostile = `X-At: @${file}\r\nX-Shell: $(id) \`id\` "'; id #\r\nX-Empty:\r\nContent-Type: application/json\r\n`;
  const { page, double } = await opened(
    t,
    ...sent.map(
      ({ content, target }) =>
        `POST ${target} HTTP/1.1\r\nHost: a.example\r\n${hostile}Content-Length: ${content.length}\r\n\r\n${content}`,
    ),
  );
  await page.evaluate(`navigator.clipboard.writeText = async (text) => { window.copied = text }`);
  for (const [at, { content, target }] of sent.entries()) {
    // The buttons of the exchange shown before stay until the next one has loaded.
    await page.evaluate(`for (const each of document.querySelectorAll('.detail button')) each.remove();
      window.copied = undefined;
      location.hash = '#/exchanges/${at + 1}'`);
    await until(page, `document.title.startsWith('#${at + 1} ')`);
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await until(page, 'window.copied !== undefined');
    const command = await page.evaluate<string>('window.copied');
    await promisify(execFile)('bash', ['-c', command]);
    assert.equal(double.journal.length, sent.length + at + 1, command);
    const { request } = double.journal.last() ?? {};
    assert.equal(request?.target, target);
    assert.equal(request.body, content);
    const fields = request.headers.filter(([name]) => /^x-/i.test(name));
    assert.deepEqual(
      fields,
      double.journal.all()[at]?.request?.headers.filter(([name]) => /^x-/i.test(name)),
    );
  }
});
