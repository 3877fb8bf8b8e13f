import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StoreChange } from '../../../src/store/store.ts';
import { seeded } from '../../support/seeded.ts';
import { PowerLossDisk } from '../../support/store/power-loss-disk.ts';
import { stride } from '../../support/store/thoroughness.ts';
import { type Asked, always, at, countShown, type Findings, judgeLosses, Run, say } from './power-loss.ts';

const random = seeded();
const sampling = { random, all: 32, drawn: 6 };

/** Some items in three collections. */
function filling(count: number): StoreChange[] {
  return Array.from({ length: count }, (_, n) => ({
    kind: 'create' as const,
    collection: ['/a', '/b', '/c'][n % 3] ?? '/a',
    value: { n, text: random.text('abc ä', 60) },
    at,
    receipt: n % 4 > 0 ? undefined : { key: `key ${n}`, fingerprint: 'one', until: at + 60_000 },
  }));
}

/** Changes of all kinds to what `asked` made, one at a time for each item. */
function changes(asked: readonly Asked[], round: number): StoreChange[] {
  const made = asked.flatMap(({ change, entry }) =>
    change.kind === 'create' && entry !== undefined ? [{ collection: change.collection, ...entry }] : [],
  );
  const put = made[round * 2];
  const gone = made[round * 2 + 1];
  const several: StoreChange[] = [{ kind: 'create', collection: '/b', value: { round }, at }];
  if (put !== undefined)
    several.push({
      kind: 'put',
      collection: put.collection,
      id: put.id,
      expected: put.revision,
      value: { put: round },
      at,
    });
  if (gone !== undefined)
    several.push({ kind: 'delete', collection: gone.collection, id: gone.id, expected: gone.revision, at });
  return several;
}

/** A store that is compacted while changes are made, again and again. */
async function compacted(durability: 'fsync' | 'os', rounds: number): Promise<Run> {
  const run = await Run.open({ disk: new PowerLossDisk(), durability, limits: always });
  await run.askAll(filling(24));
  for (let round = 0; round < rounds; round += 1) {
    await run.askAll(changes(run.asked.slice(0, 24), round));
    if (round % 3 === 2) await run.settle();
  }
  await run.settle();
  return run;
}

describe('a power loss during a compaction', () => {
  for (const durability of ['fsync', 'os'] as const) {
    test(`(${durability}) leaves one complete state`, async (context) => {
      const run = await compacted(durability, 9);
      await run.store.close();
      assert.ok(run.disk.operationTexts.filter((told) => told.endsWith('→ store.jsonl')).length >= 3);
      assert.ok(run.disk.operationTexts.includes('unlink journal-2.jsonl'));
      const found = await judgeLosses(run, { sampling, mayLose: durability === 'os' });
      say(context, random, found);
    });
  }

  test('(fsync) loses nothing that the next process showed after the first was killed', async (context) => {
    say(context, random, await judgeKills('fsync'));
  });

  test('(os) loses nothing that the next process showed after the first was killed', async (context) => {
    say(context, random, await judgeKills('os'));
  });
});

/** Ends the process at every operation, or every third one, makes changes with the next one, and lets the power go at every operation of these. */
async function judgeKills(durability: 'fsync' | 'os'): Promise<Findings> {
  const killed = await compacted(durability, 6);
  const total: Findings = { states: 0, second: 0, torn: 0, unacknowledged: 0, refused: 0, lost: 0 };
  for (let operations = random.below(stride); operations <= killed.disk.operations; operations += stride) {
    const disk = killed.disk.after(operations);
    const run = await Run.open({ disk });
    const count = await countShown(run.store, killed.asked);
    assert.ok(count !== undefined);
    const before = killed.asked.slice(0, count);
    const from = disk.operations;
    await run.askAll(changes(before, 10));
    await run.settle();
    const few = { random, all: 6, drawn: 2 };
    const found = await judgeLosses(run, { sampling: few, before, from, briefly: true });
    total.states += found.states;
    total.unacknowledged += found.unacknowledged;
  }
  return total;
}
