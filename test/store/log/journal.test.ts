import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JournalBatch } from '../../../src/store/log/journal.ts';
import { verifyLine } from '../../../src/store/log/line.ts';
import { type ChangeRecord, formatMembers, readJournalRecord } from '../../../src/store/record.ts';
import type { StoredRecord } from '../../../src/store/store.ts';
import { seeded } from '../../support/seeded.ts';
import { formatJournalLine } from '../../support/store/history.ts';

const alphabet = 'aZ09 "\\/\u0000\u001f\u007fé\u2028\ud800\udc00\u{1f511}<&';

/** Some line that a store could write. */
function someLine(random: ReturnType<typeof seeded>, seq: number): ChangeRecord {
  const kind = random.pick(['create', 'put', 'delete'] as const);
  const text = (): string => random.text(alphabet, 20);
  const value: StoredRecord = {
    [text()]: text(),
    list: [text(), random.next() * 1e9, true],
    deep: { x: text() },
  };
  const change = {
    kind,
    collection: `/${text()}`,
    id: text(),
    sequence: random.below(2 ** 40),
    revision: random.below(2 ** 40),
    modified: Math.floor((random.next() - 0.5) * 1.728e16),
    ...(kind === 'delete' ? {} : { value }),
  };
  return { kind: 'change', seq, durable: random.below(seq), change };
}

function membersOf({ change }: ChangeRecord): string {
  return formatMembers(change, change.value && JSON.stringify(change.value));
}

test('a batch equals its lines formatted one by one, and is parsed unchanged', () => {
  const random = seeded();
  const gathered = new JournalBatch();
  for (let round = 0; round < 200; round += 1) {
    const lines = Array.from({ length: random.below(20) + 1 }, (_, index) => someLine(random, index + 1));
    for (const line of lines) gathered.add(line, membersOf(line));
    const text = Buffer.from(gathered.encode()).toString();
    assert.equal(text, lines.map(formatJournalLine).join(''), `SEED=${random.seed}`);
    assert.equal(gathered.length, Buffer.byteLength(text));
    const read = text
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        JSON.parse(line);
        assert.ok(verifyLine(Buffer.from(line), 'line', 0) !== undefined, `SEED=${random.seed}`);
        return readJournalRecord(line);
      });
    // A half of a surrogate pair is kept as an escape, and reads back as one.
    assert.deepEqual(read, lines, `SEED=${random.seed}`);
    gathered.clear();
  }
});

test('a batch accepts lines of any length', () => {
  const gathered = new JournalBatch();
  for (const length of [10, 60_000, 70_000, 3_000_000, 10]) {
    const change = { kind: 'put', collection: '/a', id: 'x', sequence: 1, revision: 1, modified: 0 } as const;
    const value = { text: '\u{1f511}'.repeat(length) };
    const line = { kind: 'change' as const, seq: 2, durable: 1, change: { ...change, value } };
    gathered.add(line, membersOf(line));
    assert.equal(Buffer.from(gathered.encode()).toString(), formatJournalLine(line));
    gathered.clear();
  }
});

test('a line has the checksum that Python computes for it', () => {
  // zlib.crc32 of what stands behind the first comma.
  const change = {
    kind: 'put',
    collection: '/a',
    id: 'ž',
    sequence: 1,
    revision: 2,
    modified: 0,
    value: { t: 'é' },
  } as const;
  const rest =
    '"seq":2,"durable":1,"change":{"kind":"put","collection":"/a","id":"ž","sequence":1,"revision":2,"modified":"1970-01-01T00:00:00.000Z","value":{"t":"é"}}}';
  assert.equal(
    formatJournalLine({ kind: 'change', seq: 2, durable: 1, change }),
    `{"crc":"65711be5",${rest}\n`,
  );
});
