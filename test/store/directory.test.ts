import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { DirectoryError, prepareDirectory } from '../../src/store/directory.ts';
import { scratchDirectory } from './scratch.ts';

describe('the data directory', () => {
  test('is made for its owner alone, with what is above it', async (context) => {
    const path = join(await scratchDirectory(context), 'above', 'data');
    await prepareDirectory(path);
    assert.equal((await stat(path)).mode & 0o777, 0o700);
    await prepareDirectory(path);
  });

  test('keeps the mode it has', async (context) => {
    const path = join(await scratchDirectory(context), 'data');
    await mkdir(path);
    await chmod(path, 0o750);
    await prepareDirectory(path);
    assert.equal((await stat(path)).mode & 0o777, 0o750);
  });

  test('is not a file, nor below one', async (context) => {
    const file = join(await scratchDirectory(context), 'file');
    await writeFile(file, '');
    for (const path of [file, join(file, 'data')]) {
      await assert.rejects(prepareDirectory(path), (error) => {
        assert.ok(error instanceof DirectoryError);
        assert.equal(error.code, 'directory');
        assert.ok(error.message.startsWith(path));
        assert.match(error.message, /not a directory/);
        return true;
      });
    }
  });

  test('is refused at once where the system makes no directory', async (context) => {
    if (!existsSync('/proc/self')) return context.skip('there is no /proc');
    await assert.rejects(prepareDirectory('/proc/nothing/data'), DirectoryError);
  });

  test('is refused where it may not be written', {
    skip: process.getuid?.() === 0 || process.platform === 'win32' ? 'this user may write everywhere' : false,
  }, async (context) => {
    const path = await scratchDirectory(context);
    await chmod(path, 0o500);
    await assert.rejects(prepareDirectory(path), /no permission/);
    await assert.rejects(prepareDirectory(join(path, 'data')), /no permission/);
  });
});
