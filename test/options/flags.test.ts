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

test('a flag accepts its value as the next argument or after an equals sign', () => {
  for (const argv of [['--port', '80'], ['--port=80']])
    assert.deepEqual(read(...argv), { ...nothing, flags: { '--port': '80' } });
});

test('a toggle does not consume the next argument, and accepts an attached value', () => {
  assert.deepEqual(read('--memory', 'x'), { ...nothing, flags: { '--memory': true }, words: ['x'] });
  assert.deepEqual(read('--memory=false'), { ...nothing, flags: { '--memory': 'false' } });
});

test('a repeatable flag collects all its values in order', () => {
  assert.deepEqual(read('--scope', 'b', '--scope=a'), { ...nothing, lists: { '--scope': ['b', 'a'] } });
});

test('a value that starts with two dashes must be attached to its flag', () => {
  assert.deepEqual(read('--port', '--memory'), {
    ...nothing,
    flags: { '--memory': true },
    faults: ['--port requires a value'],
  });
  assert.deepEqual(read('--port=--memory'), { ...nothing, flags: { '--port': '--memory' } });
  assert.deepEqual(read('--port', '-1'), { ...nothing, flags: { '--port': '-1' } });
});

test('all arguments after -- are positional, even if a flag before it requires a value', () => {
  assert.deepEqual(read('--', '--memory', '--'), { ...nothing, words: ['--memory', '--'] });
  assert.deepEqual(read('a', '--memory', '--', '--port'), {
    ...nothing,
    flags: { '--memory': true },
    words: ['a', '--port'],
  });
  assert.deepEqual(read('--port', '--', '80').faults, ['--port requires a value']);
});

test('a single dash is a positional argument', () => {
  assert.deepEqual(read('-', '--memory'), { ...nothing, flags: { '--memory': true }, words: ['-'] });
});

test('the value of an unknown flag is not a positional argument', () => {
  assert.deepEqual(read('--prot', '80'), {
    ...nothing,
    faults: ['unknown option --prot; did you mean "--port"?'],
  });
});

test('a flag that is not repeatable is rejected if it occurs twice', () => {
  assert.deepEqual(read('--port', '80', '--port', '81').faults, ['--port is given more than once']);
});
