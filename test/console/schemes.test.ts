import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { signRequest } from '../../src/client/index.ts';
import { startDouble } from '../../src/double/index.ts';
import { signAws4 } from '../../src/schemes/aws4/sign.ts';
import { assertAccessible, inBrowser, openConsole, until } from '../support/browser.ts';
import { signMessage } from '../support/schemes/sign-message.ts';
import { tally } from '../support/schemes/tally.ts';

const [secret, awsSecret] = ['the-secret-of-ann', 'the-aws-secret-of-ann'];

test('a query that was not signed is explained in the same view for each scheme', inBrowser, async (t) => {
  const double = await startDouble({
    users: { ann: { secret, keys: { 'aws-key': { algorithm: 'aws4', secret: awsSecret } } } },
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
  t.after(() => double.close());
  const time = double.clock.now();
  const seconds = String(Math.floor(time / 1000));
  const host = new URL(double.url).host;
  const declared = createHmac('sha256', secret).update(`${seconds}.GET./articles`).digest('hex');
  const aws = signAws4(
    { method: 'GET', target: '/articles', fields: [['Host', host]] },
    {
      accessKeyId: 'aws-key',
      secret: awsSecret,
      region: 'eu-central-1',
      service: 'execute-api',
      time,
      normalizePath: true,
      doubleEncode: true,
    },
  );
  const message = signMessage(
    { method: 'GET', url: `${double.url}/articles` },
    { key: { id: 'ann', algorithm: 'hmac-sha256', secret }, created: Number(seconds) },
  );
  const ofTally = signRequest({
    method: 'GET',
    url: `${double.url}/articles`,
    scheme: tally,
    user: 'ann',
    secret,
    clock: double.clock,
  });
  const requests: [scheme: string, headers: Record<string, string>, part: string][] = [
    ['partner', { 'X-Api-Key': 'ann', 'X-Timestamp': seconds, 'X-Signature': declared }, 'target'],
    ['aws4', Object.fromEntries(aws.fields), 'canonical query'],
    ['message-signatures', { ...message }, '@query'],
    ['tally', ofTally, 'query'],
  ];
  for (const [, headers] of requests) await double.fetch('/articles?limit=2', { headers });
  const { page } = await openConsole(t, double);
  for (const [index, [scheme, , part]] of requests.entries()) {
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
