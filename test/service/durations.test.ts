import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signRequest } from '../../src/client/index.ts';
import { createManualClock, createService, openDurableStore, type ServiceOptions } from '../../src/index.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const start = Date.UTC(2026, 10, 22, 12);
const credentials = { user: 'ann', secret: 'the secret of ann' };
const url = 'http://127.0.0.1/articles/1';

/** The status of a DELETE of nothing that was signed so many seconds before the time of the service. */
async function statusAfter(seconds: number, options: ServiceOptions): Promise<number> {
  const headers = signRequest({ method: 'DELETE', url, date: start, ...credentials });
  const clock = createManualClock(start + seconds * 1000);
  const users = { ann: { secret: credentials.secret } };
  const service = createService({ users, clock, ...options });
  return (await service.fetch(url, { method: 'DELETE', headers })).status;
}

test('the window of signed dates accepts a number of seconds or text', async () => {
  for (const window of [120, '2m', '120s']) {
    assert.equal(await statusAfter(119, { window }), 404, String(window));
    assert.equal(await statusAfter(121, { window }), 401, String(window));
  }
});

test('requests signed before notBefore are refused, whether it is a number, a date or text', async () => {
  for (const [notBefore, status] of [
    [start, 404],
    [start + 1000, 401],
    [new Date(start), 404],
    ['2026-11-22T12:00:01Z', 401],
  ] as const)
    assert.equal(await statusAfter(1, { notBefore }), status, String(notBefore));
});

test('the window of a data directory accepts a number of seconds or text', async (context) => {
  for (const window of [600, '10m']) {
    await using store = await openDurableStore(temporaryDirectory(context), { window });
    assert.equal(await statusAfter(1, { store }), 404);
    assert.throws(() => createService({ store, window: '11m' }), /nonces are stored for 600 s/);
  }
});

test('the window of a scheme has the same length as a number of seconds and as text', async () => {
  for (const window of [120, '2m']) {
    const schemes = { hooks: { preset: 'stripe', user: 'ann', timestamp: { window } } } as const;
    const headers = signRequest({
      url,
      method: 'GET',
      date: start,
      scheme: schemes.hooks,
      secret: 'whsec_1',
    });
    for (const [after, expected] of [
      [119_000, 404],
      [121_000, 401],
    ] as const) {
      const clock = createManualClock(new Date(start + after));
      const service = createService({ users: { ann: { secret: 'whsec_1' } }, clock, schemes });
      assert.equal((await service.fetch(url, { headers })).status, expected, `${window} ${after}`);
    }
  }
});

test('the maxAge of a preflight accepts a number of seconds or text', async () => {
  for (const maxAge of [300, '5m']) {
    const service = createService({ cors: { origins: ['https://app.example'], maxAge } });
    const headers = { Origin: 'https://app.example', 'Access-Control-Request-Method': 'GET' };
    const response = await service.fetch('/articles', { method: 'OPTIONS', headers });
    assert.equal(response.headers.get('Access-Control-Max-Age'), '300', String(maxAge));
  }
});

test('a manual clock accepts durations and times', () => {
  const clock = createManualClock('2026-11-22T12:00:00Z');
  const moved = () => [clock.now() - start, clock.steady()];
  clock.advance('11m');
  clock.advance(500);
  assert.deepEqual(moved(), [660_500, 660_500]);
  clock.advance('-1h');
  assert.deepEqual(moved(), [660_500 - 3_600_000, 660_500]);
  clock.set(new Date(start));
  assert.deepEqual(moved(), [0, 660_500]);
  assert.throws(() => clock.advance('soon'), /^RangeError: 'soon' is not a duration/);
  assert.throws(() => clock.set(NaN), /^RangeError: NaN is not a time/);
});
