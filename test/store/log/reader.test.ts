import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ChainedLines, type Coverage, formatLine } from '../../../src/store/log/line.ts';
import { type LogContent, type LogFormat, LogReader } from '../../../src/store/log/reader.ts';
import { seeded } from '../../support/seeded.ts';

/** Returns the format of a log of numbers. */
function formatOf(coverage: Coverage, onNumber: (n: number) => void): LogFormat {
  const onLine = (text: string): void => onNumber(JSON.parse(text).n);
  const strays = coverage === 'line' ? { onStray: () => true } : {};
  return { coverage, preallocated: coverage === 'line', onLine, ...strays };
}

/** Returns the lines with these members, after the header. */
function linesOf(coverage: Coverage, members: readonly string[]): string[] {
  const all = ['"n":0}', ...members];
  if (coverage === 'line') return all.map(formatLine);
  const lines = new ChainedLines();
  return all.map((each) => {
    lines.text = '';
    lines.add(each);
    return lines.text;
  });
}

/** Reads bytes in parts of this length. */
function readLog(
  coverage: Coverage,
  bytes: Buffer,
  part = bytes.length,
): LogContent & { readonly read: readonly number[] } {
  const read: number[] = [];
  const reader = new LogReader(formatOf(coverage, (n) => void read.push(n)));
  let rest = Buffer.alloc(0);
  for (let at = 0; at < bytes.length; at += part) {
    const next = Buffer.concat([rest, bytes.subarray(at, at + part)]);
    rest = next.subarray(reader.take(next, false));
  }
  reader.take(rest, true);
  return { ...reader.content(), read: read.slice(1) };
}

for (const coverage of ['line', 'chain'] as const) {
  describe(`a log with ${coverage} checksums`, () => {
    const members = Array.from(
      { length: 8 },
      (_, index) => `"n":${index + 1},"text":"é ${'x'.repeat(index)}"}`,
    );
    const lines = linesOf(coverage, members);
    const whole = Buffer.from(lines.join(''));

    test('is read completely in parts of any length', () => {
      for (const part of [1, 7, 64, whole.length]) {
        const { read, lines, bytes, broken, more } = readLog(coverage, whole, part);
        assert.deepEqual(read, [1, 2, 3, 4, 5, 6, 7, 8]);
        assert.deepEqual([lines, bytes, broken, more], [9, whole.length, undefined, false]);
      }
    });

    test('has all complete lines if it is truncated anywhere, and reports an incomplete line', () => {
      for (let length = 0; length <= whole.length; length += 1) {
        const { read, bytes, broken, more } = readLog(coverage, whole.subarray(0, length));
        const complete = whole.subarray(0, length).lastIndexOf('\n') + 1;
        assert.deepEqual([bytes, more], [complete, false]);
        assert.equal(read.length, Math.max(0, whole.subarray(0, length).toString().split('\n').length - 2));
        assert.equal(broken?.incomplete, complete === length ? undefined : true);
      }
    });

    test('has the lines before a changed byte, and reports that others follow', () => {
      const random = seeded();
      for (let round = 0; round < 500; round += 1) {
        const damaged = Buffer.from(whole);
        const at = random.below(whole.length);
        damaged[at] = (damaged[at] ?? 0) ^ (1 + random.below(255));
        const before = whole.subarray(0, at).toString().split('\n').length - 1;
        const { read, lines, broken, more } = readLog(coverage, damaged, 1 + random.below(100));
        const seed = `SEED=${random.seed}, byte ${at}`;
        assert.equal(lines, before, seed);
        assert.deepEqual(read, [1, 2, 3, 4, 5, 6, 7, 8].slice(0, Math.max(0, before - 1)), seed);
        assert.equal(broken?.line, before + 1, seed);
        // Nothing follows the last line, nor the line before it if its line end was changed.
        if (before < 7) assert.equal(more, true, seed);
      }
    });

    test('is read up to a repeated, moved or missing line if its checksums form a chain', () => {
      const [first = '', second = '', third = ''] = lines;
      const others: readonly (readonly string[])[] = [
        [first, second, second],
        [first, third, second],
        [first, third],
      ];
      for (const each of others) {
        const { lines, broken } = readLog(coverage, Buffer.from(each.join('')));
        const valid = coverage === 'line' ? each.length : each[1] === second ? 2 : 1;
        assert.deepEqual([lines, broken === undefined], [valid, valid === each.length]);
      }
    });
  });
}

test('NUL bytes at the end of a log are preallocated space, and before other lines they are damage', () => {
  const [header = '', line = ''] = linesOf('line', ['"n":1}']);
  const ended = readLog('line', Buffer.from(`${header}${line}${'\0'.repeat(100)}`), 16);
  assert.deepEqual([ended.read, ended.broken], [[1], undefined]);
  const between = readLog('line', Buffer.from(`${header}${'\0'.repeat(100)}${line}`));
  assert.deepEqual([between.read, between.broken?.line, between.more], [[], 2, true]);
  const chained = readLog('chain', Buffer.from(`${linesOf('chain', []).join('')}\0\0`));
  assert.equal(chained.broken?.incomplete, true);
});
