import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { prepareDirectory } from '../store/directory.ts';
import { type DirectoryLock, LockedError, lockDirectory } from '../store/lock.ts';
import type { Seal } from '../store/seal.ts';
import { readUsers, type StoredUser, usersMark, writeUsers } from '../store/users.ts';

/** How often, and how far apart (ms), the lock is tried for: ten seconds in all. */
const attempts = 200;
const pause = 50;

/**
 * Changes the users kept in a data directory, which is made where there is none. Whoever changes them at the same
 * time waits, so that no change is lost. A server that runs on the directory has a lock of its own and is not in
 * the way. Secrets are kept sealed where there is a seal. What `change` throws leaves everything as it was. Gives the
 * mark of what was written.
 */
export async function changeUsers(
  directory: string,
  seal: Seal | undefined,
  change: (users: Map<string, StoredUser>) => unknown,
): Promise<string | undefined> {
  const lockPath = join(directory, 'users.lock');
  await prepareDirectory(directory);
  await prepareDirectory(lockPath);
  const lock = await waitFor(lockPath);
  try {
    const users = new Map((await readUsers(directory, { seal })).users);
    change(users);
    await writeUsers(directory, users, { seal });
    return await usersMark(directory);
  } finally {
    await lock.release();
  }
}

async function waitFor(path: string): Promise<DirectoryLock> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await lockDirectory(path);
    } catch (error) {
      if (!(error instanceof LockedError) || attempt === attempts) throw error;
      await pass(pause);
    }
  }
}
