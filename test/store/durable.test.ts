import assert from 'node:assert/strict';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createManualClock, systemClock } from '../../src/clock.ts';
import {
  type JournaledStore,
  type JournaledStoreOptions,
  openJournaledStore,
} from '../../src/store/durable.ts';
import { StoreError } from '../../src/store/errors.ts';
import { formatLogName } from '../../src/store/log/line.ts';
import { recover } from '../../src/store/recover.ts';
import type { Store, StoreResult } from '../../src/store/store.ts';
import { seeded } from '../support/seeded.ts';
import { startChild } from '../support/store/child.ts';
import { create, ids, put, remove, requireEntry, storeContract } from '../support/store/contract.ts';
import { type DiskOperation, type FaultyDisk, faultyDisk } from '../support/store/faulty-disk.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

type Settings = Partial<Omit<JournaledStoreOptions, 'directory' | 'recovered'>>;

/** So that nearly every batch is followed by a compaction. */
const always = { minBytes: 1, ratio: 0 };
const never = { minBytes: Number.POSITIVE_INFINITY, ratio: 1 };

/** Opens what a directory has. */
async function open(directory: string, settings: Settings = {}): Promise<JournaledStore> {
  return openJournaledStore({
    directory,
    recovered: await recover({ directory, ...(settings.disk && { disk: settings.disk }) }),
    newStoreId: () => 'first',
    durability: 'fsync',
    clock: systemClock,
    onWarning: () => {},
    ...settings,
  });
}

for (const durability of ['fsync', 'os'] as const) {
  for (const [how, limits] of [['', undefined] as const, [', compacted all the time', always] as const]) {
    const settings = { durability, ...(limits && { limits }) };
    const directories = new WeakMap<Store, string>();
    const openIn = async (directory: string): Promise<Store> => {
      const store = await open(directory, settings);
      directories.set(store, directory);
      return store;
    };
    storeContract(`a store with a journal (${durability})${how}`, () => openIn(temporaryDirectory()), {
      reopen: (closed) => openIn(directories.get(closed) ?? ''),
    });
  }
}

interface Faulty {
  readonly store: JournaledStore;
  readonly disk: FaultyDisk;
  readonly directory: string;
  readonly messages: string[];
}

/** Opens a store on a disk that can be made to fail, in a directory that goes when the test ends. */
async function openFaulty(context: TestContext, settings: Settings = {}): Promise<Faulty> {
  const directory = temporaryDirectory(context);
  const disk = faultyDisk();
  const messages: string[] = [];
  const store = await open(directory, {
    disk,
    limits: never,
    onWarning: (line) => messages.push(line),
    ...settings,
  });
  return { store, disk, directory, messages };
}

/** The items that somebody finds who opens what is on the disk now. */
async function kept(directory: string): Promise<string[]> {
  return ids((await recover({ directory })).state.list('/a', 0, 10_000));
}

async function readLines(directory: string, generation: number): Promise<string[]> {
  const text = await readFile(join(directory, formatLogName('journal', generation)), 'utf8');
  return text.replace(/\0*$/, '').split('\n').slice(0, -1);
}

/** Waits for something that comes to pass without anybody being told. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
}

describe('a journal', () => {
  test('has lines of JSON, in a file that only its owner can access', async (context) => {
    const directory = temporaryDirectory(context);
    const opened = Date.UTC(2013, 3, 20, 12, 59, 24, 7);
    const store = await open(directory, { newStoreId: () => 'k3x9', clock: createManualClock(opened) });
    await store.apply({ kind: 'create', collection: '/a', value: { title: 'Žofie' }, at: opened });
    const at = Date.UTC(1969, 11, 31, 23, 59, 59, 999);
    await store.apply({ kind: 'put', collection: '/a', id: '5', expected: 'absent', value: {}, at });
    await store.apply({ kind: 'delete', collection: '/a', id: '5', expected: 2, at: at + 1 });
    await store.close();
    const modified = '2013-04-20T12:59:24.007Z';
    assert.deepEqual(
      (await readLines(directory, 1)).map((line) => {
        const { crc, ...rest } = JSON.parse(line);
        assert.ok(line.startsWith(`{"crc":"${crc}",`) && /^[0-9a-f]{8}$/.test(crc));
        return rest;
      }),
      [
        { journal: 1, lineage: 'k3x9', generation: 1, revision: 0, sequence: 0, opened: modified },
        {
          seq: 1,
          durable: 0,
          change: {
            kind: 'create',
            collection: '/a',
            id: '1',
            sequence: 1,
            revision: 1,
            modified,
            value: { title: 'Žofie' },
          },
        },
        {
          seq: 2,
          durable: 1,
          change: {
            kind: 'put',
            collection: '/a',
            id: '5',
            sequence: 2,
            revision: 2,
            modified: '1969-12-31T23:59:59.999Z',
            value: {},
          },
        },
        {
          seq: 3,
          durable: 2,
          change: {
            kind: 'delete',
            collection: '/a',
            id: '5',
            sequence: 2,
            revision: 3,
            modified: '1970-01-01T00:00:00.000Z',
          },
        },
      ],
    );
    assert.equal((await stat(join(directory, formatLogName('journal', 1)))).mode & 0o777, 0o600);
  });

  test('stores its store id when it is first opened, before any change', async (context) => {
    const directory = temporaryDirectory(context);
    const draw = ['one', 'two'];
    const storeId = (): string => draw.shift() ?? 'none';
    await (await open(directory, { newStoreId: storeId })).close();
    const store = await open(directory, { newStoreId: storeId });
    assert.equal(store.storeId, 'one');
    assert.deepEqual(draw, ['two']);
    await store.close();
  });

  test('preallocates space, so that a sync need not grow the file, and truncates it when it is closed', async (context) => {
    const { store, directory } = await openFaulty(context);
    const size = async (): Promise<number> => (await stat(join(directory, formatLogName('journal', 1)))).size;
    await create(store, '/a');
    await until(async () => (await size()) > 65_536);
    const allocated = await size();
    for (let count = 0; count < 10; count += 1) await create(store, '/a');
    assert.equal(await size(), allocated);
    await store.close();
    assert.ok((await size()) < 4096);
    assert.equal((await kept(directory)).length, 11);
  });
});

describe('a batch', () => {
  test('neither shows nor acknowledges a change before it is synced', async (context) => {
    const { store, disk } = await openFaulty(context);
    const made = await create(store, '/a');
    const gate = disk.hold('sync');
    const answered: string[] = [];
    const first = create(store, '/a').then(() => answered.push('first'));
    const change = store.apply(put('/a', '1', made.revision, { n: 2 })).then(() => answered.push('change'));
    await gate.reached;
    assert.deepEqual(ids(await store.list('/a', 0, 10)), ['1']);
    assert.deepEqual(await store.read('/a', '1'), made);
    assert.deepEqual(answered, []);
    gate.release();
    await Promise.all([first, change]);
    assert.deepEqual(ids(await store.list('/a', 0, 10)), ['1', '2']);
    await store.close();
  });

  test('includes all waiting changes, so that many writers share one write and one sync', async (context) => {
    const { store, disk } = await openFaulty(context);
    await create(store, '/a');
    await until(() => disk.writes.at(-1) === 65_536); // space is allocated
    await until(() => (disk.counts.get('sync') ?? 0) === 3);
    const gate = disk.hold('sync');
    const first = create(store, '/a');
    await gate.reached;
    const [writes, syncs] = [disk.writes.length, disk.counts.get('sync') ?? 0];
    const others = Array.from({ length: 64 }, () => create(store, '/a'));
    gate.release();
    await Promise.all([first, ...others]);
    assert.equal(disk.writes.length - writes, 1);
    assert.equal((disk.counts.get('sync') ?? 0) - syncs, 1);
    await store.close();
  });

  test('has at most 4 MiB, and a longer change has its own batch, in writes of at most 4 MiB', async (context) => {
    const { store, disk, directory } = await openFaulty(context);
    const text = 'ž'.repeat(400_000);
    const long = '\u0001'.repeat(900_000);
    const all = [...Array.from({ length: 20 }, () => text), long, ...Array.from({ length: 20 }, () => text)];
    await Promise.all(all.map((each) => create(store, '/a', { text: each })));
    assert.ok(Math.max(...disk.writes) <= 4 * 1024 * 1024);
    assert.ok(disk.writes.filter((length) => length > 3 * 1024 * 1024).length >= 8, 'the batches are large');
    await store.close();
    const { state } = await recover({ directory });
    assert.deepEqual(
      state.list('/a', 0, 100).entries.map(({ value }) => value),
      all.map((each) => ({ text: each })),
    );
  });

  test('includes all unconditional changes of an item, and shows none of them before the sync', async (context) => {
    const { store, disk } = await openFaulty(context);
    const made = await create(store, '/a');
    await until(() => disk.counts.get('sync') === 3); // space is allocated
    const gate = disk.hold('sync');
    const answered: number[] = [];
    const puts = [1, 2, 3].map(async (n) => {
      const entry = requireEntry(await store.apply(put('/a', '1', 'present', { n })));
      assert.deepEqual(entry.value, { n });
      answered.push(n);
    });
    await gate.reached;
    assert.deepEqual(await store.read('/a', '1'), made);
    assert.deepEqual(answered, []);
    const { length: writes } = disk.writes;
    gate.release();
    await Promise.all(puts);
    assert.equal(disk.writes.length, writes, 'all were in that write');
    assert.deepEqual((await store.read('/a', '1'))?.value, { n: 3 });
    await store.close();
  });

  test('rejects all changes of an item if its write fails', async (context) => {
    const { store, disk, directory } = await openFaulty(context);
    const made = await create(store, '/a');
    disk.failNext('write', 'ENOSPC');
    const attempts = [1, 2, 3].map((n) => store.apply(put('/a', '1', 'present', { n })));
    for (const attempt of attempts) await assert.rejects(attempt, { code: 'full' });
    assert.deepEqual(await store.read('/a', '1'), made);
    assert.deepEqual(requireEntry(await store.apply(put('/a', '1', made.revision, { n: 4 }))).value, {
      n: 4,
    });
    await store.close();
    assert.deepEqual((await recover({ directory })).state.read('/a', '1')?.value, { n: 4 });
  });

  test('delays the failure of a conditional change until the change that conflicts with it is synced', async (context) => {
    const { store, disk } = await openFaulty(context);
    const made = await create(store, '/a');
    const other = await create(store, '/a');
    await until(() => disk.counts.get('sync') === 4); // space is allocated
    const gate = disk.hold('sync');
    const changes = [
      store.apply(put('/a', made.id, 'present', { n: 2 })),
      store.apply(remove('/a', other.id, other.revision)),
    ];
    await gate.reached;
    const answered: StoreResult[] = [];
    const outdated = [
      put('/a', made.id, made.revision, { n: 3 }),
      remove('/a', made.id, made.revision),
      put('/a', other.id, 'present', { n: 3 }),
    ].map(async (change) => answered.push(await store.apply(change)));
    for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(answered, []);
    gate.release();
    await Promise.all([...changes, ...outdated]);
    assert.deepEqual(answered, [{ applied: false }, { applied: false }, { applied: false }]);
    await store.close();
  });

  test('starts with changes that were retried after a conflict, so that they are not starved by others', async (context) => {
    const { store, disk } = await openFaulty(context);
    await create(store, '/a');
    await until(() => disk.counts.get('sync') === 3); // space is allocated
    let tries = 0;
    const increment = async (): Promise<StoreResult> => {
      for (;;) {
        const found = await store.read('/a', '1');
        tries += 1;
        const applied = await store.apply(put('/a', '1', found?.revision ?? 'absent', { n: -1 }));
        if (applied.applied) return applied;
        // As long as it takes to judge a request anew, with nothing to wait for.
        for (let step = 0; step < 50; step += 1) await undefined;
      }
    };
    let gate = disk.hold('sync');
    const others = [store.apply(put('/a', '1', 'present', { n: 0 }))];
    await gate.reached;
    const patient = increment();
    for (let n = 1; n < 5; n += 1) {
      others.push(store.apply(put('/a', '1', 'present', { n })));
      const next = disk.hold('sync');
      gate.release();
      await next.reached;
      gate = next;
    }
    gate.release();
    await Promise.all([patient, ...others]);
    assert.equal(tries, 2);
    await store.close();
  });

  test('never combines a conditional change with another change of its item, so it is compared with the stored state', async (context) => {
    const { store, disk } = await openFaulty(context);
    const made = await create(store, '/a');
    const gate = disk.hold('write');
    const first = store.apply(put('/a', '1', made.revision, { n: 2 }));
    await gate.reached;
    const second = store.apply(put('/a', '1', made.revision, { n: 3 }));
    disk.failNext('write', 'ENOSPC');
    gate.release();
    await assert.rejects(first, { code: 'full' });
    assert.deepEqual(requireEntry(await second).value, { n: 3 });
    await store.close();
  });

  test('is completed by close, with all waiting changes', async (context) => {
    const { store, directory } = await openFaulty(context);
    const pending = [create(store, '/a'), create(store, '/a')];
    await store.close();
    assert.deepEqual(await kept(directory), ['1', '2']);
    await Promise.all(pending);
    await assert.rejects(create(store, '/a'), StoreError);
  });

  test('is synced only on close if the durability is os', async (context) => {
    const { store, disk, directory } = await openFaulty(context, { durability: 'os' });
    const syncs = disk.counts.get('sync');
    for (let count = 0; count < 5; count += 1) await create(store, '/a');
    assert.equal(disk.counts.get('sync'), syncs);
    const lines = (await readLines(directory, 1)).map((line) => JSON.parse(line));
    assert.deepEqual(
      lines.slice(1).map(({ durable }) => durable),
      [0, 0, 0, 0, 0],
    );
    await store.close();
    assert.equal(disk.counts.get('sync'), (syncs ?? 0) + 1);
  });

  test('is written completely despite short writes', async (context) => {
    const { store, disk, directory } = await openFaulty(context);
    disk.shortWrites(7);
    await store.apply(put('/a', 'long', 'absent', { text: 'é\u{1f511}'.repeat(200) }));
    const { state } = await recover({ directory });
    assert.deepEqual(state.read('/a', 'long'), await store.read('/a', 'long'));
    disk.shortWrites(0);
    await assert.rejects(create(store, '/a'), { code: 'failed' });
    await store.close();
  });
});

describe('a full disk', () => {
  for (const code of ['ENOSPC', 'EDQUOT', 'EFBIG']) {
    test(`(${code}) rejects changes, shows none of them, and accepts changes once there is space`, async (context) => {
      const { store, disk, directory, messages } = await openFaulty(context);
      const made = await create(store, '/a');
      disk.failNext('write', code);
      const attempts = [create(store, '/a'), store.apply(put('/a', '1', made.revision, { n: 2 }))];
      for (const attempt of attempts) await assert.rejects(attempt, { name: 'StoreError', code: 'full' });
      assert.deepEqual((await store.list('/a', 0, 10)).entries, [made]);
      assert.equal(store.health.state, 'full');
      assert.match(store.health.reason ?? '', new RegExp(code));
      assert.equal((await recover({ directory })).sequence, 1);
      assert.deepEqual(requireEntry(await store.apply(put('/a', '1', made.revision, { n: 3 }))).value, {
        n: 3,
      });
      assert.equal(store.health.state, 'well');
      assert.equal((await create(store, '/a')).id, '3', 'the number that was drawn stays drawn');
      assert.equal(messages.length, 2);
      assert.match(messages[0] ?? '', /journal-1\.jsonl .* no change is stored while there is no space$/);
      assert.match(messages[1] ?? '', /changes are stored$/);
      await store.close();
      assert.deepEqual(await kept(directory), ['1', '3']);
    });
  }

  test('is reported once, however many changes are rejected', async (context) => {
    const { store, disk, messages } = await openFaulty(context);
    disk.room(300);
    for (let count = 0; count < 3; count += 1) {
      const attempt = create(store, '/a', { text: 'x'.repeat(400) });
      await assert.rejects(attempt, { code: 'full', reported: true });
    }
    assert.equal(messages.length, 1);
    await store.close();
  });

  test('stores changes if it has space for them but not for preallocation', async (context) => {
    const { store, disk, directory, messages } = await openFaulty(context);
    disk.room(20_000);
    for (let count = 0; count < 20; count += 1) await create(store, '/a');
    assert.equal(store.health.state, 'well');
    assert.deepEqual(messages, []);
    await store.close();
    assert.equal((await kept(directory)).length, 20);
  });

  test('is treated as failed if the journal cannot be truncated', async (context) => {
    const { store, disk, messages } = await openFaulty(context);
    const made = await create(store, '/a');
    disk.failNext('write', 'ENOSPC');
    disk.failNext('truncate', 'EIO');
    await assert.rejects(create(store, '/a'), { code: 'failed' });
    await assert.rejects(create(store, '/a'), { code: 'failed' });
    assert.deepEqual((await store.list('/a', 0, 10)).entries, [made]);
    assert.equal(store.health.state, 'failed');
    assert.equal(messages.length, 1);
    await store.close();
  });
});

describe('a failing disk', () => {
  const cases: readonly (readonly [DiskOperation, string])[] = [
    ['write', 'EIO'],
    ['write', 'EROFS'],
    ['sync', 'EIO'],
    ['sync', 'ENOSPC'],
    ['sync', 'EDQUOT'],
  ];
  for (const [operation, code] of cases) {
    test(`is not written again after a failed ${operation} (${code}), but can still be read`, async (context) => {
      const { store, disk, directory, messages } = await openFaulty(context);
      const made = await create(store, '/a');
      await until(() => disk.counts.get('sync') === 3); // space is allocated
      disk.failNext(operation, code);
      const attempts = [
        create(store, '/a'),
        store.apply(put('/a', '1', made.revision, { n: 2 })),
        store.apply(remove('/a', '1', made.revision)),
      ];
      for (const attempt of attempts) await assert.rejects(attempt, { name: 'StoreError', code: 'failed' });
      const counts = new Map(disk.counts);
      await assert.rejects(create(store, '/a'), { code: 'failed' });
      assert.deepEqual(disk.counts, counts, 'nothing was tried');
      assert.deepEqual((await store.list('/a', 0, 10)).entries, [made]);
      assert.deepEqual(await store.read('/a', '1'), made);
      assert.equal(store.health.state, 'failed');
      assert.match(store.health.reason ?? '', new RegExp(code));
      assert.equal(messages.length, 1);
      assert.match(messages[0] ?? '', /no change is stored any more/);
      await store.close();
      // What was refused was taken away, as far as that could be done.
      assert.deepEqual(await kept(directory), ['1']);
    });
  }

  test('is treated as failed if preallocation fails', async (context) => {
    const { store, disk, messages } = await openFaulty(context);
    const held = disk.hold('sync');
    const made = create(store, '/a');
    await held.reached;
    disk.failNext('write', 'EIO');
    held.release();
    await made;
    await until(() => store.health.state === 'failed');
    await assert.rejects(create(store, '/a'), { code: 'failed' });
    assert.equal(messages.length, 1);
    await store.close();
  });

  for (const operation of ['create', 'write', 'sync', 'syncDirectory'] as const) {
    test(`leaves no files of a new store after a failed ${operation}`, async (context) => {
      const directory = temporaryDirectory(context);
      const disk = faultyDisk();
      disk.failNext(operation, 'ENOSPC');
      await assert.rejects(open(directory, { disk }), { name: 'StoreError' });
      assert.deepEqual(await readdir(directory), []);
    });
  }

  test('causes close to reject if the last sync of a store with durability os fails', async (context) => {
    const { store, disk } = await openFaulty(context, { durability: 'os' });
    await create(store, '/a');
    disk.failNext('sync', 'EIO');
    await assert.rejects(store.close(), { code: 'failed' });
  });
});

describe('a compaction', () => {
  /** Makes and takes away items until the journal outweighs the limit. */
  async function fill(store: Store, count: number): Promise<void> {
    for (let each = 0; each < count; each += 1) {
      await create(store, '/a', { text: 'x'.repeat(1000) });
      const made = await create(store, '/b', { text: 'x'.repeat(1000) });
      await store.apply(remove('/b', made.id, made.revision));
    }
  }

  const limits = { minBytes: 20_000, ratio: 1 };

  test('replaces journals by a snapshot, and retains the previous snapshot with its journals', async (context) => {
    const { store, directory } = await openFaulty(context, { limits });
    await fill(store, 60);
    await until(async () => (await readdir(directory)).includes('store.previous.jsonl'));
    await until(async () => !(await readdir(directory)).includes(formatLogName('journal', 1)));
    await store.close();
    const names = await readdir(directory);
    const generation = (await recover({ directory })).generation;
    const [head = ''] = (await readFile(join(directory, 'store.previous.jsonl'), 'utf8')).split('\n');
    const previous = JSON.parse(head).generation;
    assert.ok(previous < generation);
    for (const name of names.filter((each) => each.startsWith('journal-'))) {
      assert.ok(Number(/[0-9]+/.exec(name)?.[0]) >= previous, name);
    }
    assert.deepEqual(
      names.filter((name) => name.endsWith('.tmp')),
      [],
    );
    assert.equal((await kept(directory)).length, 60);
  });

  test('accepts changes while it copies, and stores all of them', async (context) => {
    const { store, disk, directory } = await openFaulty(context, { limits });
    await fill(store, 5);
    const gate = disk.hold('create');
    const filling = fill(store, 30);
    await gate.reached;
    gate.release();
    await filling;
    const all = ids(await store.list('/a', 0, 1000));
    await store.close();
    assert.deepEqual(await kept(directory), all);
    assert.equal(all.length, 35);
  });

  test('is aborted by close, and leaves no temporary files', async (context) => {
    const { store, disk, directory } = await openFaulty(context, { limits });
    await fill(store, 4);
    const gate = disk.hold('write');
    // The journal's own writes are held first.
    const made = create(store, '/a', { text: 'x'.repeat(20_000) });
    await gate.reached;
    gate.release();
    await made;
    await store.close();
    assert.deepEqual(
      (await readdir(directory)).filter((name) => name.endsWith('.tmp')),
      [],
    );
    assert.equal((await kept(directory)).length, 5);
  });

  const faults: readonly (readonly [DiskOperation, string, string, RegExp])[] = [
    ['create', 'ENOSPC', 'journal-2', /tried again later/],
    ['create', 'EMFILE', 'journal-2', /tried again later/],
    ['write', 'ENOSPC', 'journal-2', /tried again later/],
    ['sync', 'EIO', 'journal-2', /not tried again/],
    ['create', 'ENOSPC', 'store.jsonl', /tried again later/],
    ['write', 'ENOSPC', 'store.jsonl', /tried again later/],
    ['write', 'EIO', 'store.jsonl', /not tried again/],
    ['sync', 'EIO', 'store.jsonl', /not tried again/],
    ['close', 'EDQUOT', 'store.jsonl', /tried again later/],
    ['rename', 'ENOSPC', 'store.jsonl', /tried again later/],
    ['rename', 'EIO', 'store.jsonl', /not tried again/],
  ];
  for (const [operation, code, name, then] of faults) {
    test(`loses no changes when ${operation} of ${name} fails with ${code}`, async (context) => {
      const { store, disk, directory, messages } = await openFaulty(context, { limits });
      disk.failNext(operation, code, name);
      await fill(store, 20);
      await until(() => messages.length > 0);
      assert.match(messages[0] ?? '', /no new snapshot was written, and the journals continue to grow: /);
      assert.match(messages[0] ?? '', then);
      assert.equal(store.health.state, 'well');
      await fill(store, 20);
      if (/later/.test(messages[0] ?? '')) {
        await until(async () => (await readdir(directory)).includes('store.jsonl'));
        await until(() => store.health.compaction === undefined);
      } else {
        assert.match(store.health.compaction ?? '', new RegExp(code));
        assert.ok(!(await readdir(directory)).includes('store.jsonl'));
      }
      assert.equal(messages.length, 1);
      await store.close();
      assert.deepEqual(
        (await readdir(directory)).filter((each) => each.endsWith('.tmp')),
        [],
      );
      assert.equal((await kept(directory)).length, 40);
    });
  }

  test('stops all changes if its new journal can be neither created nor removed', async (context) => {
    const { store, disk, directory } = await openFaulty(context, { limits });
    disk.failNext('sync', 'EIO', 'journal-2');
    disk.failNext('unlink', 'EIO', 'journal-2');
    const made: StoreResult[] = [];
    await assert.rejects(
      (async () => {
        for (;;)
          made.push(
            await store.apply({ ...put('/a', `${made.length}x`, 'absent', { text: 'x'.repeat(1000) }) }),
          );
      })(),
      { code: 'failed' },
    );
    await store.close();
    assert.equal((await kept(directory)).length, made.length);
  });

  test('blocks the event loop only for some milliseconds at a time', async (context) => {
    const clock = createManualClock(0);
    const directory = temporaryDirectory(context);
    let copied = 0;
    let turns = 0;
    const disk = faultyDisk();
    // Each look at the clock finds that much time has passed.
    const hurried = {
      now: () => clock.now(),
      steady: () => {
        clock.advance(3);
        return clock.steady();
      },
    };
    const store = await open(directory, { disk, clock: hurried, limits: { minBytes: 100_000, ratio: 1 } });
    await Promise.all(Array.from({ length: 3000 }, (_, n) => create(store, '/a', { n })));
    const count = (): void => {
      turns += 1;
      if (copied === 0) setImmediate(count);
    };
    count();
    await until(async () => (await readdir(directory)).includes('store.jsonl'));
    copied = 1;
    // Twelve blocks, of which two fit into a slice by this clock.
    assert.ok(turns >= 6);
    await store.close();
  });
});

describe('a store after a crash of its process', () => {
  test('loses no acknowledged change after kill -9', async (context) => {
    const directory = temporaryDirectory(context);
    const random = seeded();
    const acknowledged = new Map<string, string>();
    for (let round = 0; round < 3; round += 1) {
      const child = startChild('acknowledging-child.ts', directory, String(round));
      const target = acknowledged.size + 1 + random.below(2000);
      const note = (line: string): void => {
        const [id = '', revision = ''] = line.split(' ');
        assert.ok(!acknowledged.has(id), `id ${id} was given twice (SEED=${random.seed})`);
        acknowledged.set(id, revision);
      };
      while (acknowledged.size < target)
        note((await child.line()) ?? assert.fail('the child ended by itself'));
      await child.kill();
      for (let line = await child.line(); line !== undefined; line = await child.line()) note(line);
      const { state } = await recover({ directory });
      for (const [id, revision] of acknowledged) {
        const entry = state.read('/a', id);
        assert.equal(String(entry?.revision), revision, `item ${id} (SEED=${random.seed}, round ${round})`);
      }
    }
  });
});
