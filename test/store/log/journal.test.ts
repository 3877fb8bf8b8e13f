import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatChecksum, formatLine, isVerified } from '../../../src/store/log/line.ts';
import {
  type ChangeRecord,
  formatChange,
  formatMembers,
  readJournalRecord,
} from '../../../src/store/record.ts';
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

test('a change is read as it was formatted, in JSON with a checksum', () => {
  const random = seeded();
  for (let round = 1; round < 2000; round += 1) {
    const change = someLine(random, round);
    const text = formatLine(formatChange(change, membersOf(change)));
    assert.equal(text, formatJournalLine(change), `SEED=${random.seed}`);
    // A half of a surrogate pair is kept as an escape, and reads back as one.
    const line = Buffer.from(text.slice(0, -1));
    assert.ok(isVerified(line), `SEED=${random.seed}`);
    JSON.parse(line.toString());
    assert.deepEqual(readJournalRecord(line.toString()), change, `SEED=${random.seed}`);
  }
});

test('a checksum has eight lower-case hexadecimal digits, and is that of the bytes after the first comma', () => {
  // By zlib.crc32 of Python.
  const rest =
    '"seq":2,"durable":1,"change":{"kind":"put","collection":"/a","id":"ž","sequence":1,"revision":2,"modified":"1970-01-01T00:00:00.000Z","value":{"t":"é"}}}';
  assert.equal(formatLine(rest), `{"crc":"65711be5",${rest}\n`);
  for (const checksum of [0, 9, 0xa0b, 0x7fffffff, 0x80000000, 0xdeadbeef, 0xffffffff])
    assert.equal(formatChecksum(checksum), checksum.toString(16).padStart(8, '0'));
});
