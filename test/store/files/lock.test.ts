import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { DirectoryError } from '../../../src/store/files/directory.ts';
import { findHolder, LockedError, lockDirectory } from '../../../src/store/files/lock.ts';
import { type Child, startChild } from '../../support/store/child.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** The id of a process that has ended. */
function endedPid(): number {
  return spawnSync(process.execPath, ['--version']).pid;
}

/** Lets all take the directory at once; gives the one that got it, which all others must name. */
async function race(children: readonly Child[], directory: string): Promise<Child> {
  for (const child of children) child.send(directory);
  const answers = await Promise.all(children.map((child) => child.line()));
  const owner = children[answers.indexOf('owner')];
  assert.ok(owner !== undefined, answers.join(', '));
  for (const [index, child] of children.entries()) {
    assert.equal(answers[index], child === owner ? 'owner' : `locked ${owner.pid}`);
  }
  return owner;
}

describe('the lock of a directory', () => {
  test('prevents any other lock until it is released', async (context) => {
    const directory = temporaryDirectory(context);
    const lock = await lockDirectory(directory);
    const refused = (error: unknown): boolean => {
      assert.ok(error instanceof LockedError);
      assert.equal(error.code, 'locked');
      assert.equal(error.pid, process.pid);
      assert.equal(error.directory, directory);
      return true;
    };
    await assert.rejects(lockDirectory(directory), refused);
    await lock.release();
    const again = await lockDirectory(directory);
    await lock.release();
    await assert.rejects(lockDirectory(directory), refused, 'a second release of the first lets nobody in');
    await again.release();
  });

  test('has at most two files, however often it is acquired', async (context) => {
    const directory = temporaryDirectory(context);
    for (let round = 0; round < 5; round += 1) await (await lockDirectory(directory)).release();
    assert.deepEqual((await readdir(directory)).sort(), ['lock.4', 'lock.5']);
  });

  const left: readonly (readonly [string, () => string])[] = [
    ['a process that has ended', () => JSON.stringify({ pid: endedPid(), started: 'x/1' })],
    ['a process whose id another has now', () => JSON.stringify({ pid: process.pid, started: 'x/1' })],
    ['an impossible process id', () => '{"pid":-1}'],
    ['the process id of everybody', () => '{"pid":0}'],
    ['a loss of power', () => ''],
    ['a release', () => '{"released":true}'],
  ];
  for (const [whose, content] of left) {
    test(`replaces a lock file from ${whose}, for one of many simultaneous attempts`, async (context) => {
      const directory = temporaryDirectory(context);
      await writeFile(join(directory, 'lock.7'), content());
      const results = await Promise.allSettled(Array.from({ length: 25 }, () => lockDirectory(directory)));
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
      for (const result of results) {
        if (result.status === 'rejected')
          assert.ok(result.reason instanceof LockedError, String(result.reason));
      }
      assert.deepEqual((await readdir(directory)).sort(), ['lock.7', 'lock.8']);
    });
  }

  test('is acquired by one of several processes, and by another once that process is killed', async (context) => {
    const children = Array.from({ length: 4 }, () => startChild('locking-child.ts'));
    context.after(() => Promise.all(children.map((child) => child.kill())));
    for (const child of children) assert.equal(await child.line(), 'ready');
    const directory = temporaryDirectory(context);
    for (let round = 0; round < 25; round += 1) {
      const place = round % 2 === 0 ? directory : temporaryDirectory(context);
      if (place !== directory) await writeFile(join(place, 'lock.3'), '{"pid":2147483647}');
      const owner = await race(children, place);
      owner.send('release');
      assert.equal(await owner.line(), 'released');
    }
    let running = children;
    while (running.length > 1) {
      const owner = await race(running, directory);
      await owner.kill();
      running = running.filter((child) => child !== owner);
    }
  });

  test('is not valid in a copy of the directory, which can be locked at the same time', async (context) => {
    const directory = join(temporaryDirectory(context), 'original');
    const copy = join(temporaryDirectory(context), 'copy');
    await mkdir(directory);
    const lock = await lockDirectory(directory);
    await cp(directory, copy, { recursive: true, preserveTimestamps: true });
    assert.equal(await findHolder(copy), undefined);
    const second = await lockDirectory(copy);
    await assert.rejects(lockDirectory(copy), LockedError);
    await assert.rejects(lockDirectory(directory), LockedError);
    await second.release();
    await lock.release();
  });

  test('stays valid when the directory is moved, and under a symbolic link to it', async (context) => {
    const [before, after, linked] = ['before', 'after', 'linked'].map((name) =>
      join(temporaryDirectory(context), name),
    );
    assert.ok(before !== undefined && after !== undefined && linked !== undefined);
    await mkdir(before);
    const lock = await lockDirectory(before);
    await rename(before, after);
    await symlink(after, linked);
    for (const path of [after, linked]) await assert.rejects(lockDirectory(path), LockedError, path);
    await lock.release();
  });

  test('stays valid if the inode of the directory changed at the same path', async (context) => {
    const directory = temporaryDirectory(context);
    const lock = await lockDirectory(directory);
    const path = join(directory, 'lock.1');
    const content = await readFile(path, 'utf8');
    await writeFile(path, content.replace(/"inode":"[^"]*"/, '"inode":"1:1"'));
    await assert.rejects(lockDirectory(directory), LockedError);
    await lock.release();
  });

  test('is rejected with a DirectoryError if the directory does not exist', async (context) => {
    const directory = join(temporaryDirectory(context), 'missing');
    await assert.rejects(lockDirectory(directory), DirectoryError);
  });
});
