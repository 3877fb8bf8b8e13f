import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StoreChange } from '../../../src/store/store.ts';
import { seeded } from '../../support/seeded.ts';
import { PowerLossDisk } from '../../support/store/power-loss-disk.ts';
import { stride, wideStride } from '../../support/store/thoroughness.ts';
import { at, judgeLosses, never, Run, say } from './power-loss.ts';

const random = seeded();
const sampling = { random, all: 1500, drawn: 150 };
const few = { random, all: 60, drawn: 30, bytes: true };

/** A value of so many characters. */
function value(length: number): { readonly text: string } {
  return { text: random.text('abcdefghij "\\ä€', 2).padEnd(length, `${random.below(1000)} `) };
}

/** What several writers ask for at once. */
const first: readonly StoreChange[] = [
  { kind: 'create', collection: '/a', value: value(130), at },
  { kind: 'put', collection: '/b', id: '7', expected: 'absent', value: value(20), at },
  { kind: 'create', collection: '/a', value: value(210), at },
  { kind: 'put', collection: '/a', id: '3', expected: 'absent', value: value(70), at },
];
const second: readonly StoreChange[] = [
  { kind: 'put', collection: '/a', id: '1', expected: 1, value: value(150), at },
  { kind: 'create', collection: '/b', value: value(90), at },
  { kind: 'delete', collection: '/a', id: '2', expected: 3, at },
  { kind: 'create', collection: '/a', value: value(40), at },
];

const again: readonly StoreChange[] = ['1', '2', '1', '1', '2'].map((id, n) => ({
  kind: 'put',
  collection: '/a',
  id,
  expected: 'present',
  value: value(200 + 150 * n),
  at: at + n,
}));

/** What is asked for one after the other. */
const others: readonly StoreChange[] = Array.from({ length: 6 }, (_, n) => ({
  kind: 'create',
  collection: '/c',
  value: value(60 * n),
  at,
}));

describe('a power loss', () => {
  test('at a first start leaves no store or an empty one', async (context) => {
    const run = await Run.open({ disk: new PowerLossDisk() });
    const found = await judgeLosses(run, { sampling: { ...sampling, bytes: true } });
    say(context, random, found);
    assert.equal(found.unacknowledged, 0);
  });

  test('in a batch that requires allocation leaves a prefix of its changes', async (context) => {
    const run = await Run.open({ disk: new PowerLossDisk() });
    const from = run.disk.operations;
    await run.askAll(first);
    await run.settle();
    const found = await judgeLosses(run, { sampling: { ...sampling, bytes: true }, every: wideStride, from });
    say(context, random, found);
    assert.ok(found.torn > 500 / wideStride && found.unacknowledged > 500 / wideStride);
  });

  test('in a batch with receipts leaves each receipt with its change', async (context) => {
    const run = await Run.open({ disk: new PowerLossDisk() });
    await run.askAll(first);
    await run.settle();
    const from = run.disk.operations;
    const receipted = second.map((change, n) => ({
      ...change,
      receipt: { key: `key ${n}`, fingerprint: 'one', until: at + 60_000 },
    }));
    await run.askAll(receipted);
    await run.settle();
    const found = await judgeLosses(run, {
      sampling: { ...sampling, all: 3000, bytes: true },
      every: wideStride,
      from,
    });
    say(context, random, found);
    assert.ok(found.torn > 500 / wideStride && found.unacknowledged > 500 / wideStride);
  });

  test('in a batch on allocated space leaves a prefix of its changes', async (context) => {
    const run = await Run.open({ disk: new PowerLossDisk() });
    await run.askAll(first);
    await run.settle();
    const from = run.disk.operations;
    await run.askAll(second);
    await run.settle();
    const found = await judgeLosses(run, { sampling: { ...sampling, bytes: true }, every: wideStride, from });
    say(context, random, found);
    assert.ok(found.torn > 500 / wideStride && found.unacknowledged > 500 / wideStride);
  });

  test('in a batch of several changes of one item leaves the item after a prefix of them', async (context) => {
    const run = await Run.open({ disk: new PowerLossDisk() });
    await run.askAll(first);
    await run.settle();
    const from = run.disk.operations;
    await run.askAll(again);
    await run.settle();
    const found = await judgeLosses(run, { sampling: { ...sampling, bytes: true }, every: stride, from });
    say(context, random, found);
    assert.ok(found.torn > 300 / wideStride && found.unacknowledged > 100 / wideStride);
  });

  test('in a batch with short writes leaves a prefix of its changes', async (context) => {
    const run = await Run.open({ disk: new PowerLossDisk() });
    run.disk.shortWrites(170);
    await run.askAll(first);
    const found = await judgeLosses(run, { sampling: few, to: run.disk.operations });
    say(context, random, found);
    assert.ok(found.torn > 100 / stride && found.unacknowledged > 100 / stride);
  });

  test('after a clean close loses nothing', async (context) => {
    for (const durability of ['fsync', 'os'] as const) {
      const run = await Run.open({ disk: new PowerLossDisk(), durability });
      await run.askAll(first);
      await run.askAll(second);
      await run.store.close();
      const from = run.disk.operations;
      const found = await judgeLosses(run, { sampling: few, from });
      say(context, random, found);
      assert.equal(found.torn, 0);
    }
  });

  test('with durability os loses all changes from some change on, and none before it', async (context) => {
    const run = await Run.open({ disk: new PowerLossDisk(), durability: 'os' });
    await run.askAll(first);
    await run.askAll(second);
    for (const change of others) await run.ask(change);
    await run.settle();
    const found = await judgeLosses(run, { sampling: few, mayLose: true });
    say(context, random, found);
    assert.ok(found.torn > 100 / stride && found.lost > 100 / stride);
  });

  test('in a clean close that writes a snapshot loses no acknowledged change', async (context) => {
    const limits = { ...never, maxBytesOnClose: 1_000_000 };
    const run = await Run.open({ disk: new PowerLossDisk(), limits });
    await run.askAll(first);
    await run.settle();
    const from = run.disk.operations;
    await run.store.close();
    assert.ok(run.disk.operationTexts.some((told) => told.endsWith('→ store.jsonl')));
    const found = await judgeLosses(run, { sampling: few, from });
    say(context, random, found);
    assert.equal(found.unacknowledged, 0);
  });
});
