/** Holds a number of nonces in its own process. The order `claim` returns the time to claim one more. */
import { randomBytes } from 'node:crypto';
import { createNonces } from '../../src/store/nonces/nonces.ts';
import type { Answer } from '../measure/parts/part.ts';
import { timed } from '../measure/timing.ts';

const window = 600_000;
const start = Math.ceil(Date.UTC(2024, 1, 29) / window) * window;

/**
 * The minimum total number of nonces in all tables, so that a round of claims is long enough even with small tables.
 */
const together = 200_000;

/** Returns rounds that each add a tenth of the size to each table. */
export function part(_what = '', size = ''): Answer {
  const count = Number(size);
  const tables = Array.from({ length: Math.ceil(together / count) }, () => filled(count));
  const each = Math.min(Math.ceil(count / 10), together);
  return () =>
    timed(() => {
      for (const claim of tables) for (let index = 0; index < each; index += 1) claim();
    }, tables.length * each);
}

/** Claims `count` nonces over half a window. Returns a function that claims one more. */
function filled(count: number): () => void {
  let time = 0;
  let made = 0;
  const nonces = createNonces({
    bucketSpan: window / 4,
    max: 2 ** 31,
    maxPerUser: 2 ** 31,
    key: randomBytes(16),
    monotonic: () => time,
  });
  const claim = (): void => {
    made += 1;
    const now = start + time;
    if (nonces.claim('demo', String(made).padStart(16, '0'), now + window, now) !== 'fresh') {
      throw new Error('a fresh nonce was taken for a replay');
    }
  };
  for (let index = 0; index < count; index += 1) {
    time = Math.floor(((index / count) * window) / 2);
    claim();
  }
  return claim;
}
