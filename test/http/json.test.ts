import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JsonError, type JsonNode, positionAt, readJson } from '../../src/http/json.ts';
import { type Seeded, seeded } from '../support/seeded.ts';

/** The value of a document as JSON.parse would give it, with maps for objects. */
function plain(node: JsonNode): unknown {
  switch (node.kind) {
    case 'array':
      return node.items.map(plain);
    case 'object':
      return new Map([...node.members].map(([name, { value }]) => [name, plain(value)]));
    case 'number':
      return Number(node.text);
    case 'boolean':
      return node.text === 'true';
    default:
      return node.kind === 'null' ? null : node.text;
  }
}

/** The same of what JSON.parse gives. */
function mapped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mapped);
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([name, member]) => [name, mapped(member)]));
}

function drawJson(random: Seeded, depth: number): string {
  const blank = (): string => random.pick(['', '', '', ' ', '\n', '\t ', '\r\n']);
  const string = (): string =>
    JSON.stringify(random.text('ab"\\/\b\f\n\r\t\u0000\u001fé漢\u{1f600}\ud800\u2028', 8));
  const list = (of: () => string): string =>
    Array.from({ length: random.below(5) }, of).join(`${blank()},${blank()}`);
  const kind = depth > 0 ? random.below(6) : random.below(4);
  if (kind === 5) {
    let count = 0;
    const member = (): string =>
      `${JSON.stringify(`${count++}${random.text('_x\u{1f600}', 2)}`)}${blank()}:${blank()}${drawJson(random, depth - 1)}`;
    return `{${blank()}${list(member)}${blank()}}`;
  }
  if (kind === 4) return `[${blank()}${list(() => drawJson(random, depth - 1))}${blank()}]`;
  if (kind === 3) return string();
  return random.pick([
    ...['null', 'true', 'false', '0', '-0', '1.5', '-12e3', '1E+2', '123456789012345678901', '0.1e-7'],
  ]);
}

test('documents that JSON.parse accepts are read to the same values', () => {
  const random = seeded();
  for (let round = 0; round < 3000; round++) {
    const document = ` ${drawJson(random, 5)}\n`;
    assert.deepEqual(
      plain(readJson(document, 32)),
      mapped(JSON.parse(document)),
      `seed ${random.seed}: ${document}`,
    );
  }
});

test('mutated documents are accepted or rejected as by JSON.parse, except for duplicate names', () => {
  const random = seeded();
  let refused = 0;
  for (let round = 0; round < 6000; round++) {
    const document = mutated(random, drawJson(random, 4));
    const expected = attempt(() => mapped(JSON.parse(document)));
    const actual = attempt(() => plain(readJson(document, 32)));
    if (actual instanceof JsonError && actual.message.endsWith('found a duplicate member name')) continue;
    const told = `seed ${random.seed}: ${JSON.stringify(document)} ${String(actual)}`;
    if (expected instanceof SyntaxError) assert.ok(actual instanceof JsonError, told);
    else assert.deepEqual(actual, expected, told);
    refused += expected instanceof SyntaxError ? 1 : 0;
  }
  assert.ok(refused > 1000, `seed ${random.seed}: only ${refused} were refused, so little was tested`);
});

function mutated(random: Seeded, document: string): string {
  const at = random.below(document.length + 1);
  const piece = random.pick([
    ...['', '"', '\\', ',', ':', '{', ']', '}', '0', '-', '.', 'e', '\u0001', '\u00a0', '\ufeff', 't'],
    ...['\\u12', '//'],
  ]);
  return document.slice(0, at) + piece + document.slice(at + random.below(3));
}

function attempt(make: () => unknown): unknown {
  try {
    return make();
  } catch (error) {
    return error;
  }
}

const refused: [document: string, line: number, column: number, message: RegExp][] = [
  ['', 1, 1, /found the end of the document, expected a value/],
  ['   \n ', 2, 2, /found the end of the document, expected a value/],
  ['\ufeff{}', 1, 1, /found U\+FEFF, expected a value/],
  ['{"a":1,}', 1, 8, /found "}", expected a member name in double quotes/],
  ['[1,]', 1, 4, /found "\]", expected a value/],
  ['[1 2]', 1, 4, /found "2", expected "," or "\]"/],
  ['{"a" 1}', 1, 6, /found "1", expected ":"/],
  ["{'a':1}", 1, 2, /found "'", expected a member name/],
  ['{a:1}', 1, 2, /found "a", expected a member name/],
  ['{"a":1}}', 1, 8, /found "}", expected the end/],
  ['01', 1, 2, /found "1", expected the end/],
  ['+1', 1, 1, /found "\+", expected a value/],
  ['.5', 1, 1, /found ".", expected a value/],
  ['1.', 1, 2, /found ".", expected the end/],
  ['NaN', 1, 1, /found "N", expected a value/],
  ['tru', 1, 1, /found "t", expected a value/],
  ['/* */1', 1, 1, /found "\/", expected a value/],
  ['"a\nb"', 1, 3, /found U\+000A, expected an escape instead of a control character/],
  ['"a\\x"', 1, 4, /found "x", expected one of the escapes/],
  ['"\\u12g4"', 1, 4, /found "1", expected four hexadecimal digits/],
  ['"abc', 1, 5, /found the end of the document, expected '"'/],
  ['{"é\u{1f600}":1,\n"a":\n  ?}', 3, 3, /found "\?", expected a value/],
  ['[\r\n\r1,\r\n\u{1f600}]', 4, 1, /found U\+1F600, expected a value/],
  ['{"a":1,"b":2,\n "a":3}', 2, 2, /found a duplicate member name/],
  ['{"a":1,"\\u0061":3}', 1, 8, /found a duplicate member name/],
  ['{"__proto__":1,"__proto__":1}', 1, 16, /found a duplicate member name/],
];

for (const [document, line, column, message] of refused) {
  test(`${JSON.stringify(document)} is rejected at line ${line}, column ${column}`, () => {
    assert.throws(
      () => readJson(document, 32),
      (error) => {
        assert.ok(error instanceof JsonError);
        assert.match(error.message, message);
        assert.match(error.message, new RegExp(`^Line ${line}, column ${column}: `));
        assert.deepEqual([error.line, error.column], [line, column]);
        return true;
      },
    );
  });
}

test('nesting is accepted up to the limit, and rejected beyond it', () => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  assert.equal(readJson(nested(5), 5).kind, 'array');
  assert.throws(() => readJson(nested(6), 5), /column 6: found a value that is nested deeper than 5 levels/);
  assert.throws(() => readJson('{"a":'.repeat(3) + '{}'.padEnd(5, '}'), 3), /deeper than 3 levels/);
});

test('nesting never exhausts the stack, even without a limit', () => {
  for (const opening of ['[', '{"a":']) {
    assert.throws(() => readJson(opening.repeat(500_000), Infinity), /deeper than 1000 levels/);
  }
});

test('member names such as __proto__ do not pollute prototypes', () => {
  const node = readJson('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}', 32);
  assert.ok(node.kind === 'object' && node.members.has('__proto__') && node.members.has('constructor'));
  assert.equal(Reflect.get({}, 'polluted'), undefined);
});

test('each value has the position of its beginning', () => {
  const node = readJson('{\n  "a": [1,\r\n "é\u{1f600}", true]}', 32);
  assert.ok(node.kind === 'object');
  const list = node.members.get('a')?.value;
  assert.ok(list?.kind === 'array');
  const text = '{\n  "a": [1,\r\n "é\u{1f600}", true]}';
  const places = list.items.map(({ at }) => positionAt(text, at));
  assert.deepEqual(places, [
    { line: 2, column: 9 },
    { line: 3, column: 2 },
    { line: 3, column: 8 },
  ]);
});
