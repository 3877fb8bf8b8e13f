import { join } from 'node:path';
import type { AccountFile } from '../../accounts/account-file.ts';
import type { SecretBox } from '../../accounts/secret-box.ts';
import { prepareDirectory } from '../../store/files/directory.ts';
import { type DirectoryLock, LockedError, lockDirectory } from '../../store/files/lock.ts';
import { delay } from '../../timers.ts';

/** The number of attempts to take the lock: 200 × 50 ms are ten seconds. */
const maxAttempts = 200;
/** The time between two attempts, in milliseconds. */
const retryDelay = 50;

/**
 * Changes an account file and returns its new mark. Creates the data directory if it does not exist. A lock serializes
 * concurrent changes; it is not the lock of a server that uses the directory. Encrypts secrets if there is a key.
 *
 * @param change changes the entries; if it throws, nothing is written
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
  const lock = await waitForLock(lockPath);
  try {
    const entries = new Map((await accountFile.read(directory, { secretBox })).entries);
    change(entries);
    await accountFile.write(directory, entries, { secretBox });
    return await accountFile.mark(directory);
  } finally {
    await lock.release();
  }
}

async function waitForLock(path: string): Promise<DirectoryLock> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await lockDirectory(path);
    } catch (error) {
      if (!(error instanceof LockedError) || attempt === maxAttempts) throw error;
      await delay(retryDelay);
    }
  }
}
