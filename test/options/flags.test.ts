import assert from 'node:assert/strict';
import test from 'node:test';
import { type Arity, readArguments } from '../../src/options/flags.ts';

const known: ReadonlyMap<string, Arity> = new Map([
  ['--port', 'value'],
  ['--scope', 'values'],
  ['--memory', 'toggle'],
]);

function read(...argv: string[]) {
  const { flags, lists, words, faults } = readArguments(argv, known);
  return { flags: Object.fromEntries(flags), lists: Object.fromEntries(lists), words, faults };
}

const nothing = { flags: {}, lists: {}, words: [], faults: [] };

test('a value stands behind its flag, or behind an equals sign', () => {
  for (const argv of [['--port', '80'], ['--port=80']])
    assert.deepEqual(read(...argv), { ...nothing, flags: { '--port': '80' } });
});

test('a toggle takes no value from behind it, and may have one attached', () => {
  assert.deepEqual(read('--memory', 'x'), { ...nothing, flags: { '--memory': true }, words: ['x'] });
  assert.deepEqual(read('--memory=false'), { ...nothing, flags: { '--memory': 'false' } });
});

test('a flag that may come again keeps all its values in order', () => {
  assert.deepEqual(read('--scope', 'b', '--scope=a'), { ...nothing, lists: { '--scope': ['b', 'a'] } });
});

test('what looks like a flag is no value unless it is attached', () => {
  assert.deepEqual(read('--port', '--memory'), {
    ...nothing,
    flags: { '--memory': true },
    faults: ['--port requires a value'],
  });
  assert.deepEqual(read('--port=--memory'), { ...nothing, flags: { '--port': '--memory' } });
  assert.deepEqual(read('--port', '-1'), { ...nothing, flags: { '--port': '-1' } });
});

test('behind two dashes nothing is a flag, wherever they stand', () => {
  assert.deepEqual(read('--', '--memory', '--'), { ...nothing, words: ['--memory', '--'] });
  assert.deepEqual(read('a', '--memory', '--', '--port'), {
    ...nothing,
    flags: { '--memory': true },
    words: ['a', '--port'],
  });
  assert.deepEqual(read('--port', '--', '80').faults, ['--port requires a value']);
});

test('one dash alone is a word', () => {
  assert.deepEqual(read('-', '--memory'), { ...nothing, flags: { '--memory': true }, words: ['-'] });
});

test('the value of an unknown flag is no word', () => {
  assert.deepEqual(read('--prot', '80'), {
    ...nothing,
    faults: ['unknown option --prot; did you mean "--port"?'],
  });
});

test('a flag that comes twice is a fault', () => {
  assert.deepEqual(read('--port', '80', '--port', '81').faults, ['--port is given more than once']);
});
