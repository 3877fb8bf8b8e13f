import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { IdIndex } from '../../../src/store/state/id-index.ts';
import { seeded } from '../../support/seeded.ts';

describe('the index of ids', () => {
  test('matches a Map for any ids', () => {
    const random = seeded();
    const index = new IdIndex();
    const map = new Map<string, number>();
    const draw = [
      () => String(random.below(2000)),
      () => String(1 + random.below(40_000)),
      () => String(random.below(2 ** 32) * 97),
      () => `0${random.below(9)}`,
      () => random.text('019-a', 11),
      () => random.pick(['', '0', '-1', '1e3', ' 1', '1 ', '١', '4294967296', '999999999', '__proto__']),
    ];
    for (let round = 1; round <= 40_000; round += 1) {
      const why = `SEED=${random.seed}, round ${round}`;
      const id = random.pick(draw)();
      const sequence = random.below(50) === 0 ? 2 ** 32 + round : round;
      if (random.below(3) === 0) {
        index.delete(id);
        map.delete(id);
      } else if (random.below(2) === 0) {
        assert.equal(index.add(id, sequence), !map.has(id), why);
        if (!map.has(id)) map.set(id, sequence);
      } else {
        index.set(id, sequence);
        map.set(id, sequence);
      }
      assert.equal(index.get(id), map.get(id), why);
      assert.equal(index.size, map.size, why);
    }
    for (const [id, sequence] of map) assert.equal(index.get(id), sequence, `SEED=${random.seed}, ${id}`);
    for (let id = 0; id < 50_000; id += 1) assert.equal(index.get(String(id)), map.get(String(id)));
  });

  test('still finds an id after the table grows to include it', () => {
    const index = new IdIndex();
    index.set('5000', 1);
    for (let id = 1; id < 4000; id += 1) assert.ok(index.add(String(id), id + 1));
    assert.equal(index.get('5000'), 1);
    assert.equal(index.add('5000', 9999), false);
    index.set('5000', 2);
    assert.equal(index.get('5000'), 2);
    index.delete('5000');
    assert.equal(index.get('5000'), undefined);
    assert.ok(index.add('5000', 3));
    assert.equal(index.get('5000'), 3);
    assert.equal(index.size, 4000);
  });
});
