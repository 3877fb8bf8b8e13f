import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFault, formatFault, formatPath } from '../../src/shape/fault.ts';
import {
  flag,
  grammar,
  listOf,
  mapOf,
  number,
  object,
  optional,
  refine,
  text,
  word,
} from '../../src/shape/shape.ts';

const key = object({ id: text(), secret: text(undefined, { min: 1, isSecret: true }) });
const shape = object({
  keys: optional(mapOf(key)),
  limits: optional(object({ body: number({ min: 0 }) })),
  mode: optional(word(['off', 'on'])),
  names: optional(
    refine(listOf(text()), (names, path) =>
      names.includes('root') ? [createFault(path, 'must not contain root')] : [],
    ),
  ),
  period: optional(
    grammar({}, 'a period', (value, what) => {
      if (value !== '1h') throw new RangeError(`${what} must be such as 1h`);
      return 3600;
    }),
  ),
  strict: optional(flag()),
});

/** Returns the path and the sentence of each fault. */
function explain(value: unknown): readonly (readonly [string, string])[] {
  const read = shape.read(value);
  if ('value' in read) return [];
  return read.faults.map((fault) => [formatPath(fault.path), formatFault(fault, 'the service')]);
}

test('a fault has a path and a sentence, and contains no secret', () => {
  assert.deepEqual(explain({ keys: { k: { id: 'a', secret: 7 } } }), [
    ['keys.k.secret', 'keys.k.secret of the service must be non-empty text'],
  ]);
  assert.deepEqual(explain({ keys: { k: { id: 'a' } } }), [
    ['keys.k.secret', 'keys.k.secret of the service must be non-empty text, is missing'],
  ]);
  assert.deepEqual(explain({ limits: { bdy: 1, body: -1 } }), [
    ['limits.bdy', 'bdy is not a member of limits of the service; did you mean "body"?'],
    ['limits.body', 'limits.body of the service must be an integer from 0, is -1'],
  ]);
  assert.deepEqual(explain({ mode: 'onn' }), [
    ['mode', 'mode of the service must be one of off, on, is "onn"; did you mean "on"?'],
  ]);
  assert.deepEqual(explain({ names: ['root'] }), [['names', 'names of the service must not contain root']]);
  assert.deepEqual(explain({ names: ['a', 1] }), [
    ['names[1]', 'names[1] of the service must be text, is 1'],
  ]);
  assert.deepEqual(explain({ period: '1x' }), [['period', 'period of the service must be such as 1h']]);
});

test('all faults of a value are reported, and an undefined member counts as absent', () => {
  assert.deepEqual(
    explain({ strict: 'no', mode: 1, period: undefined }).map(([path]) => path),
    ['strict', 'mode'],
  );
  assert.deepEqual(explain({ period: '1h', strict: undefined }), []);
});
