import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import zlib from 'node:zlib';
import { CorruptionError } from '../../../src/store/corruption-error.ts';
import { nodeDisk } from '../../../src/store/files/disk.ts';
import { formatLine } from '../../../src/store/log/line.ts';
import { readSnapshot } from '../../../src/store/snapshot/reader.ts';
import { writeSnapshot } from '../../../src/store/snapshot/writer.ts';
import { State } from '../../../src/store/state/state.ts';
import type { StoredItem } from '../../../src/store/store.ts';
import { seeded } from '../../support/seeded.ts';
import { formatSnapshot, head, make, reread, seen } from '../../support/store/snapshot.ts';
import { long, wideStride } from '../../support/store/thoroughness.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const at = Date.UTC(2013, 3, 20, 12, 59, 24, 7);

/** A state with so many items that the store named, and some that a client did. */
function createState(items: number): State {
  const state = new State();
  for (let count = 0; count < items; count += 1)
    make(state, { kind: 'create', collection: '/a', value: { n: count, text: 'ž \u{1f511} "\\' }, at });
  for (const id of ['9000', 'a"b', 'a\\', 'a-name-that-is-longer-than-a-number', '"']) {
    make(state, { kind: 'put', collection: '/b', id, expected: 'absent', value: { id }, at });
  }
  return state;
}

/** Returns the lines of a snapshot, parsed. */
function parseLines(text: string): { readonly items?: readonly StoredItem[] }[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Returns the items of a snapshot. */
function listItems(text: string): readonly StoredItem[] {
  return parseLines(text).flatMap(({ items = [] }) => items);
}

describe('a snapshot', () => {
  test('has the specified lines and checksums', () => {
    const state = new State();
    make(state, { kind: 'create', collection: '/a', value: { title: 'ž', sold: true }, at });
    make(state, { kind: 'put', collection: '/a', id: '5', expected: 'absent', value: {}, at });
    const gone = make(state, { kind: 'put', collection: '/b', id: 'x', expected: 'absent', value: {}, at });
    make(state, { kind: 'delete', collection: '/b', id: 'x', expected: gone.revision, at });
    const date = '"modified":"2013-04-20T12:59:24.007Z"';
    const lines = [
      '"snapshot":2,"lineage":"k3x9","generation":7,"revision":4,"sequence":3,"opened":"2013-04-20T12:59:24.000Z"}',
      `"seq":1,"collection":"/a","counter":1,"chosen":[[5,5]],"sequence":2,"revision":2,${date},"items":[` +
        `\t{"id":"1","sequence":1,"revision":1,${date},"value":{"title":"ž","sold":true}},` +
        `\t{"id":"5","sequence":2,"revision":2,${date},"value":{}}\t]}`,
      `"seq":2,"collection":"/b","counter":0,"chosen":[],"sequence":1,"revision":4,${date},"items":[\t]}`,
      '"seq":3,"reached":4}',
    ].map((line) => `{"crc":"${zlib.crc32(line).toString(16).padStart(8, '0')}",${line}\n`);
    const text = formatSnapshot(state, { generation: 7, sequence: 3, reached: 4 });
    assert.equal(text, lines.join(''));
    assert.equal(parseLines(text).length, 4);
  });

  test('of an empty state is read as an empty state', async (context) => {
    const directory = temporaryDirectory(context);
    const snapshot = await reread(directory, formatSnapshot(new State(12), { generation: 3 }));
    assert.deepEqual(seen(snapshot.state), { revision: 12, views: [] });
    assert.deepEqual(snapshot.head, { ...head, generation: 3, revision: 12 });
    assert.equal(await readSnapshot(nodeDisk, join(directory, 'absent')), undefined);
  });

  for (const items of [1, 255, 256, 257, 700]) {
    test(`of ${items} items is read and written again unchanged`, async (context) => {
      const state = createState(items);
      const text = formatSnapshot(state);
      const { state: read } = await reread(temporaryDirectory(context), text);
      assert.equal(read.collection('/a')?.count, items);
      assert.deepEqual(seen(read), seen(state));
      assert.equal(formatSnapshot(read), text);
    });
  }

  test('of large items has few items in each block', async (context) => {
    const state = new State();
    for (let count = 0; count < 9; count += 1)
      make(state, { kind: 'create', collection: '/a', value: { text: 'x'.repeat(400_000) }, at });
    const text = formatSnapshot(state);
    assert.equal(parseLines(text).length, 1 + 3 + 1);
    const read = await reread(temporaryDirectory(context), text);
    assert.deepEqual(seen(read.state), seen(state));
    assert.equal(formatSnapshot(read.state), text);
  });

  test('can be read and changed like the original state', async (context) => {
    const random = seeded();
    const directory = temporaryDirectory(context);
    const [stays, before] = [createState(600), createState(600)];
    let goes = (await reread(directory, formatSnapshot(before))).state;
    for (let round = 0; round < 400; round += 1) {
      const id = String(1 + random.below(620));
      const revision = stays.read('/a', id)?.revision;
      const change =
        revision === undefined || random.below(8) === 0
          ? ({ kind: 'create', collection: '/a', value: { round }, at: at + round } as const)
          : random.below(2) === 0
            ? ({ kind: 'delete', collection: '/a', id, expected: revision, at: at + round } as const)
            : ({ kind: 'put', collection: '/a', id, expected: revision, value: { round }, at } as const);
      assert.deepEqual(make(goes, change), make(stays, change), `SEED=${random.seed}, round ${round}`);
      if (random.below(40) === 0) goes = (await reread(directory, formatSnapshot(goes))).state;
    }
    assert.deepEqual(seen(goes), seen(stays), `SEED=${random.seed}`);
    assert.deepEqual(
      listItems(formatSnapshot(goes)),
      listItems(formatSnapshot(stays)),
      `SEED=${random.seed}`,
    );
  });

  test('with an id that is not a string is corrupt', async (context) => {
    const [first = '', block = '', ...others] = formatSnapshot(createState(1)).split('\n');
    const changed = formatLine(block.slice('{"crc":"89abcdef",'.length).replace('"id":"1"', '"id":1'));
    const text = [first, changed.trimEnd(), ...others].join('\n');
    await assert.rejects(() => reread(temporaryDirectory(context), text), /this is not an item/);
  });

  test('is read in chunks of any length', async (context) => {
    const text = Buffer.from(formatSnapshot(createState(300)));
    const file = { size: 0, close: async () => {} };
    const random = seeded();
    for (let round = 0; round < 20; round += 1) {
      const read = async (into: Uint8Array, position: number): Promise<number> =>
        text.copy(into, 0, position, position + Math.min(into.length, 1 + random.below(9000)));
      const disk = { ...nodeDisk, openToRead: async () => ({ ...file, size: round, read }) };
      const snapshot = await readSnapshot(disk, join(temporaryDirectory(context), 'store.jsonl'));
      assert.deepEqual(seen(snapshot?.state ?? new State()), seen(createState(300)), `SEED=${random.seed}`);
    }
  });

  test('that is copied during changes has the state at the beginning of the copy', () => {
    const state = createState(600);
    const parts = writeSnapshot(head, state, () => 0);
    const text = [parts.next().value, parts.next().value];
    const first = state.read('/a', '1');
    make(state, { kind: 'delete', collection: '/a', id: '1', expected: first?.revision ?? 0, at });
    make(state, { kind: 'put', collection: '/a', id: '1', expected: 'absent', value: {}, at });
    make(state, { kind: 'create', collection: '/c', value: {}, at });
    const items = listItems([...text, ...parts].join(''));
    assert.deepEqual(
      items.filter(({ id }) => id === '1').map(({ sequence }) => sequence),
      [1],
    );
    assert.equal(items.length, 605);
  });

  test('that is copied while items are created has all earlier items and no new ones', () => {
    for (const [before, since] of [
      [1, 600],
      [200, 300],
      [500, 40],
      [700, 900],
    ] as const) {
      const state = new State();
      const create = (): StoredItem => make(state, { kind: 'create', collection: '/a', value: { a: 1 }, at });
      const there = Array.from({ length: before }, create);
      const parts = writeSnapshot({ ...head, revision: state.revision }, state, () => 0);
      const first = parts.next().value;
      const made = Array.from({ length: since }, create);
      assert.deepEqual(
        listItems([first, ...parts].join('')).map(({ id }) => id),
        there.map(({ id }) => id),
      );
      for (const { id, ...entry } of [...there, ...made])
        assert.deepEqual(state.read('/a', id), { id, ...entry });
    }
  });
});

describe('an invalid snapshot', () => {
  const small = Buffer.from(formatSnapshot(createState(2)));

  async function refused(directory: string, content: string | Uint8Array): Promise<CorruptionError> {
    const error = await reread(directory, content).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!(error instanceof CorruptionError)) assert.fail(`it was read, or failed with ${error}`);
    return error;
  }

  test('is rejected if any byte is changed', async (context) => {
    const directory = temporaryDirectory(context);
    const masks = [0x01, 0x20, 0x80, 0xff];
    for (let at = 0; at < small.length; at += 1) {
      for (const [index, mask] of masks.entries()) {
        if (!long && index !== at % masks.length) continue;
        const flipped = Buffer.from(small);
        flipped[at] = (flipped[at] ?? 0) ^ mask;
        await refused(directory, flipped).catch((error: Error) => {
          throw new Error(`byte ${at} by ${mask}: ${error.message}`);
        });
      }
    }
  });

  test('is rejected if it is truncated at any byte', async (context) => {
    const directory = temporaryDirectory(context);
    const random = seeded();
    for (let length = random.below(wideStride); length < small.length; length += wideStride)
      await refused(directory, small.subarray(0, length)).catch((error: Error) => {
        throw new Error(`cut to ${length} (SEED=${random.seed}): ${error.message}`);
      });
  });

  test('is rejected with the line and the byte of the damage', async (context) => {
    const directory = temporaryDirectory(context);
    const text = small.toString();
    const lines = text.split('\n');
    const findByte = (line: number): number => Buffer.byteLength(lines.slice(0, line - 1).join('\n')) + 1;
    const cases: readonly [what: string, content: string, line: number, message: RegExp][] = [
      [
        'a changed value',
        text.replace('"n":1', '"n":7'),
        2,
        /line 2, at byte \d+: .* not match its checksum/,
      ],
      ['a missing block', lines.toSpliced(1, 1).join('\n'), 2, /it is block 2, and 1 was expected/],
      ['blocks in another order', lines.with(1, lines[2] ?? '').join('\n'), 2, /it is block 2, and 1/],
      ['a missing end', lines.slice(0, -2).join('\n'), 3, /the line is incomplete/],
      ['a missing last line', `${lines.slice(0, -2).join('\n')}\n`, 4, /truncated here/],
      ['something after the end', `${text}{}\n`, 5, /does not match its checksum/],
      ['another first line', text.replace('k3x9', 'k3x8'), 1, /its first line does not match its checksum/],
    ];
    for (const [what, content, line, message] of cases) {
      const error = await refused(directory, content);
      assert.match(error.message, message, what);
      assert.match(error.message, /countersign check --repair NEWDIR/, what);
      assert.equal(error.file, join(directory, 'store.jsonl'));
      assert.equal(error.location?.line, line, what);
      if (content.split('\n')[line - 2] === lines[line - 2] && line > 1)
        assert.equal(error.location?.byte, findByte(line), what);
    }
  });
});
