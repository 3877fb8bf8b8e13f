import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLinearizable, type Operation, type State } from './linearizable.ts';

test('a history is linearizable if its operations have an order that explains their results', () => {
  const write = (value: string, called: number, returned: number): Operation => ({
    kind: 'write',
    value,
    called,
    returned,
    result: { done: true },
  });
  const read = (state: State, called: number, returned: number): Operation => ({
    kind: 'read',
    called,
    returned,
    result: { state },
  });
  assert.ok(isLinearizable([write('x', 0, 3), read(undefined, 1, 2), read('x', 4, 5)]));
  assert.ok(isLinearizable([write('x', 0, 9), write('y', 1, 9), read('x', 2, 3), read('y', 4, 5)]));
  assert.ok(!isLinearizable([write('x', 0, 1), read(undefined, 2, 3)]), 'a stale read');
  assert.ok(
    !isLinearizable([write('x', 0, 9), read('x', 1, 2), read(undefined, 3, 4)]),
    'a read back in time',
  );
  assert.ok(!isLinearizable([write('x', 0, 1), write('y', 2, 3), read('x', 4, 5)]), 'a lost write');
  const unless = (value: string, called: number): Operation => ({
    kind: 'write',
    value,
    expected: { state: undefined },
    called,
    returned: 9,
    result: { done: true },
  });
  assert.ok(!isLinearizable([unless('x', 0), unless('y', 1)]), 'two creations');
  const unknown: Operation = { kind: 'write', value: 'x', called: 0, returned: Number.POSITIVE_INFINITY };
  assert.ok(isLinearizable([unknown, read(undefined, 1, 2), read('x', 3, 4)]));
  assert.ok(isLinearizable([unknown, read(undefined, 1, 2)]));
});
