import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { nodeDisk } from '../../../src/store/files/disk.ts';

test('a file is let go of only after a sync that was asked for before, which is no failure then', async (context) => {
  const directory = await mkdtemp(join(tmpdir(), 'countersign-disk-'));
  context.after(() => rm(directory, { recursive: true }));
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
