import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { type FileStoreOptions, loadSnapshot, openFileStore } from '../../src/store/file.ts';
import { type Store, StoreError } from '../../src/store/store.ts';
import { seeded } from '../seeded.ts';
import { startChild } from './child.ts';
import { create, entryOf, ids, put, remove, storeContract } from './contract.ts';
import { type DiskOperation, type FaultyDisk, faultyDisk } from './faulty-disk.ts';
import { removeDirectory, scratchDirectory } from './scratch.ts';

function optionsFor(directory: string): FileStoreOptions {
  return { directory, lineage: () => 'first', durability: 'os' };
}

storeContract('a store in a file', async () => {
  const directory = await scratchDirectory();
  let store = await openFileStore(optionsFor(directory));
  return {
    store,
    async reopen() {
      await store.close();
      store = await openFileStore(optionsFor(directory));
      return store;
    },
    dispose: () => removeDirectory(directory),
  };
});

/** Opens a store on a disk that can be made to fail, in a directory that goes when the test ends. */
async function openFaulty(
  context: TestContext,
  durability: 'fsync' | 'os' = 'fsync',
): Promise<{ store: Store; disk: FaultyDisk; directory: string }> {
  const directory = await scratchDirectory(context);
  const disk = faultyDisk();
  const store = await openFileStore({ directory, lineage: () => 'first', durability, disk });
  return { store, disk, directory };
}

/** The items that somebody finds who opens what is on the disk now. */
async function kept(directory: string): Promise<string[]> {
  const snapshot = await loadSnapshot(directory);
  assert.ok(snapshot !== undefined);
  return ids(snapshot.state.list('/a', 0, 1000));
}

describe('store.json', () => {
  test('is JSON that a person can read, and nobody else', async (context) => {
    const directory = await scratchDirectory(context);
    const store = await openFileStore({ ...optionsFor(directory), lineage: () => 'k3x9' });
    const at = Date.UTC(2013, 3, 20, 12, 59, 24, 7);
    await store.apply({ kind: 'create', collection: '/a', value: { title: 'One', sold: true }, at });
    await store.apply({ kind: 'put', collection: '/a', id: '5', expected: 'absent', value: {}, at });
    const path = join(directory, 'store.json');
    const modified = '2013-04-20T12:59:24.007Z';
    assert.deepEqual(JSON.parse(await readFile(path, 'utf8')), {
      version: 1,
      lineage: 'k3x9',
      revision: 2,
      collections: {
        '/a': {
          counter: 1,
          chosen: [[5, 5]],
          sequence: 2,
          revision: 2,
          modified,
          items: [
            { id: '1', sequence: 1, revision: 1, modified, value: { title: 'One', sold: true } },
            { id: '5', sequence: 2, revision: 2, modified, value: {} },
          ],
        },
      },
    });
    assert.match(await readFile(path, 'utf8'), /\n {8}\{"id":"1",.*\},\n {8}\{"id":"5",.*\}\n {6}\]\n/);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
  });

  test('keeps its lineage from the first opening on, before anything is written', async (context) => {
    const directory = await scratchDirectory(context);
    const draw = ['one', 'two'];
    const lineage = (): string => draw.shift() ?? 'none';
    await (await openFileStore({ ...optionsFor(directory), lineage })).close();
    assert.equal((await openFileStore({ ...optionsFor(directory), lineage })).lineage, 'one');
    assert.deepEqual(draw, ['two']);
  });

  test('is opened beside what a crash left, which is removed', async (context) => {
    const directory = await scratchDirectory(context);
    for (const name of [
      'store.json.1-1.tmp',
      `store.json.${process.pid}-1.tmp`,
      'store.json.bak',
      'other.tmp',
    ]) {
      await writeFile(join(directory, name), '{');
    }
    await openFileStore(optionsFor(directory));
    assert.deepEqual((await readdir(directory)).sort(), ['other.tmp', 'store.json', 'store.json.bak']);
  });

  test('never holds a revision lower than one that was drawn, though its item is gone', async (context) => {
    const directory = await scratchDirectory(context);
    const store = await openFileStore(optionsFor(directory));
    const made = await create(store, '/a');
    await store.apply(remove('/a', made.id, made.revision));
    const later = await openFileStore(optionsFor(directory));
    assert.ok((await create(later, '/a')).revision > made.revision + 1);
  });
});

describe('a batch', () => {
  test('shows nothing and answers nobody before its file is in place', async (context) => {
    const { store, disk, directory } = await openFaulty(context);
    const made = await create(store, '/a');
    const gate = disk.hold('rename');
    const answered: string[] = [];
    const first = create(store, '/a').then(() => answered.push('first'));
    const change = store.apply(put('/a', '1', made.revision, { n: 2 })).then(() => answered.push('change'));
    await gate.reached;
    assert.deepEqual(ids(await store.list('/a', 0, 10)), ['1']);
    assert.deepEqual(await store.read('/a', '1'), made);
    assert.deepEqual(await kept(directory), ['1']);
    assert.deepEqual(answered, []);
    gate.release();
    await Promise.all([first, change]);
    assert.deepEqual(ids(await store.list('/a', 0, 10)), ['1', '2']);
  });

  test('takes all that waits, so that many writers share one sync', async (context) => {
    const { store, disk } = await openFaulty(context);
    const syncs = disk.counts.get('sync') ?? 0;
    const gate = disk.hold('sync');
    const first = create(store, '/a');
    await gate.reached;
    const others = Array.from({ length: 64 }, () => create(store, '/a'));
    gate.release();
    await Promise.all([first, ...others]);
    assert.equal((disk.counts.get('sync') ?? 0) - syncs, 2);
  });

  test('never has two changes of one item, so each is judged against what is committed', async (context) => {
    const { store, disk } = await openFaulty(context);
    const made = await create(store, '/a');
    const gate = disk.hold('sync');
    const winner = store.apply(put('/a', '1', made.revision, { n: 2 }));
    await gate.reached;
    const loser = store.apply(put('/a', '1', made.revision, { n: 3 }));
    disk.failNext('sync', 'ENOSPC');
    gate.release();
    await assert.rejects(winner, StoreError);
    // The first was not made; whatever came of the second, it did not build on it.
    await loser.catch((error) => assert.ok(error instanceof StoreError));
    assert.deepEqual(await store.read('/a', '1'), made);
  });

  test('that failed for want of room leaves the next one to be judged as if it never was', async (context) => {
    const { store, disk } = await openFaulty(context);
    const made = await create(store, '/a');
    const gate = disk.hold('write');
    const first = store.apply(put('/a', '1', made.revision, { n: 2 }));
    await gate.reached;
    const second = store.apply(put('/a', '1', made.revision, { n: 3 }));
    disk.failNext('write', 'ENOSPC');
    gate.release();
    await assert.rejects(first, { code: 'full' });
    assert.deepEqual(entryOf(await second).value, { n: 3 });
  });

  test('is finished by close, with all that waits behind it', async (context) => {
    const { store, directory } = await openFaulty(context);
    const pending = [create(store, '/a'), create(store, '/a')];
    await store.close();
    assert.deepEqual(await kept(directory), ['1', '2']);
    await Promise.all(pending);
    await assert.rejects(create(store, '/a'), StoreError);
  });

  test('asks for no sync when the system is trusted to keep it', async (context) => {
    const { store, disk } = await openFaulty(context, 'os');
    await create(store, '/a');
    assert.equal(disk.counts.get('sync'), undefined);
    assert.equal(disk.counts.get('syncDirectory'), undefined);
  });

  test('is written whole by a disk that takes few bytes at a time', async (context) => {
    const { store, disk, directory } = await openFaulty(context);
    disk.shortWrites(7);
    await store.apply(put('/a', 'long', 'absent', { text: 'é\u{1f511}'.repeat(500) }));
    const snapshot = await loadSnapshot(directory);
    assert.deepEqual(snapshot?.state.read('/a', 'long'), await store.read('/a', 'long'));
    disk.shortWrites(0);
    await assert.rejects(create(store, '/a'), { code: 'failed' });
  });
});

describe('a disk that fails', () => {
  interface Case {
    readonly operation: DiskOperation;
    readonly codes: readonly string[];
    readonly outcome: 'full' | 'failed';
    /** Whether later changes are tried again. */
    readonly again: boolean;
  }
  const cases: readonly Case[] = [
    { operation: 'create', codes: ['ENOSPC', 'EDQUOT'], outcome: 'full', again: true },
    { operation: 'create', codes: ['EMFILE', 'EACCES', 'EROFS'], outcome: 'failed', again: true },
    { operation: 'create', codes: ['EIO'], outcome: 'failed', again: false },
    { operation: 'write', codes: ['ENOSPC', 'EDQUOT', 'EFBIG'], outcome: 'full', again: true },
    { operation: 'write', codes: ['EIO'], outcome: 'failed', again: false },
    { operation: 'sync', codes: ['EIO', 'ENOSPC', 'EDQUOT'], outcome: 'failed', again: false },
    { operation: 'close', codes: ['EDQUOT'], outcome: 'full', again: true },
    { operation: 'close', codes: ['EIO'], outcome: 'failed', again: false },
    { operation: 'rename', codes: ['ENOSPC'], outcome: 'full', again: true },
    { operation: 'rename', codes: ['EIO', 'EACCES'], outcome: 'failed', again: false },
    { operation: 'syncDirectory', codes: ['EIO', 'ENOSPC'], outcome: 'failed', again: false },
  ];
  for (const { operation, codes, outcome, again } of cases) {
    for (const code of codes) {
      const then = again ? 'and later ones are tried' : 'and none is tried after';
      test(`at ${operation} with ${code} makes no change, ${then}`, async (context) => {
        const { store, disk, directory } = await openFaulty(context);
        const made = await create(store, '/a');
        const before = await readFile(join(directory, 'store.json'), 'utf8');
        disk.failNext(operation, code);
        const attempts = [
          create(store, '/a'),
          store.apply(put('/a', '1', made.revision, { n: 2 })),
          store.apply(put('/a', 'x', 'absent', {})),
        ];
        for (const attempt of attempts) {
          await assert.rejects(attempt, (error) => error instanceof StoreError && error.code === outcome);
        }
        assert.deepEqual((await store.list('/a', 0, 10)).entries, [made]);
        assert.equal(await store.read('/a', 'x'), undefined);
        assert.deepEqual(await readdir(directory), ['store.json']);
        const after = await readFile(join(directory, 'store.json'), 'utf8');
        // Once the new file has its name only the next start can tell whether the name is kept.
        if (operation !== 'syncDirectory') assert.equal(after, before);
        JSON.parse(after);
        const opened = disk.counts.get('create');
        if (again) {
          assert.deepEqual(entryOf(await store.apply(put('/a', '1', made.revision, { n: 3 }))).value, {
            n: 3,
          });
          assert.ok(Number((await create(store, '/a')).id) > 1);
        } else {
          await assert.rejects(create(store, '/a'), { code: 'failed' });
          assert.equal(disk.counts.get('create'), opened, 'nothing was tried');
          assert.deepEqual(await store.read('/a', '1'), made);
        }
      });
    }
  }

  test('leaves no store half begun', async (context) => {
    const directory = await scratchDirectory(context);
    const disk = faultyDisk();
    disk.failNext('write', 'ENOSPC');
    await assert.rejects(openFileStore({ ...optionsFor(directory), disk }), { code: 'full' });
    assert.deepEqual(await readdir(directory), []);
  });
});

describe('a store.json that cannot be used', () => {
  const item = (id: string, sequence: number, revision = sequence): object => {
    return { id, sequence, revision, modified: '2013-04-20T12:59:24.000Z', value: {} };
  };
  const collection = (changes: object): string => {
    const whole = { counter: 2, chosen: [], sequence: 2, revision: 2, modified: '2013-04-20T12:59:24.000Z' };
    const items = [item('1', 1), item('2', 2)];
    return document({ collections: { '/a': { ...whole, items, ...changes } } });
  };
  const document = (changes: object): string =>
    JSON.stringify({ version: 1, lineage: 'first', revision: 2, collections: {}, ...changes });

  const cases: readonly (readonly [string, string | Uint8Array, RegExp])[] = [
    ['empty', '', /not JSON/],
    ['cut off', collection({}).slice(0, -3), /not JSON/],
    ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), /not UTF-8/],
    ['an array', '[]', /not an object/],
    ['of a later version', document({ version: 2, novelty: true }), /version is 2/],
    ['without a version', '{}', /version/],
    ['with a member nobody knows', document({ novelty: true }), /not known/],
    ['with a lineage that is no text', document({ lineage: 7 }), /lineage/],
    ['with a revision that is no number', document({ revision: '2' }), /revision/],
    ['with collections that are no object', document({ collections: [] }), /collections/],
    ['with a collection that is no object', document({ collections: { '/a': null } }), /"\/a"/],
    ['with a negative counter', collection({ counter: -1 }), /counter/],
    ['with a broken sequence', collection({ sequence: 1.5 }), /sequence/],
    ['with a date of another form', collection({ modified: '20 apr 2013' }), /modified .* not a date/],
    ['with a day that does not exist', collection({ modified: '2013-02-31T00:00:00.000Z' }), /not a date/],
    ['with items that are no array', collection({ items: {} }), /items/],
    ['with an item that is no object', collection({ items: [7] }), /item 1/],
    ['with an id twice', collection({ items: [item('1', 1), item('1', 2)] }), /"1" stands twice/],
    ['with items out of sequence', collection({ items: [item('2', 2), item('1', 1)] }), /out of sequence/],
    ['with the counter behind', collection({ counter: 1 }), /counter is behind the item "2"/],
    ['with the sequence behind', collection({ sequence: 1 }), /sequence is behind/],
    ['with the revision behind an item', collection({ items: [item('1', 1, 3)] }), /revision is behind/],
    ['with an item of no revision', collection({ items: [item('1', 1, 0)] }), /revision/],
    ['with the store behind a collection', collection({ revision: 3 }), /revision of the store is behind/],
    ['with a value that is no record', collection({ items: [{ ...item('1', 1), value: 'x' }] }), /value/],
    ['with a null in a value', collection({ items: [{ ...item('1', 1), value: { a: null } }] }), /value/],
    ['with chosen ids that do not ascend', collection({ chosen: [[9, 8]] }), /chosen/],
    ['with chosen ids the counter has passed', collection({ chosen: [[2, 3]] }), /chosen/],
  ];
  for (const [what, content, message] of cases) {
    test(`because it is ${what} stops the start and is left as it is`, async (context) => {
      const directory = await scratchDirectory(context);
      const path = join(directory, 'store.json');
      await writeFile(path, content);
      await writeFile(join(directory, 'store.json.9-1.tmp'), 'may be of use to whoever mends it');
      await assert.rejects(openFileStore(optionsFor(directory)), (error) => {
        assert.ok(error instanceof Error && 'code' in error);
        assert.equal(error.name, 'DamagedStoreError');
        assert.equal(error.code, 'damaged');
        assert.ok(error.message.startsWith(path));
        assert.match(error.message, message);
        assert.match(error.message, /Nothing was changed/);
        return true;
      });
      assert.deepEqual(await readFile(path), Buffer.from(content));
      assert.deepEqual((await readdir(directory)).sort(), ['store.json', 'store.json.9-1.tmp']);
    });
  }

  test('is not one that a person only wrote differently', async (context) => {
    const directory = await scratchDirectory(context);
    const pretty = `\ufeff${JSON.stringify(
      JSON.parse(
        collection({
          chosen: [
            [3, 3],
            [4, 4],
          ],
        }),
      ),
      null,
      '\t',
    )}\r\n`;
    await writeFile(join(directory, 'store.json'), pretty);
    const store = await openFileStore(optionsFor(directory));
    assert.deepEqual(ids(await store.list('/a', 0, 10)), ['1', '2']);
    assert.equal((await create(store, '/a')).id, '5');
  });

  test('is found at whatever byte it is cut', async (context) => {
    const directory = await scratchDirectory(context);
    const store = await openFileStore(optionsFor(directory));
    await create(store, '/a', { text: 'é' });
    const path = join(directory, 'store.json');
    const whole = await readFile(path);
    const end = whole.lastIndexOf('}');
    for (let length = 0; length <= end; length += 1) {
      await writeFile(path, whole.subarray(0, length));
      await assert.rejects(loadSnapshot(directory), { name: 'DamagedStoreError' }, `cut to ${length} bytes`);
    }
  });
});

test('kill -9 at any moment loses nothing that was acknowledged', async (context) => {
  const directory = await scratchDirectory(context);
  const random = seeded();
  const acknowledged = new Map<string, string>();
  for (let round = 0; round < 3; round += 1) {
    const child = startChild('acknowledging-child.ts', directory, String(round));
    const target = acknowledged.size + 1 + random.below(120);
    const note = (line: string): void => {
      const [id = '', revision = ''] = line.split(' ');
      assert.ok(!acknowledged.has(id), `id ${id} was given twice (SEED=${random.seed})`);
      acknowledged.set(id, revision);
    };
    while (acknowledged.size < target) note((await child.line()) ?? assert.fail('the child ended by itself'));
    await child.kill();
    for (let line = await child.line(); line !== undefined; line = await child.line()) note(line);
    const store = await openFileStore(optionsFor(directory));
    for (const [id, revision] of acknowledged) {
      const entry = await store.read('/a', id);
      assert.equal(String(entry?.revision), revision, `item ${id} (SEED=${random.seed}, round ${round})`);
    }
    assert.deepEqual(await readdir(directory), ['store.json']);
  }
});
