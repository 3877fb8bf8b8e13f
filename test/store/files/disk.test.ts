import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { nodeDisk } from '../../../src/store/files/disk.ts';
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
