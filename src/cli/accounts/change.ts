import { join } from 'node:path';
import type { AccountFile } from '../../accounts/account-file.ts';
import type { SecretBox } from '../../accounts/secret-box.ts';
import { prepareDirectory } from '../../store/files/directory.ts';
import { type DirectoryLock, LockedError, lockDirectory } from '../../store/files/lock.ts';
import { delay } from '../../timers.ts';

/** How often, and how far apart (ms), the lock is tried for: ten seconds in all. */
const attempts = 200;
const pause = 50;

/**
 * Changes a roster of a data directory, which is made where there is none. Whoever changes it at the same time waits, so
 * that no change is lost. A server that runs on the directory has a lock of its own and is not in the way. Secrets are
 * kept sealed where there is a seal. What `change` throws leaves everything as it was. Gives the mark of what was
 * written.
 */
export async function changeAccountFile<T>(
  accountFile: AccountFile<T>,
  directory: string,
  secretBox: SecretBox | undefined,
  change: (entries: Map<string, T>) => unknown,
): Promise<string | undefined> {
  const lockPath = join(directory, `${accountFile.name}.lock`);
  await prepareDirectory(directory);
  await prepareDirectory(lockPath);
  const lock = await waitFor(lockPath);
  try {
    const entries = new Map((await accountFile.read(directory, { seal: secretBox })).entries);
    change(entries);
    await accountFile.write(directory, entries, { seal: secretBox });
    return await accountFile.mark(directory);
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
      await delay(pause);
    }
  }
}
