import assert from 'node:assert/strict';
import test from 'node:test';
import { ArgumentError, readArguments } from '../../bench/measure/arguments.ts';
import type { Contestant, Round, Sample } from '../../bench/measure/benchmark.ts';
import { takeRounds } from '../../bench/measure/parts/rounds.ts';
import { sharedRound } from '../../bench/measure/parts/shared-round.ts';

test('names, rounds and a commit are read from the command line', () => {
  assert.deepEqual(readArguments(['load', 'xml/article', '--rounds', '7', '--full', '--against', 'main~1']), {
    names: ['load', 'xml/article'],
    rounds: 7,
    full: true,
    against: 'main~1',
    publish: false,
    list: false,
    help: false,
  });
  assert.deepEqual(readArguments([]).names, []);
});

for (const args of [
  ['--rounds', '4'],
  ['--rounds', '6.5'],
  ['--rounds', 'many'],
  ['--against'],
  ['--against', ''],
  ['--against=--upload-pack=x'],
  ['--nothing'],
  ['--publish', 'load'],
  ['--publish', '--against', 'main'],
]) {
  test(`the command line ${args.join(' ')} is rejected`, () => {
    assert.throws(() => readArguments(args), ArgumentError);
  });
}

function createContestant(name: string, measure: (round: Round) => Promise<Sample | string>): Contestant {
  return { name, ours: false, measure };
}

test('contestants run in alternating order, and the warm-up round does not count', async () => {
  const order: string[] = [];
  const named = (name: string): Contestant =>
    createContestant(name, async ({ warmUp }) => {
      order.push(warmUp ? name.toLowerCase() : name);
      return { cpu: order.length };
    });
  const taken = await takeRounds([named('A'), named('B'), named('C')], 2, () => undefined);
  assert.equal(order.join(''), 'cbaABCCBA');
  assert.deepEqual(
    taken.map(({ samples }) => samples.map(({ cpu }) => cpu)),
    [
      [4, 9],
      [5, 8],
      [6, 7],
    ],
  );
});

test('a contestant that cannot run is asked once, and is excluded with the reason', async () => {
  let asked = 0;
  const absent = createContestant('peer', async () => {
    asked += 1;
    return 'not installed';
  });
  const present = createContestant('ours', async () => ({ cpu: 1 }));
  const [first, second] = await takeRounds([absent, present], 5, () => undefined);
  assert.equal(asked, 1);
  assert.equal(first?.leftOut, 'not installed');
  assert.equal(second?.samples.length, 5);
});

test('a contestant receives its result of the previous round', async () => {
  const counts: (number | undefined)[] = [];
  const counting = createContestant('ours', async ({ last }) => {
    counts.push(last?.['count']);
    return { count: (last?.['count'] ?? 0) + 1 };
  });
  await takeRounds([counting], 3, () => undefined);
  assert.deepEqual(counts, [undefined, 1, 2, 3]);
});

test('a shared measurement runs once per round for all contestants', async () => {
  let measured = 0;
  const shared = sharedRound(async () => {
    measured += 1;
    return { cpu: measured };
  });
  const parts = ['XML', 'store'].map((name) => createContestant(name, (round) => shared(name, round)));
  const [xml, store] = await takeRounds(parts, 3, () => undefined);
  assert.equal(measured, 4);
  assert.deepEqual(xml?.samples, store?.samples);
});
