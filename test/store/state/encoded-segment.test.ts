import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatItem } from '../../../src/store/encoding/item-json.ts';
import { type EntryHead, encodeLines, joinBytes, scanLines } from '../../../src/store/state/encoded-lines.ts';
import { EncodedSegment } from '../../../src/store/state/encoded-segment.ts';
import { EntryCache } from '../../../src/store/state/entry-cache.ts';
import { OrderedIndex } from '../../../src/store/state/ordered-index.ts';
import type { StoredItem } from '../../../src/store/store.ts';
import { seeded } from '../../support/seeded.ts';

const modified = Date.UTC(2013, 3, 20, 12, 59, 24, 7);

function entryOf(
  sequence: number,
  id = String(sequence),
  value: StoredItem['value'] = { text: 'ž\n"' },
): StoredItem {
  return { id, sequence, revision: sequence, modified, value };
}

function blockOf(entries: readonly StoredItem[]): Buffer {
  return Buffer.from(`${entries.map((entry) => formatItem(entry)).join(',\n')}\n`);
}

function runOf(bytes: Buffer): EncodedSegment {
  const scanned = scanLines(bytes, () => true);
  if (scanned === undefined) assert.fail('these are no lines of items');
  return new EncodedSegment(scanned, new EntryCache());
}

function appendLines(order: OrderedIndex, entries: readonly StoredItem[]): void {
  const scanned = scanLines(blockOf(entries), () => true);
  if (scanned === undefined) assert.fail('these are no lines of items');
  order.appendLines(scanned);
}

function headOf(run: EncodedSegment, of: number): EntryHead {
  const { sequence, revision, modified } = run.head(of) ?? assert.fail(`nothing has the sequence ${of}`);
  return { sequence, revision, modified };
}

describe('the lines of items', () => {
  test('are scanned for the id and the sequence of each item, for any id', () => {
    const ids = ['1', '999999999', '1000000000', '0', '01', 'a"b', 'a\\', '\\"', '"', '', 'ž\u{1f511}', '-1'];
    const entries = ids.map((id, index) => entryOf(3 * index + 1, id, { id: '","sequence":5' }));
    const found: [string, number][] = [];
    const scanned = scanLines(blockOf(entries), (id, sequence) => found.push([String(id), sequence]) > 0);
    assert.deepEqual(
      found,
      entries.map(({ id, sequence }) => [id, sequence]),
    );
    assert.deepEqual(
      [...(scanned?.sequences ?? [])],
      entries.map(({ sequence }) => sequence),
    );
    assert.deepEqual(runOf(blockOf(entries)).after(0, 99), entries);
  });

  test('provide the sequence, revision and date for an id of any length', () => {
    for (let length = 1; length < 400; length += 1) {
      const entry = entryOf(7, 'x'.repeat(length));
      const head = headOf(runOf(blockOf([entry])), 7);
      assert.deepEqual(head, { sequence: 7, revision: 7, modified }, `an id of ${length}`);
    }
  });

  test('are scanned correctly if their members have another order', () => {
    const line =
      '{"id":"7","value":{"sequence":2},"sequence":4,"revision":1,"modified":"2013-04-20T12:59:24.007Z"}\n';
    assert.deepEqual(scanLines(Buffer.from(line), () => true)?.sequences[0], 4);
  });

  test('are rejected unless they are lines of items in ascending sequence', () => {
    const [one, two] = [formatItem(entryOf(1)), formatItem(entryOf(2))];
    const cases = [
      [`${two},\n${one}\n`, 'they descend'],
      [`${one},\n${one}\n`, 'they do not ascend'],
      [`${one}\n${two}\n`, 'a comma is missing'],
      [`${one},\n`, 'a comma too many'],
      [`${one},\n${two}`, 'the end is missing'],
      [`${one},\n\n${two}\n`, 'a line is empty'],
      [` ${one}\n`, 'it begins in another way'],
      [`${formatItem(entryOf(0, '1'))}\n`, 'there is no sequence 0'],
    ] as const;
    for (const [text, why] of cases)
      assert.equal(
        scanLines(Buffer.from(text), () => true),
        undefined,
        why,
      );
    let asked = 0;
    assert.equal(
      scanLines(blockOf([entryOf(1), entryOf(2)]), () => ++asked < 1),
      undefined,
    );
    assert.equal(asked, 1);
  });
});

describe('a run of a snapshot', () => {
  test('parses only the line of a requested item', () => {
    const entries = Array.from({ length: 256 }, (_, index) => entryOf(index + 1));
    const text = blockOf(entries).toString();
    // No other line could be read.
    const lines = text
      .split('\n')
      .map((line, index) => (index === 99 ? line : line.replace('"value"', 'value')));
    const run = runOf(Buffer.from(lines.join('\n')));
    assert.deepEqual(run.find(100), entries[99]);
    assert.deepEqual(run.after(99, 1), [entries[99]]);
    assert.throws(() => run.find(101), SyntaxError);
    assert.equal(run.find(257), undefined);
    assert.equal(run.count, 256);
    assert.ok(run.replace(entryOf(101)));
    assert.ok(run.remove(99));
    const copied = String(joinBytes(encodeLines(run.parts()))).split('\n');
    const others = lines.toSpliced(98, 1).toSpliced(99, 1, `${formatItem(entryOf(101))},`);
    others[254] = `${formatItem(entryOf(256)).replace('"value"', 'value')},`;
    assert.deepEqual(copied, others);
  });

  test('never returns the former state of a changed item', () => {
    const order = new OrderedIndex();
    appendLines(order, [entryOf(1), entryOf(2)]);
    assert.deepEqual(order.find(1), entryOf(1));
    for (const text of ['longer than before', '', 'ž'.repeat(3)]) {
      const changed = { ...entryOf(1, '1', { text }), revision: 9 };
      order.replace(changed);
      assert.equal(order.head(1)?.revision, 9);
      assert.deepEqual(order.find(1), changed);
      assert.deepEqual(order.find(2), entryOf(2));
    }
    order.remove(1);
    assert.equal(order.find(1), undefined);
    assert.equal(order.head(1), undefined);
  });

  test('stores changed items as objects until it is copied, however many have changed', () => {
    const order = new OrderedIndex();
    const entries = Array.from({ length: 256 }, (_, index) => entryOf(index + 1));
    appendLines(order, entries);
    const changed = entries.map((entry) => ({ ...entry, revision: entry.revision + 256 }));
    for (const entry of changed) order.replace(entry);
    for (const entry of changed) assert.equal(order.find(entry.sequence), entry);
    assert.deepEqual(copied(order, 256), changed);
    assert.notEqual(order.find(1), changed[0], 'it is read from its line');
  });

  test('is split into pieces of limited size if its items become long', () => {
    const order = new OrderedIndex();
    appendLines(
      order,
      Array.from({ length: 64 }, (_, index) => entryOf(index + 1)),
    );
    const long = Array.from({ length: 64 }, (_, index) =>
      entryOf(index + 1, undefined, { text: String(index % 10).repeat(200_000) }),
    );
    for (const entry of long) order.replace(entry);
    assert.deepEqual([...order], long);
    assert.deepEqual(copied(order, 256), long);
    for (const piece of order.next(0, 256))
      assert.ok('bytes' in piece && piece.bytes.length < 3e6, 'no piece takes long');
  });

  test('replaces the objects of items when they are copied', () => {
    const order = new OrderedIndex();
    const entries = Array.from({ length: 700 }, (_, index) => entryOf(index + 1));
    for (const entry of entries) order.append(entry);
    assert.equal(order.find(5), entries[4]);
    assert.deepEqual(copied(order, 256), entries);
    assert.notEqual(order.find(5), entries[4], 'it is read from its line');
    assert.deepEqual([...order], entries);
    order.append(entryOf(701));
    assert.deepEqual(copied(order, 256), [...entries, entryOf(701)]);
  });

  test('returns the sequence, revision and date of an item without parsing its value, for any id', () => {
    const ids = [
      '1',
      'a"b',
      'a\\',
      '\\"',
      '"',
      '',
      'ž\u{1f511}',
      '","sequence":2,"revision":7',
      'é'.repeat(500),
    ];
    const entries = ids.map((id, index) => ({ ...entryOf(2 * index + 1, id), revision: 900 + index }));
    const run = runOf(blockOf(entries));
    for (const { sequence, revision } of entries)
      assert.deepEqual(headOf(run, sequence), { sequence, revision, modified });
    assert.equal(run.head(2), undefined);
    // What is no value is not looked at.
    const unread = runOf(Buffer.from(blockOf(entries.slice(0, 1)).toString().replace('"value"', 'value')));
    assert.deepEqual(headOf(unread, 1), { sequence: 1, revision: 900, modified });
    assert.throws(() => unread.find(1), SyntaxError);
  });

  test('returns the sequence, revision and date of an item with its members in another order', () => {
    const value = '{"id":"8","sequence":4,"revision":6,"modified":"2014-04-20T12:59:24.007Z"}';
    const line = `{"id":"7","value":${value},"sequence":4,"revision":5,"modified":"2013-04-20T12:59:24.007Z"}\n`;
    assert.deepEqual(headOf(runOf(Buffer.from(line)), 4), { sequence: 4, revision: 5, modified });
  });

  test('returns the same object if an item is requested again', () => {
    const run = runOf(blockOf([entryOf(1), entryOf(2)]));
    assert.equal(run.find(2), run.find(2));
    assert.equal(run.after(1, 1)[0], run.find(2));
  });

  test('evicts items that were requested long ago from its cache', () => {
    const recent = new EntryCache();
    const [first, second] = [entryOf(1), entryOf(1)];
    assert.equal(
      recent.get(1, 100, () => first),
      first,
    );
    for (let sequence = 2; sequence < 20_000; sequence += 1)
      recent.get(sequence, 100, () => entryOf(sequence));
    assert.equal(
      recent.get(1, 100, () => second),
      second,
    );
  });

  test('does not cache an item larger than the cache, and evicts items for large ones', () => {
    const recent = new EntryCache();
    const twice = (sequence: number, bytes: number): boolean => {
      const first = recent.get(sequence, bytes, () => entryOf(sequence));
      return recent.get(sequence, bytes, () => entryOf(sequence)) === first;
    };
    assert.equal(twice(1, 5_000_000), false);
    assert.equal(twice(2, 1_000_000), true);
    for (let sequence = 3; sequence < 20; sequence += 1) twice(sequence, 1_000_000);
    const again = entryOf(2);
    assert.equal(
      recent.get(2, 1_000_000, () => again),
      again,
    );
  });

  test('returns items up to a number of bytes, at least one, and continues after them', () => {
    const order = new OrderedIndex();
    for (const from of [1, 11, 21])
      appendLines(
        order,
        Array.from({ length: 10 }, (_, at) => entryOf(from + at)),
      );
    for (const bytes of [1, 150, 1000, 100_000]) {
      const found: number[] = [];
      let [more, pieces] = [true, 0];
      while (more) {
        const piece = order.after(found.at(-1) ?? 0, 25, bytes);
        assert.ok(piece.entries.length > 0 && piece.entries.length <= 25);
        found.push(...piece.entries.map(({ sequence }) => sequence));
        more = piece.more;
        pieces += 1;
      }
      assert.deepEqual(
        found,
        Array.from({ length: 30 }, (_, at) => at + 1),
      );
      assert.equal(pieces, { 1: 30, 100000: 2 }[bytes] ?? pieces);
    }
  });

  test('matches a list of the same items that are found, changed and copied at random', () => {
    const random = seeded();
    for (let round = 0; round < 60; round += 1) {
      const order = new OrderedIndex();
      const expected = new Map<number, StoredItem>();
      let sequence = 0;
      for (let run = 1 + random.below(3); run > 0; run -= 1) {
        const gaps = random.below(2) * 3;
        const entries = Array.from({ length: 1 + random.below(40) }, () => {
          sequence += 1 + random.below(gaps + 1);
          return entryOf(sequence);
        });
        appendLines(order, entries);
        for (const entry of entries) expected.set(entry.sequence, entry);
      }
      for (let step = 0; step < 250; step += 1) {
        const why = `SEED=${random.seed}, round ${round}, step ${step}`;
        const place = random.below(sequence + 4);
        const found = expected.get(place);
        if (random.below(2) === 0) assert.deepEqual(order.find(place), found, why);
        assert.equal(order.head(place)?.revision, found?.revision, why);
        // Often as many bytes as before, in as many characters or in fewer.
        const text = random.pick(['ž', 'ab']).repeat(random.below(random.pick([2, 90])));
        const value = { step: step % 10, text };
        const entry = { ...entryOf(place, `${place}`, value), revision: step + 1 };
        if (found === undefined && place > 0 && random.below(5) === 0) {
          order.insert(entry);
          expected.set(place, entry);
        } else if (found === undefined) {
          assert.throws(() => order.replace(entry), RangeError, why);
          assert.throws(() => order.remove(place), RangeError, why);
        } else if (random.below(2) === 0) {
          order.replace(entry);
          expected.set(place, entry);
        } else {
          order.remove(place);
          expected.delete(place);
        }
        const sorted = [...expected.values()].sort((one, other) => one.sequence - other.sequence);
        const [after, limit] = [random.below(sequence + 2), 1 + random.below(50)];
        const rest = sorted.filter((each) => each.sequence > after);
        assert.deepEqual(
          order.after(after, limit),
          { entries: rest.slice(0, limit), more: rest.length > limit },
          why,
        );
        if (step % 25 !== 0) continue;
        assert.deepEqual([...order], sorted, why);
        assert.equal(order.last, sorted.at(-1)?.sequence ?? 0, why);
        assert.deepEqual(copied(order, 1 + random.below(60)), sorted, why);
      }
    }
  });
});

/** All that a copy in parts of up to `limit` items has. */
function copied(order: OrderedIndex, limit: number): StoredItem[] {
  const entries: StoredItem[] = [];
  for (;;) {
    const pieces = order.next(entries.at(-1)?.sequence ?? 0, limit);
    if (pieces.length === 0) return entries;
    for (const piece of pieces) {
      const kept = entriesIn(joinBytes(piece));
      assert.deepEqual(
        kept.map(({ sequence }) => sequence),
        [...piece.sequences],
      );
      entries.push(...kept);
    }
  }
}

/** The items of lines, the last of which may have a comma. */
function entriesIn(lines: Buffer): StoredItem[] {
  const items: (Omit<StoredItem, 'modified'> & { modified: string })[] = JSON.parse(
    `[${lines.toString().replace(/,?\n$/, '')}]`,
  );
  return items.map(({ modified: date, ...item }) => ({ ...item, modified: Date.parse(date) }));
}
