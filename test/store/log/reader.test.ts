import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CorruptionError } from '../../../src/store/corruption-error.ts';
import { formatLine } from '../../../src/store/log/line.ts';
import { type LogContent, type LogFormat, LogReader } from '../../../src/store/log/reader.ts';
import { seeded } from '../../support/seeded.ts';

type Head = { readonly kind: 'head'; readonly sequence: number };
type Line = { readonly kind: 'claim'; readonly seq: number };

/** Returns the format of a log of numbers. */
function formatOf(preallocated: boolean, onNumber: (n: number) => void): LogFormat<Head, Line> {
  return {
    name: 'nonces',
    preallocated,
    read(text) {
      const { sequence, seq } = JSON.parse(text);
      return seq === undefined ? { kind: 'head', sequence } : { kind: 'claim', seq };
    },
    take: (record) => record.kind === 'claim' && onNumber(record.seq),
    reject: ({ message }, position) => new CorruptionError('the file', message, position),
  };
}

/** Returns the head of a file after line 5, and lines with these numbers. */
function linesOf(numbers: readonly number[]): string[] {
  const lines = numbers.map((seq) => formatLine(`"seq":${seq},"text":"é ${'x'.repeat(seq)}"}`));
  return [formatLine('"sequence":5}'), ...lines];
}

/** Reads bytes in parts of this length. */
function readLog(
  bytes: Buffer,
  { preallocated = true, part = bytes.length } = {},
): LogContent<Head> & { readonly read: readonly number[] } {
  const read: number[] = [];
  const reader = new LogReader(formatOf(preallocated, (n) => void read.push(n)));
  let rest = Buffer.alloc(0);
  for (let at = 0; at < bytes.length; at += part) {
    const next = Buffer.concat([rest, bytes.subarray(at, at + part)]);
    rest = next.subarray(reader.take(next, false));
  }
  reader.take(rest, true);
  return { ...reader.content(), read };
}

describe('a log', () => {
  const numbers = [6, 7, 8, 9, 10, 11, 12, 13];
  const whole = Buffer.from(linesOf(numbers).join(''));

  for (const preallocated of [true, false]) {
    const what = preallocated ? 'with preallocated space' : 'without preallocated space';

    test(`${what} is read completely in parts of any length`, () => {
      for (const part of [1, 7, 64, whole.length]) {
        const { read, sequence, lines, bytes, broken, more } = readLog(whole, { preallocated, part });
        assert.deepEqual(read, numbers);
        assert.deepEqual([sequence, lines, bytes, broken, more], [13, 9, whole.length, undefined, false]);
      }
    });

    test(`${what} has all complete lines if it is truncated anywhere, and reports an incomplete line`, () => {
      for (let length = 0; length <= whole.length; length += 1) {
        const { read, bytes, broken, more } = readLog(whole.subarray(0, length), { preallocated });
        const complete = whole.subarray(0, length).lastIndexOf('\n') + 1;
        assert.deepEqual([bytes, more], [complete, false]);
        assert.equal(read.length, Math.max(0, whole.subarray(0, length).toString().split('\n').length - 2));
        assert.equal(broken?.incomplete, complete === length ? undefined : true);
      }
    });

    test(`${what} has the lines before a changed byte, and reports that others follow`, () => {
      const random = seeded();
      for (let round = 0; round < 500; round += 1) {
        const damaged = Buffer.from(whole);
        const at = random.below(whole.length);
        damaged[at] = (damaged[at] ?? 0) ^ (1 + random.below(255));
        const before = whole.subarray(0, at).toString().split('\n').length - 1;
        const part = 1 + random.below(100);
        const { read, lines, broken, more } = readLog(damaged, { preallocated, part });
        const seed = `SEED=${random.seed}, byte ${at}`;
        assert.equal(lines, before, seed);
        assert.deepEqual(read, numbers.slice(0, Math.max(0, before - 1)), seed);
        assert.equal(broken?.line, before + 1, seed);
        // Nothing follows the last line.
        if (before < 8) assert.equal(more, true, seed);
      }
    });
  }

  test('is rejected at a repeated, moved or missing line, and at a second or a missing head', () => {
    const cases: readonly (readonly [readonly number[], RegExp])[] = [
      [[6, 7, 7], /line 4, at byte [0-9]+: it is claim 7, and 8 was expected/],
      [[7, 6], /line 2, at byte [0-9]+: it is claim 7, and 6 was expected/],
      [[6, 8], /line 3, at byte [0-9]+: it is claim 8, and 7 was expected/],
    ];
    for (const [given, message] of cases)
      assert.throws(() => readLog(Buffer.from(linesOf(given).join(''))), { message });
    const [head = '', line = ''] = linesOf([6]);
    assert.throws(() => readLog(Buffer.from(line)), /this is not the first line of a nonces file/);
    assert.throws(() => readLog(Buffer.from(head + head)), /this is the first line of a nonces file/);
  });

  test('may end with NUL bytes if space is preallocated, and before other lines they are damage', () => {
    const [head = '', line = ''] = linesOf([6]);
    const ended = Buffer.from(`${head}${line}${'\0'.repeat(100)}`);
    assert.deepEqual([readLog(ended, { part: 16 }).read, readLog(ended).broken], [[6], undefined]);
    const between = readLog(Buffer.from(`${head}${'\0'.repeat(100)}${line}`));
    assert.deepEqual([between.read, between.broken?.line, between.more], [[], 2, true]);
    assert.equal(readLog(ended, { preallocated: false }).broken?.incomplete, true);
  });
});
