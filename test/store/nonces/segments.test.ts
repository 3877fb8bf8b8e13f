import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Segments } from '../../../src/store/nonces/segments.ts';

describe('segments of a table', () => {
  test('are reused after their release before new ones are created, and are empty then', () => {
    const segments = new Segments(128, 8);
    const made = Array.from({ length: 17 }, () => segments.create(4));
    assert.deepEqual(
      made,
      made.map((_, number) => number),
    );
    for (const segment of [3, 8, 9, 10, 11, 12, 13, 14, 15]) {
      segments.put(segment, 7, segment, 1);
      segments.empty(segment, segments, [0, 0], () => 'out');
      segments.release(segment);
    }
    for (const again of [3, 8, 9]) {
      assert.equal(segments.create(5), again);
      assert.equal(segments.getDepth(again), 5);
      assert.equal(segments.getCount(again), 0);
      assert.equal(segments.find(again, 7, again), -1);
    }
  });

  test('throw a RangeError for a block with no segment in use', () => {
    const segments = new Segments(128, 2);
    for (let number = 0; number < 4; number += 1) segments.create(2);
    segments.release(2);
    assert.equal(segments.find(2, 7, 7), -1);
    segments.release(3);
    assert.throws(() => segments.find(3, 7, 7), RangeError);
    assert.throws(() => segments.claim(2, 7, 7, 1), RangeError);
    assert.equal(segments.find(1, 7, 7), -1);
  });
});
