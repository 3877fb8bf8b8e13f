import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seeded } from '../../support/seeded.ts';
import { type Failing, PowerLossDisk } from '../../support/store/power-loss-disk.ts';
import { stride } from '../../support/store/thoroughness.ts';
import { always, judgeLosses, puts, Run, say } from './power-loss.ts';

const random = seeded();
const sampling = { random, all: 64, drawn: 20, bytes: true };
const few = { random, all: 6, drawn: 2 };

/** How many bytes the lines of a file have. */
function measureLines(run: Run, name: string): number {
  return Buffer.from(run.disk.files().get(name) ?? []).lastIndexOf('\n') + 1;
}

describe('a power loss after the disk was full', () => {
  for (const durability of ['fsync', 'os'] as const) {
    test(`(${durability}) leaves no rejected change`, async (context) => {
      const run = await Run.open({ disk: new PowerLossDisk(), durability });
      await run.askAll(puts('first', 2, random));
      await run.settle();
      // Two of the lines have room, and a part of the third.
      run.disk.room(measureLines(run, 'journal-1.jsonl') + 800);
      await run.askAll(puts('refused', 4, random));
      assert.ok(run.asked.slice(2).every(({ refused }) => refused === 'full'));
      await run.settle();
      run.disk.room(Number.POSITIVE_INFINITY);
      await run.askAll(puts('then', 3, random));
      await run.settle();
      await run.store.close();
      say(context, random, await judgeLosses(run, { sampling, mayLose: durability === 'os' }));
    });

    test(`(${durability}) leaves no rejected change if a compaction followed`, async (context) => {
      const run = await Run.open({ disk: new PowerLossDisk(), durability, limits: always });
      await run.askAll(puts('first', 2, random));
      await run.settle();
      run.disk.room(800);
      await run.askAll(puts('refused', 4, random));
      run.disk.room(Number.POSITIVE_INFINITY);
      await run.askAll(puts('then', 1, random));
      await run.askAll(puts('more', 2, random));
      await run.settle();
      await run.store.close();
      assert.ok(run.disk.operationTexts.includes('sync journal-3.jsonl'));
      say(context, random, await judgeLosses(run, { sampling: few, mayLose: durability === 'os' }));
    });
  }
});

describe('a power loss after the disk failed', () => {
  const faults: readonly (readonly [Failing, string, string])[] = [
    ['sync', 'EIO', 'journal-1'],
    ['sync', 'ENOSPC', 'journal-1'],
    ['write', 'EIO', 'journal-1'],
  ];
  for (const [operation, code, name] of faults) {
    test(`at ${operation} with ${code} may leave rejected changes, but only completely and in order`, async (context) => {
      const run = await Run.open({ disk: new PowerLossDisk() });
      await run.askAll(puts('first', 2, random));
      await run.settle();
      run.disk.shortWrites(500);
      run.disk.failNext(operation, code, name);
      await run.askAll(puts('refused', 4, random));
      await run.askAll(puts('later', 2, random));
      assert.ok(run.asked.slice(2).every(({ refused }) => refused === 'failed'));
      assert.equal(run.told.length, 1);
      await run.store.close();
      const found = await judgeLosses(run, { sampling, every: 1, mayHaveRefused: true });
      say(context, random, found);
      // The first write failed before it did anything; a sync may have done all of its work before it failed.
      if (operation === 'write') assert.equal(found.refused, 0);
      else assert.ok(found.refused > 0);
    });
  }
});

describe('a power loss after a compaction failed', () => {
  const faults: readonly (readonly [Failing, string, string, number])[] = [
    ['create', 'ENOSPC', 'journal-3', 0],
    ['write', 'ENOSPC', 'journal-3', 0],
    ['sync', 'EIO', 'journal-3', 0],
    ['sync directory', 'EIO', '', 0],
    ['sync directory', 'EIO', '', 1],
    ['truncate', 'EIO', 'journal-2', 0],
    ['create', 'ENOSPC', 'store.jsonl', 0],
    ['write', 'ENOSPC', 'store.jsonl', 1],
    ['sync', 'EIO', 'store.jsonl', 0],
    ['rename', 'EIO', 'store.jsonl', 0],
    ['rename', 'EIO', 'store.previous', 0],
    ['unlink', 'EIO', 'journal-1', 0],
  ];
  const offset = random.below(stride);
  for (const [operation, code, name, left] of faults.filter((_, at) => at % stride === offset)) {
    const what = `${operation}${name && ` of ${name}`} with ${code}${left === 0 ? '' : ', not at first'}`;
    test(`at ${what} leaves one complete state`, async (context) => {
      const run = await Run.open({ disk: new PowerLossDisk(), limits: always });
      await run.askAll(puts('first', 3, random));
      await run.settle();
      run.disk.failNext(operation, code, name, left);
      for (let round = 0; round < 3; round += 1) {
        await run.askAll(puts(`round-${round}`, 2, random));
        if (round % 2 === 1) await run.settle();
      }
      await run.settle();
      await run.store.close();
      say(context, random, await judgeLosses(run, { sampling: few }));
      // A journal whose name may come back, or not, cannot be followed by the lines of the one before.
      const ends = operation === 'sync directory' && left === 0;
      assert.equal(
        run.asked.some(({ refused }) => refused !== undefined),
        ends,
      );
    });
  }
});
