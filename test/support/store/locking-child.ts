// Takes the lock of each directory named on a line of standard input and says how it went; `release` lets go.
import { createInterface } from 'node:readline';
import { type DirectoryLock, LockedError, lockDirectory } from '../../../src/store/files/lock.ts';

let held: DirectoryLock | undefined;

async function take(directory: string): Promise<string> {
  try {
    held = await lockDirectory(directory);
    return 'owner';
  } catch (error) {
    return error instanceof LockedError ? `locked ${error.pid}` : String(error);
  }
}

async function release(): Promise<string> {
  await held?.release();
  return 'released';
}

console.log('ready');
for await (const line of createInterface({ input: process.stdin })) {
  console.log(line === 'release' ? await release() : await take(line));
}
