import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { entriesJson, formatHar } from '../../../src/double/control/operations/journal.ts';
import { startDouble } from '../../../src/double/index.ts';
import { createRedaction } from '../../../src/double/journal/redaction.ts';
import { viewAuthentication } from '../../../src/double/journal/view.ts';
import { AuthenticationTrace } from '../../../src/schemes/trace.ts';
import { openConsole } from '../../support/double/control-client.ts';

const ann = { secret: 'the-secret-of-ann' };

function listNumbers({ entries }: { entries: readonly { readonly number: number }[] }): number[] {
  return entries.map(({ number }) => number);
}

test('summaries are listed in pages, backwards and forwards', async () => {
  await using double = await startDouble({ https: false, journal: { entries: 5 } });
  const control = await openConsole(double);
  assert.deepEqual(await control.send('POST', '/journal/list', {}), { entries: [] });
  for (let count = 0; count < 7; count += 1) await double.fetch('/articles');
  const latest = await control.send('POST', '/journal/list', { limit: 2 });
  assert.deepEqual([listNumbers(latest), latest.first, latest.last], [[6, 7], 3, 7]);
  assert.deepEqual(listNumbers(await control.send('POST', '/journal/list', { before: 6, limit: 2 })), [4, 5]);
  assert.deepEqual(listNumbers(await control.send('POST', '/journal/list', { after: 3, limit: 2 })), [4, 5]);
  assert.deepEqual(listNumbers(await control.send('POST', '/journal/list', { after: 7 })), []);
});

test('a list waits for the next entry if there is none, also for the first one after a reset', async () => {
  await using double = await startDouble({ https: false });
  const control = await openConsole(double);
  await double.fetch('/articles');
  const next = control.send('POST', '/journal/list', { after: 1, wait: 60_000 });
  await control.send('GET', '/health');
  await double.fetch('/articles');
  assert.deepEqual(listNumbers(await next), [2]);
  const afterReset = control.send('POST', '/journal/list', { after: 2, wait: 60_000 });
  await control.send('GET', '/health');
  double.reset();
  await double.fetch('/articles');
  assert.deepEqual(await afterReset, { entries: [], first: 1, last: 1 });
  assert.deepEqual(listNumbers(await control.send('POST', '/journal/list', { after: 1, wait: 1 })), []);
});

test('a summary contains the columns of the table, and the text of the entry, without secrets', async () => {
  await using double = await startDouble({ https: false, users: { ann }, strictQuery: false });
  const control = await openConsole(double);
  await double.as('ann').fetch('/articles?password=hidden', { method: 'GET' });
  await double.as('ann', { secret: 'another-secret' }).fetch(`/articles?q=${'x'.repeat(3000)}`);
  const { entries } = await control.send('POST', '/journal/list', {});
  const [good, bad] = entries;
  const columns = 'aborted duration fault method number scheme status step target text time user';
  assert.equal(Object.keys(good).sort().join(' '), columns);
  assert.equal(good.target, '/articles?password=[redacted]');
  assert.deepEqual([good.user, good.scheme, good.status, good.step], ['ann', 'hmac', 200, 16]);
  assert.deepEqual([bad.user, bad.scheme, bad.problem, bad.step], ['ann', 'hmac', 'credentials-refused', 7]);
  assert.equal(bad.target.length, 2000);
  assert.deepEqual([good.text, bad.text], double.journal.all().map(String));
});

test('a summary has the usual cause of a refusal, and parts of a message are shown without secrets', async () => {
  await using double = await startDouble({ https: false, users: { ann } });
  const headers = await double.as('ann').signRequest({ url: '/articles' });
  await double.fetch('/articles?limit=1', { headers });
  const { entries } = await (await openConsole(double)).send('POST', '/journal/list', {});
  assert.equal(entries[0].hint, 'the query was left out');
  const trace = new AuthenticationTrace();
  const part = { name: 'path', expected: `/${ann.secret}`, signed: `/a/${ann.secret}` };
  trace.fail('signature', { parts: [part], differs: 'path' });
  const redaction = createRedaction(() => [ann.secret]);
  assert.deepEqual(viewAuthentication(trace, undefined, redaction).parts, [
    { name: 'path', expected: '/[redacted]', signed: '/a/[redacted]' },
  ]);
});

test('an entry has the date and nonce of its signature, and the first use of the nonce', async () => {
  await using double = await startDouble({ https: false, users: { ann } });
  double.clock.freeze('2026-03-01T12:00:00Z');
  const control = await openConsole(double);
  const headers = await double
    .as('ann', { nonce: 'once', date: '2026-03-01T11:59:00Z' })
    .signRequest({ url: '/articles' });
  for (let count = 0; count < 2; count += 1) await double.fetch('/articles', { headers });
  const first = await control.send('GET', '/journal/1');
  const second = await control.send('GET', '/journal/2');
  assert.deepEqual(first.presented, {
    date: { text: '01 mar 2026 11:59:00', time: Date.UTC(2026, 2, 1, 11, 59) },
    nonce: 'once',
    window: 600,
  });
  assert.equal(second.problem.type, 'nonce-replayed');
  assert.deepEqual(second.presented.earlier, { number: 1, time: Date.UTC(2026, 2, 1, 12) });
  assert.ok(!JSON.stringify(second).includes(headers['Authentication'] ?? headers['Authorization'] ?? '?'));
});

test('the window of an entry is that of its scheme', async () => {
  await using double = await startDouble({
    now: '2026-03-01T12:00:00Z',
    users: { ann },
    window: 30,
    consumers: { printer: { secret: 'the-secret-of-the-printer' } },
    schemes: {
      partner: {
        message: '{timestamp}.{target}',
        signature: { field: 'X-Signature', format: '{signature}' },
        user: { field: 'X-Api-Key' },
        timestamp: { field: 'X-Timestamp', window: 120 },
      },
      'message-signatures': { window: 90 },
    },
  });
  const control = await openConsole(double);
  const time = Math.floor(double.clock.now() / 1000);
  await double.fetch('/articles');
  for (const scheme of ['hmac', 'oauth1', 'partner', 'message-signatures'] as const)
    await double.as('ann', { scheme }).fetch('/articles');
  const presented = [];
  for (const { number } of double.journal)
    presented.push((await control.send('GET', `/journal/${number}`)).presented);
  assert.deepEqual(
    presented.map(({ window }) => window),
    [undefined, 30, 300, 120, 90],
  );
  assert.deepEqual(presented[3].date, { text: String(time), time: time * 1000 });
  assert.equal(presented[4].date.time, time * 1000);
  assert.equal(typeof presented[4].nonce, 'string');
  assert.ok(Math.abs(presented[2].date.time / 1000 - time) < 60);
});

test('a request for an entry that is not in the journal returns 404', async () => {
  await using double = await startDouble({ https: false });
  const control = await openConsole(double);
  for (const number of ['1', '0', 'x', '1.0', '%31%30'])
    await control.refused(404, 'GET', `/journal/${number}`);
});

test('the journal is exported as HAR 1.2, without secrets', async () => {
  await using double = await startDouble({ users: { ann } });
  double.clock.freeze('2026-03-01T12:00:00Z');
  const control = await openConsole(double);
  const body = JSON.stringify({ title: 'Tea', price: { value: '1.00', currency: 'EUR' } });
  await double
    .as('ann')
    .fetch('/articles?a=b', { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
  await control.send('POST', '/send', { text: 'nonsense\r\n\r\n' });
  const { log } = await control.send('GET', '/journal.har');
  assert.equal(log.version, '1.2');
  assert.equal(log.creator.name, 'Countersign');
  const [entry, unparsed] = log.entries;
  assert.equal(entry.startedDateTime, '2026-03-01T12:00:00.000Z');
  assert.ok(entry.request.url.endsWith('/articles?a=b'), entry.request.url);
  assert.deepEqual(entry.request.queryString, [{ name: 'a', value: 'b' }]);
  assert.deepEqual(entry.request.postData, { mimeType: 'application/json', text: body });
  assert.equal(entry.response.status, 201);
  assert.equal(unparsed.request.method, '-');
  assert.equal(unparsed.response.status, 400);
  for (const { request, response, timings } of log.entries) {
    // The members that HAR 1.2 requires.
    for (const member of 'method url httpVersion cookies headers queryString headersSize bodySize'.split(' '))
      assert.ok(member in request, member);
    for (const member of 'status statusText httpVersion cookies headers content redirectURL'.split(' '))
      assert.ok(member in response, member);
    assert.deepEqual(Object.keys(timings), ['send', 'wait', 'receive']);
  }
  assert.ok(!JSON.stringify(log).includes(ann.secret));
});

const origins = { url: 'http://127.0.0.1', secureUrl: undefined };

/** Returns the characters that are encoded while the journal with a request of this size is shown. */
async function encodedFor(t: TestContext, size: number): Promise<number> {
  await using double = await startDouble({ https: false, users: { ann, bob: {} } });
  const headers = { 'X-Amz-Security-Token': 't'.repeat(size) };
  await double.fetch(`/articles?${'+a=b&'.repeat(size / 5)}`, { headers });
  const encode = t.mock.method(globalThis, 'encodeURIComponent');
  const [entry] = double.journal.all();
  JSON.stringify(entry);
  encode.mock.restore();
  return encode.mock.calls.reduce((sum, { arguments: [text] }) => sum + String(text).length, 0);
}

test('the work to redact an entry grows in proportion to its size', async (t) => {
  const [little, much] = [await encodedFor(t, 500), await encodedFor(t, 2000)];
  assert.ok(much <= 4 * little, `${little} characters, then ${much}`);
  assert.ok(much < 20_000, `${much} characters`);
});

test('an export of a long journal yields to other work between its slices', async () => {
  await using double = await startDouble({ https: false });
  for (let count = 0; count < 40; count += 1) await double.fetch(`/articles?${'a'.repeat(7000)}`);
  const entries = double.journal.all();
  for (const write of [() => entriesJson(entries), () => formatHar(entries, origins, '1')]) {
    let turns = 0;
    let pending = setImmediate(function count() {
      turns += 1;
      pending = setImmediate(count);
    });
    await write();
    clearImmediate(pending);
    assert.ok(turns >= 4, `${turns} turns`);
  }
});

test('an export reads each part of an entry once', async () => {
  await using double = await startDouble({ https: false });
  await double.fetch('/articles');
  const [entry] = double.journal.all();
  assert.ok(entry);
  const reads: string[] = [];
  const counted = new Proxy(entry, {
    get(target, name) {
      reads.push(String(name));
      return Reflect.get(target, name, target);
    },
  });
  await formatHar([counted], origins, '1');
  assert.deepEqual(reads, [...new Set(reads)]);
});
