/** So many nonces that are remembered, in a process of their own; the order `claim` gives the time that one more takes. */
import { randomBytes } from 'node:crypto';
import { createNonces } from '../../src/store/nonces/nonces.ts';
import type { Answer } from '../measure/parts/part.ts';
import { timed } from '../measure/timing.ts';

const window = 600_000;
const start = Math.ceil(Date.UTC(2024, 1, 29) / window) * window;

/** So many nonces together at least, so that a round of claims is long enough where each table is small. */
const together = 200_000;

/** A round adds a tenth of the size to each table. */
export function part(_what = '', size = ''): Answer {
  const count = Number(size);
  const tables = Array.from({ length: Math.ceil(together / count) }, () => filled(count));
  const each = Math.min(Math.ceil(count / 10), together);
  return () =>
    timed(() => {
      for (const claim of tables) for (let index = 0; index < each; index += 1) claim();
    }, tables.length * each);
}

/** So many nonces over half a window; gives what claims one more. */
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
