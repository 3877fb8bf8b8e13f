// Claims nonces in the directory given, with several claimers at once, and prints each as soon as it is stored, until it
// is killed.
import { systemClock } from '../../../src/clock.ts';
import { openNonces } from '../../../src/store/nonces/file.ts';

const [directory = '', round = ''] = process.argv.slice(2);
const window = 600_000;
const nonces = await openNonces({
  directory,
  durability: 'fsync',
  window,
  max: 1e6,
  key: new Uint8Array(16),
  clock: systemClock,
  onWarning: (loss) => process.stderr.write(`${loss}\n`),
});
await nonces.begin();

async function claimOn(claimer: number): Promise<never> {
  for (let count = 0; ; count += 1) {
    const now = systemClock.now();
    const nonce = `${round}.${claimer}.${count}`;
    await nonces.claim('demo', nonce, now + window, now);
    process.stdout.write(`${nonce} ${now + window}\n`); // a pipe takes it at once
  }
}

await Promise.all(Array.from({ length: 8 }, (_, claimer) => claimOn(claimer)));
