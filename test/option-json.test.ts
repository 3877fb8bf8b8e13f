import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JsonFault, parseJson } from '../src/option-json.ts';
import { type Seeded, seeded } from './seeded.ts';

function faultOf(text: string): JsonFault {
  try {
    parseJson(text);
  } catch (error) {
    if (error instanceof JsonFault) return error;
    throw error;
  }
  throw new assert.AssertionError({ message: `${JSON.stringify(text)} was taken` });
}

const faults: readonly [text: string, line: number, column: number][] = [
  ['', 1, 1],
  ['{', 1, 2],
  ['{\n  "port": 8080,\n}', 3, 1],
  ['{\n  "port" 8080\n}', 2, 10],
  ['{ "port": 08 }', 1, 11],
  ['{ "a": 1 "b": 2 }', 1, 10],
  ['{ "a": tru }', 1, 8],
  ["{ 'a': 1 }", 1, 3],
  ['[1, 2', 1, 6],
  ['[1,]', 1, 4],
  ['{}\r\n{}', 2, 1],
  ['{ "a": "x\ny" }', 1, 8],
  ['{ "a": "\\x" }', 1, 8],
  ['{ "a": 1, // no\n "b": 2 }', 1, 11],
  ['{ "a": NaN }', 1, 8],
  ['{ "a": .5 }', 1, 8],
  ['{ "a": 1. }', 1, 8],
];

for (const [text, line, column] of faults) {
  test(`the fault in ${JSON.stringify(text)} is at ${line}:${column}`, () => {
    const fault = faultOf(text);
    assert.deepEqual([fault.line, fault.column], [line, column], fault.message);
  });
}

test('a name that stands twice in an object is a fault where it stands again', () => {
  const fault = faultOf('{\n "a": 1,\n "\\u0061": 2 }');
  assert.deepEqual([fault.line, fault.column], [3, 2]);
  assert.deepEqual(parseJson('[{"a":1},{"a":1}]'), [{ a: 1 }, { a: 1 }]);
});

test('what a text says is in no message, for it may be a secret', () => {
  for (const text of ['{ "secret": "hunter2 }', '{ "secret": hunter2 }', '{ "hunter2": 1, "hunter2": 2 }']) {
    assert.ok(!faultOf(text).message.includes('hunter2'));
  }
});

test('a document nested without end is refused, not followed', () => {
  assert.match(faultOf('['.repeat(1_000_000)).message, /nested/);
});

test('a long string is read', () => {
  const long = 'x'.repeat(4_000_000);
  assert.equal(parseJson(JSON.stringify(long)), long);
});

test('random documents, whole and broken, are taken exactly when the engine takes them', () => {
  const random = seeded();
  for (let round = 0; round < 5000; round++) {
    const text = mutated(JSON.stringify(randomValue(random, 0), null, random.below(3)), random);
    const expected = engineReads(text);
    let taken: { value: unknown } | undefined;
    try {
      taken = { value: parseJson(text) };
    } catch (error) {
      assert.ok(error instanceof JsonFault, `seed ${random.seed}: ${error}`);
      if (error.message === 'this name is there twice') continue;
    }
    assert.deepEqual(taken, expected, `seed ${random.seed}: ${JSON.stringify(text)}`);
  }
});

function engineReads(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function randomValue(random: Seeded, depth: number): unknown {
  const alphabet = 'ab"\\\n{}[]:,0é\u2028';
  const kind = random.below(depth > 3 ? 4 : 6);
  if (kind === 0) return random.text(alphabet, 5);
  if (kind === 1) return random.pick([0, -1, 1.5, 1e21, 1e-7, 123456]);
  if (kind < 4) return random.pick([true, false, null]);
  const parts = Array.from({ length: random.below(4) }, () => randomValue(random, depth + 1));
  if (kind === 4) return parts;
  return Object.fromEntries(parts.map((part) => [random.text(alphabet, 3), part]));
}

/** Half of them stay whole; of the others some characters are changed, added or left out. */
function mutated(text: string, random: Seeded): string {
  let result = text;
  for (let changes = random.below(2) * (1 + random.below(3)); changes > 0; changes--) {
    const at = random.below(result.length + 1);
    const cut = random.below(2);
    result = result.slice(0, at) + random.text('{}[]",:\\ue0-+.1tfn \n\u0000', 1) + result.slice(at + cut);
  }
  return result;
}
