import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { DirectoryError, prepareDirectory } from '../../../src/store/files/directory.ts';
import { FilePermissionsError } from '../../../src/store/files/file-permissions.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const onPosix = { skip: process.platform === 'win32' ? 'modes mean nothing here' : false };

/** How a directory is refused that others can get at. */
async function exposedIn(path: string): Promise<FilePermissionsError> {
  try {
    await prepareDirectory(path);
  } catch (error) {
    assert.ok(error instanceof FilePermissionsError, String(error));
    assert.equal(error.code, 'exposed');
    return error;
  }
  assert.fail(`${path} is taken`);
}

describe('the data directory', () => {
  test('is created with mode 0700, along with its missing parents', async (context) => {
    const path = join(temporaryDirectory(context), 'above', 'data');
    await prepareDirectory(path);
    assert.equal((await stat(path)).mode & 0o777, 0o700);
    await prepareDirectory(path);
  });

  test('is set to mode 0700 if it exists and is empty', onPosix, async (context) => {
    const path = join(temporaryDirectory(context), 'data');
    for (const mode of [0o755, 0o770, 0o701]) {
      await mkdir(path, { recursive: true });
      await chmod(path, mode);
      await prepareDirectory(path);
      assert.equal((await stat(path)).mode & 0o777, 0o700);
    }
  });

  test(
    'is rejected with its mode unchanged if it is accessible to other users and not empty',
    onPosix,
    async (context) => {
      for (const mode of [0o750, 0o705, 0o720, 0o702, 0o710, 0o701]) {
        const path = temporaryDirectory(context);
        await writeFile(join(path, 'store.jsonl'), '', { mode: 0o600 });
        await chmod(path, mode);
        const error = await exposedIn(path);
        assert.deepEqual(error.first, { path, directory: true, mode, foreign: undefined });
        assert.deepEqual([error.several, error.known], [false, true]);
        assert.equal((await stat(path)).mode & 0o777, mode);
      }
    },
  );

  const files = [
    'users.json',
    'store.jsonl',
    'lock.1',
    'nonces.1',
    'tls/key.pem',
    'users.lock/lock.1',
    'anything',
  ];
  for (const name of files) {
    test(`is rejected if other users can access ${name} in it`, onPosix, async (context) => {
      for (const mode of [0o640, 0o604, 0o620, 0o602]) {
        const directory = temporaryDirectory(context);
        const path = join(directory, name);
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        await writeFile(path, '');
        await chmod(path, mode);
        const before = await readdir(directory);
        const error = await exposedIn(directory);
        assert.deepEqual(error.first, { path, directory: false, mode, foreign: undefined });
        assert.equal(error.several, false);
        assert.deepEqual(await readdir(directory), before);
      }
    });
  }

  test(
    'is rejected for the target of a symbolic link in it, and a dangling link is ignored',
    onPosix,
    async (context) => {
      const directory = temporaryDirectory(context);
      const elsewhere = join(temporaryDirectory(context), 'elsewhere');
      await symlink(elsewhere, join(directory, 'store.jsonl'));
      await prepareDirectory(directory);
      await writeFile(elsewhere, '');
      await chmod(elsewhere, 0o644);
      assert.equal((await exposedIn(directory)).first.path, join(directory, 'store.jsonl'));
    },
  );

  test(
    'is reported before exposed files in it, and several exposed files are reported as several',
    onPosix,
    async (context) => {
      const path = temporaryDirectory(context);
      for (const name of ['a', 'b']) {
        await writeFile(join(path, name), '');
        await chmod(join(path, name), 0o666);
      }
      assert.deepEqual([(await exposedIn(path)).several, (await exposedIn(path)).known], [true, false]);
      await chmod(path, 0o777);
      assert.equal((await exposedIn(path)).first.path, path);
    },
  );

  test('is rejected if it is a file or below one', async (context) => {
    const file = join(temporaryDirectory(context), 'file');
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

  test('is rejected if the system cannot create it', async (context) => {
    if (!existsSync('/proc/self')) return context.skip('there is no /proc');
    await assert.rejects(prepareDirectory('/proc/nothing/data'), DirectoryError);
  });

  test('is rejected if the user has no permission to write to it', {
    skip: process.getuid?.() === 0 || process.platform === 'win32' ? 'this user may write everywhere' : false,
  }, async (context) => {
    const path = temporaryDirectory(context);
    await chmod(path, 0o500);
    await assert.rejects(prepareDirectory(path), /no permission/);
    await assert.rejects(prepareDirectory(join(path, 'data')), /no permission/);
  });
});
