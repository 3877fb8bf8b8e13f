import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createManualClock } from '../../../src/clock.ts';
import { openNonces } from '../../../src/store/nonces/file.ts';
import { start } from '../../support/service/open-service.ts';
import { openTestServer, outcome, signed } from '../../support/service/test-server.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { each } from '../passwords.ts';

const minute = 60_000;
const replayed = '401 nonce-replayed';
const lost = '503 nonces-lost';
const outOfWindow = '401 date-out-of-window';

/** A server on a directory, started anew at each time (ms) of its clock. */
async function startedAnew(context: TestContext) {
  const directory = temporaryDirectory(context);
  return async (now: number, bytes: readonly string[]): Promise<string[]> => {
    const clock = createManualClock(now);
    const nonces = await openNonces({
      directory,
      durability: 'fsync',
      window: 10 * minute,
      max: 1000,
      key: new Uint8Array(16),
      clock,
      onWarning: (loss) => assert.fail(loss),
    });
    await nonces.begin();
    const server = await openTestServer({ clock, nonces });
    const outcomes: string[] = [];
    for (const each of bytes) outcomes.push(await outcome(server.port, each));
    await server.close();
    await nonces.close();
    return outcomes;
  };
}

const dated = (ms: number): string => new Date(start + ms).toUTCString();

/** When a request was dated, when a server is started again, and what then comes of it (ms from the first start). */
const rows: readonly (readonly [name: string, date: number, starts: readonly number[], outcome: string])[] = [
  ['at once', 0, [0], replayed],
  ['9 minutes later', 0, [9 * minute], replayed],
  ['at the last second of the window', 0, [10 * minute + 999], replayed],
  ['a second after the window', 0, [10 * minute + 1000], outOfWindow],
  ['19 minutes later, dated 10 minutes ahead', 10 * minute, [19 * minute], replayed],
  ['19 minutes and 59 seconds later, dated 10 minutes ahead', 10 * minute, [20 * minute - 1000], replayed],
  ['21 minutes later, dated 10 minutes ahead', 10 * minute, [21 * minute], outOfWindow],
  [
    '19 minutes later, dated 10 minutes ahead, after starts at 5, 11 and 15',
    10 * minute,
    [5, 11, 15, 19].map((at) => at * minute),
    replayed,
  ],
  ['with the clock an hour on, and back', 0, [60 * minute, 0], lost],
  ['with the clock a year on, and back', 0, [525_600 * minute, minute], lost],
  ['with the clock 5 minutes back', 0, [-5 * minute], replayed],
  ['with the clock an hour back, on, and where it was', 0, [-60 * minute, 60 * minute, 0], lost],
];

each(
  rows.map(([name, ...rest]) => [`started again ${name}: ${rest[2]}`, ...rest] as const),
  async (context, [, date, starts, expected]) => {
    const at = await startedAnew(context);
    const bytes = signed({ nonce: 'n', date: dated(date) });
    assert.deepEqual(await at(start, [bytes, bytes]), ['200', replayed]);
    let outcomes: string[] = [];
    for (const [number, time] of starts.entries()) {
      // Another request, so that each start has something to keep.
      const other = signed({ nonce: `other-${number}`, date: dated(time) });
      const [first = '', ...more] = await at(start + time, [other, bytes]);
      assert.ok(first === '200' || first === lost, first);
      outcomes = more;
    }
    assert.deepEqual(outcomes, [expected]);
  },
);
