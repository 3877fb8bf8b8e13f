import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { StoreError } from '../../../src/store/errors.ts';
import { replaceFile } from '../../../src/store/files/atomic-write.ts';
import { nodeDisk } from '../../../src/store/files/disk.ts';
import { faultyDisk } from '../../support/store/faulty-disk.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

test('syncs that are pending when a file is closed succeed', async (context) => {
  const directory = temporaryDirectory(context);
  for (let number = 0; number < 200; number += 1) {
    const file = await nodeDisk.create(join(directory, String(number)), 0o600);
    await file.write(Buffer.alloc(4096, number));
    // Two: the first one has a thread at once, and the second one may not.
    const syncing = [file.syncData(), file.syncData(), file.sync()];
    const closing = file.close();
    const settled = await Promise.allSettled([...syncing, closing]);
    assert.deepEqual(
      settled.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'fulfilled', 'fulfilled'],
      `file ${number}`,
    );
  }
});

test('a file that cannot be replaced is unchanged, and no other file is left', async (context) => {
  const directory = temporaryDirectory(context);
  const written = { directory, name: 'file', sync: true };
  await replaceFile(nodeDisk, { ...written, content: ['before'] });
  for (const operation of ['create', 'write', 'sync', 'close', 'rename'] as const) {
    const disk = faultyDisk();
    disk.failNext(operation, 'EIO');
    await assert.rejects(replaceFile(disk, { ...written, content: ['after'] }), StoreError);
    assert.equal(await readFile(join(directory, 'file'), 'utf8'), 'before', operation);
    assert.deepEqual(await readdir(directory), ['file'], operation);
  }
});
