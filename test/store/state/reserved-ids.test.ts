import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { counterNumber, ReservedIds } from '../../../src/store/state/reserved-ids.ts';
import { seeded } from '../../support/seeded.ts';

describe('chosen ids', () => {
  test('are numbers only in the form that a counter produces', () => {
    assert.deepEqual(['1', '10', '9007199254740991'].map(counterNumber), [1, 10, Number.MAX_SAFE_INTEGER]);
    for (const id of [
      '0',
      '01',
      '-1',
      '+1',
      '1.0',
      '1e3',
      '',
      ' 1',
      '1\n',
      '٣',
      '9007199254740992',
      '1'.repeat(99),
    ]) {
      assert.equal(counterNumber(id), undefined, JSON.stringify(id));
    }
  });

  test('are stored as one range if they are consecutive', () => {
    const chosen = new ReservedIds();
    for (const number of [5, 9, 7, 6, 5, 8, 20]) chosen.add(number);
    assert.deepEqual(
      [...chosen],
      [
        { first: 5, last: 9 },
        { first: 20, last: 20 },
      ],
    );
    chosen.removeUpTo(7);
    assert.deepEqual(
      [...chosen],
      [
        { first: 8, last: 9 },
        { first: 20, last: 20 },
      ],
    );
  });

  test('match a plain set of numbers', () => {
    const random = seeded();
    const chosen = new ReservedIds();
    const model = new Set<number>();
    for (let round = 0; round < 5000; round += 1) {
      const number = random.below(200) + 1;
      const where = `SEED=${random.seed}, round ${round}`;
      if (random.below(40) === 0) {
        chosen.removeUpTo(number);
        for (const other of model) if (other <= number) model.delete(other);
      } else {
        chosen.add(number);
        model.add(number);
      }
      let free = random.below(210) + 1;
      const from = free;
      while (model.has(free)) free += 1;
      assert.equal(chosen.nextFree(from), free, where);
      assert.equal(chosen.nextFree(from) !== from, model.has(from), where);
      const listed = Array.from(chosen).flatMap(({ first, last }) =>
        Array.from({ length: last - first + 1 }, (_, index) => first + index),
      );
      assert.deepEqual(
        listed,
        [...model].sort((a, b) => a - b),
        where,
      );
    }
  });
});
