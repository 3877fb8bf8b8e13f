import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDouble } from '../../src/double/index.ts';
import { assertAccessible, inBrowser, openConsole, until } from '../support/browser.ts';
import { tally } from '../support/schemes/tally.ts';

test('a query that was not signed is explained in the same view for each scheme', inBrowser, async (t) => {
  await using double = await startDouble({
    users: { ann: { secret: 'the-secret-of-ann' } },
    schemes: {
      partner: {
        message: '{timestamp}.{method}.{target}',
        signature: { field: 'X-Signature', format: '{signature}' },
        user: { field: 'X-Api-Key' },
        timestamp: { field: 'X-Timestamp', window: 300 },
      },
      aws4: { region: 'eu-central-1', service: 'execute-api' },
      'message-signatures': {},
      tally,
    },
  });
  const schemes = [
    ['partner', 'target'],
    ['aws4', 'canonical query'],
    ['message-signatures', '@query'],
    ['tally', 'query'],
  ] as const;
  for (const [scheme] of schemes) {
    const headers = await double.as('ann', { scheme }).signRequest({ url: `${double.url}/articles` });
    await double.fetch('/articles?limit=2', { headers });
  }
  const { page } = await openConsole(t, double);
  for (const [index, [scheme, part]] of schemes.entries()) {
    assert.equal(double.journal.all()[index]?.auth?.scheme, scheme);
    await page.evaluate(`location.hash = '#/exchanges/${index + 1}/signature'`);
    await until(
      page,
      `document.title.startsWith('#${index + 1} ') && document.querySelector('tr.differs') !== null`,
    );
    await until(
      page,
      `document.querySelector('tr.differs th').textContent.includes(${JSON.stringify(part)})`,
      `document.querySelector('.content').innerText`,
    );
    assert.equal(await page.locator('tr.differs').count(), 1, scheme);
    assert.match(await page.locator('.verdict').innerText(), /[Qq]uery/, scheme);
    // The console reads no times in base 36.
    if (scheme === 'tally') continue;
    assert.match(
      (await page.locator('.timeline').getAttribute('aria-label')) ?? '',
      /server’s clock/,
      scheme,
    );
    await assertAccessible(page, scheme);
  }
});
