import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { type JournaledStore, openJournaledStore } from '../../../src/store/durable.ts';
import { ExportFormatter, ExportReader } from '../../../src/store/export.ts';

import { recover } from '../../../src/store/recover.ts';
import { scan } from '../../../src/store/scan.ts';
import { writeStore } from '../../../src/store/snapshot/writer.ts';
import { State } from '../../../src/store/state/state.ts';
import type { Receipt, StoreChange } from '../../../src/store/store.ts';
import { seeded } from '../../support/seeded.ts';
import { formatSnapshot, make, reread } from '../../support/store/snapshot.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** So that nearly every batch is followed by a compaction. */
const always = { minBytes: 1, ratio: 0 };
const never = { minBytes: Number.POSITIVE_INFINITY, ratio: 1 };
/** The time of the changes. */
const at = Date.UTC(2024, 1, 29, 12);

/** Returns a receipt that is stored for an hour. */
function buildReceipt(key: string, more: Partial<Receipt> = {}): Receipt {
  return { key, fingerprint: `fingerprint of ${key}`, until: at + 3_600_000, user: 'ann', ...more };
}

/** Returns a creation with a receipt. */
function creation(key: string, text: string, more: Partial<Receipt> = {}): StoreChange {
  return { kind: 'create', collection: '/notes', at, value: { text }, receipt: buildReceipt(key, more) };
}

/** The clock stands at the time of the changes, so that their receipts are unexpired. */
const clock = { ...systemClock, now: () => at };

async function open(
  directory: string,
  { limits = never }: { limits?: typeof never } = {},
): Promise<JournaledStore> {
  const recovered = await recover({ directory });
  const newStoreId = (): string => 'k3x9';
  return openJournaledStore({
    directory,
    recovered,
    newStoreId,
    durability: 'fsync',
    clock,
    limits,
    onWarning: () => {},
  });
}

describe('a journal', () => {
  test('with a torn last line has neither its change nor its receipt', async (context) => {
    const directory = await withJournal(context);
    const path = join(directory, 'journal-1.jsonl');
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, -20));
    const store = await open(directory);
    assert.ok(store.receipt('a', at));
    assert.equal(store.receipt('b', at), undefined);
    assert.equal((await store.list('/notes', 0, 10)).entries.length, 1);
    assert.ok((await store.apply(creation('b', 'two'))).applied);
    await store.close();
  });

  test('with a changed byte in a receipt is rejected, or loses the whole last change', async (context) => {
    const directory = await withJournal(context);
    const path = join(directory, 'journal-1.jsonl');
    const bytes = readFileSync(path);
    const random = seeded();
    for (const start of [bytes.indexOf('"receipt"'), bytes.lastIndexOf('"receipt"')]) {
      const changed = Buffer.from(bytes);
      const place = start + random.below(60);
      changed[place] = (changed[place] ?? 0) ^ 1;
      writeFileSync(path, changed);
      const where = `SEED=${random.seed}, byte ${place}`;
      if (start === bytes.indexOf('"receipt"'))
        await assert.rejects(recover({ directory }), { name: 'StoreError', code: 'damaged' }, where);
      else {
        const { state } = await recover({ directory });
        assert.ok(state.receipts.find('a', at), where);
        assert.equal(state.receipts.find('b', at), undefined, where);
        assert.equal(state.read('/notes', '2'), undefined, where);
      }
    }
  });
});

/** Writes a journal with two changes that have receipts. */
async function withJournal(context: TestContext): Promise<string> {
  const directory = temporaryDirectory(context);
  const store = await open(directory);
  await store.apply(creation('a', 'one'));
  await store.apply(creation('b', 'two'));
  await store.close();
  return directory;
}

/** Returns a state with this number of receipts. */
function stateWith(count: number, until?: number): State {
  const state = new State();
  for (let number = 0; number < count; number += 1)
    make(state, creation(`k${number}`, `text ${number}`, until === undefined ? {} : { until }));
  return state;
}

describe('a snapshot', () => {
  test('has no block of receipts if none is unexpired', () => {
    assert.doesNotMatch(formatSnapshot(stateWith(0)), /"receipt/);
    assert.doesNotMatch(formatSnapshot(stateWith(3, at + 1), { at: at + 1 }), /"receipt/);
  });

  for (const count of [1, 256, 257, 1000]) {
    test(`with ${count} receipts is read back unchanged`, async (context) => {
      const state = stateWith(count);
      const text = formatSnapshot(state, { at });
      const read = await reread(temporaryDirectory(context), text);
      assert.deepEqual([...read.state.receipts], [...state.receipts]);
    });
  }

  test('with a damaged receipt is rejected, and a repair retains the other receipts', async (context) => {
    const directory = temporaryDirectory(context);
    const store = await open(directory, { limits: always });
    for (const key of ['a', 'b', 'c']) await store.apply(creation(key, key));
    await store.close();
    const saved = formatSnapshot((await recover({ directory })).state, { at });
    const broken = temporaryDirectory(context);
    writeFileSync(join(broken, 'store.jsonl'), saved.replace('"fingerprint of b"', '"fingerprint of x'));
    await assert.rejects(recover({ directory: broken }), /store\.jsonl.*line 2.*checksum/);
    const { state, lost } = await scan({ directory: broken, corrupt: 'skip' });
    assert.deepEqual(
      [...state.receipts].map(({ receipt }) => receipt.key),
      ['a', 'c'],
    );
    assert.equal(state.read('/notes', '2')?.value['text'], 'b');
    assert.ok(
      lost.some((line) => /line 2, part 2: it cannot be read/.test(line)),
      lost.join('\n'),
    );
  });
});

test('a repair of a damaged journal retains its readable receipts', async (context) => {
  const directory = await withJournal(context);
  const path = join(directory, 'journal-1.jsonl');
  const text = readFileSync(path, 'utf8').replace('"one"', '"two"');
  writeFileSync(path, text);
  const { state } = await scan({ directory, corrupt: 'skip' });
  assert.deepEqual(
    [...state.receipts].map(({ receipt }) => receipt.key),
    ['b'],
  );
});

test('a copy of a data directory has the receipts', async (context) => {
  const directory = await withJournal(context);
  const copy = temporaryDirectory(context);
  const { state: copied } = await scan({ directory });
  await writeStore(copy, { storeId: 'k3x9', state: copied, now: at });
  const { state } = await recover({ directory: copy });
  assert.deepEqual(
    [...state.receipts].map(({ receipt }) => receipt),
    [buildReceipt('a'), buildReceipt('b')],
  );
});

describe('an export', () => {
  function formatExport(state: State, now = at): string[] {
    const formatter = new ExportFormatter({ at: now, includes: () => true });
    const lines = Array.from(state.records('k3x9', now), (part) => formatter.part(part));
    return [...lines, formatter.end()];
  }

  function readExport(text: string): State {
    const reader = new ExportReader({ file: 'export', now: at, findFault: () => undefined });
    reader.take(Buffer.from(text), true);
    return reader.result().state;
  }

  test('has the unexpired receipts, which an import restores', () => {
    const state = stateWith(3);
    make(state, creation('short', 'x', { until: at + 1 }));
    const text = formatExport(state, at + 1).join('');
    assert.match(text, /^\{"format":"countersign-export","version":1,/);
    assert.deepEqual([...readExport(text).receipts], [...state.receipts].slice(0, 3));
  });

  test('with an invalid receipt is rejected with the line', () => {
    const [header] = formatExport(stateWith(1));
    const line = '{"receipt":{"key":"a"},"kind":"put","created":true,"collection":"/notes","item":{}}';
    assert.throws(() => readExport(`${header}${line}\n`), /line 2, .*fingerprint is not a text/);
  });
});
