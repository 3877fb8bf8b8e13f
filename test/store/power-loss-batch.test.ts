import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Change } from '../../src/store/store.ts';
import { seeded } from '../seeded.ts';
import { at, type Findings, judgeLosses, Run } from './power-loss.ts';
import { PowerLossDisk } from './power-loss-disk.ts';

const random = seeded();
const sampling = { random, all: 1500, drawn: 150 };

/** A value of so many characters. */
function value(length: number): { readonly text: string } {
  return { text: random.text('abcdefghij "\\ä€', 2).padEnd(length, `${random.below(1000)} `) };
}

function say(context: TestContext, found: Findings): void {
  context.diagnostic(`seed ${random.seed}: ${JSON.stringify(found)}`);
}

/** What several writers ask for at once. */
const first: readonly Change[] = [
  { kind: 'create', collection: '/a', value: value(130), at },
  { kind: 'put', collection: '/b', id: '7', expected: 'absent', value: value(20), at },
  { kind: 'create', collection: '/a', value: value(210), at },
  { kind: 'put', collection: '/a', id: '3', expected: 'absent', value: value(70), at },
];
const second: readonly Change[] = [
  { kind: 'put', collection: '/a', id: '1', expected: 1, value: value(150), at },
  { kind: 'create', collection: '/b', value: value(90), at },
  { kind: 'delete', collection: '/a', id: '2', expected: 3, at },
  { kind: 'create', collection: '/a', value: value(40), at },
];

describe('when the power goes', () => {
  test('at a first start there is nothing, or a store that has nothing', async (context) => {
    const run = await Run.open({ disk: new PowerLossDisk() });
    const found = await judgeLosses(run, { sampling: { ...sampling, bytes: true } });
    say(context, found);
    assert.equal(found.unacknowledged, 0);
  });

  test('in a batch for which space must be allocated, it is there up to some change, or not', async (context) => {
    const run = await Run.open({ disk: new PowerLossDisk() });
    const from = run.disk.operations;
    await run.askAll(first);
    await run.settle();
    const found = await judgeLosses(run, { sampling: { ...sampling, bytes: true }, from });
    say(context, found);
    assert.ok(found.torn > 500 && found.unacknowledged > 500);
  });

  test('in a batch on allocated space, it is there up to some change, or not', async (context) => {
    const run = await Run.open({ disk: new PowerLossDisk() });
    await run.askAll(first);
    await run.settle();
    const from = run.disk.operations;
    await run.askAll(second);
    await run.settle();
    const found = await judgeLosses(run, { sampling: { ...sampling, bytes: true }, from });
    say(context, found);
    assert.ok(found.torn > 500 && found.unacknowledged > 500);
  });
});
