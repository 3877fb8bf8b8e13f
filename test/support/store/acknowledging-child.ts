// Writes to the store in the directory given, with several writers at once, and prints the id and the revision
// of each item as soon as it is acknowledged, until it is killed.
import { systemClock } from '../../../src/clock.ts';
import { openJournaledStore } from '../../../src/store/durable.ts';
import { recover } from '../../../src/store/recover.ts';

const [directory = '', round = ''] = process.argv.slice(2);
const store = await openJournaledStore({
  directory,
  recovered: await recover({ directory }),
  newStoreId: () => 'first',
  durability: 'fsync',
  clock: systemClock,
  onWarning: (line) => console.error(line),
  limits: { minBytes: 20_000, ratio: 1 },
});

async function write(writer: number): Promise<never> {
  for (let count = 0; ; count += 1) {
    const value = { round, writer: String(writer), count: String(count) };
    const applied = await store.apply({ kind: 'create', collection: '/a', value, at: 0 });
    if (!applied.applied) continue;
    const line = `${applied.entry.id} ${applied.entry.revision}\n`;
    await new Promise((resolve) => process.stdout.write(line, resolve));
  }
}

await Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
