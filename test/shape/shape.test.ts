import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  either,
  flag,
  listOf,
  mapOf,
  number,
  object,
  optional,
  type Shape,
  text,
  word,
} from '../../src/shape/shape.ts';
import { importPackage, missingPackage } from '../support/packages.ts';
import { type Seeded, seeded } from '../support/seeded.ts';

const inner = object({ kind: word(['a', 'b']), size: optional(number({ min: 0, max: 3 })) });
const shapes: Readonly<Record<string, Shape<unknown>>> = {
  inner,
  nested: object({ a: inner, b: optional(listOf(inner)), size: optional(number({ whole: false })) }),
  map: mapOf(listOf(either(number({ min: 1 }), word(['a'])))),
  either: either(flag(), object({ a: text() })),
};

/** Values in which the names, words and numbers of the shapes stand often, and often in the wrong place. */
function drawn(random: Seeded, depth: number): unknown {
  const leaves = [null, true, 0, 1, 4, -1, 1.5, 'a', 'b', ''];
  const choice = depth === 0 ? random.below(2) * 4 : random.below(6);
  if (choice === 0) return random.pick(leaves);
  if (choice === 1) return Array.from({ length: random.below(3) }, () => drawn(random, depth - 1));
  // Nearly right, so that it often is.
  if (choice === 4)
    return { kind: random.pick(['a', 'b', 'c']), ...(random.below(3) > 0 && { size: random.below(5) }) };
  if (choice === 5)
    return { a: drawn(random, depth - 1), ...(random.below(2) > 0 && { b: [drawn(random, 0)] }) };
  const names = ['a', 'b', 'kind', 'size', '__proto__', 'constructor'];
  const members = Array.from({ length: random.below(4) }, () => [
    random.pick(names),
    drawn(random, depth - 1),
  ]);
  return JSON.parse(JSON.stringify(Object.fromEntries(members)));
}

/** Returns whether the shape accepts a value, which it returns unchanged. */
function accepts(shape: Shape<unknown>, value: unknown): boolean {
  const read = shape.read(value);
  if ('value' in read) assert.deepEqual(JSON.stringify(read.value), JSON.stringify(value));
  else assert.ok(read.faults.length > 0);
  return 'value' in read;
}

describe('a shape accepts the same values as its schema in another validator', {
  skip: missingPackage('ajv'),
}, () => {
  for (const [name, shape] of Object.entries(shapes)) {
    test(name, async () => {
      const { Ajv2020 } = await importPackage('ajv/dist/2020.js');
      const valid = new Ajv2020({ strict: false, ownProperties: true }).compile(shape.schema);
      const random = seeded();
      const counts = { good: 0, bad: 0 };
      for (let round = 0; round < 20_000; round++) {
        const value = drawn(random, 4);
        const good = accepts(shape, value);
        counts[good ? 'good' : 'bad'] += 1;
        assert.equal(good, valid(value), `seed ${random.seed}: ${JSON.stringify(value)}`);
      }
      assert.ok(counts.good > 50 && counts.bad > 50, `seed ${random.seed}: ${JSON.stringify(counts)}`);
    });
  }
});
