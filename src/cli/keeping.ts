import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../clock.ts';
import { createJudgeOfKept } from '../misfit.ts';
import type { Options } from '../options/options.ts';
import { prepareDirectory } from '../store/directory.ts';
import { openFileStore } from '../store/file.ts';
import { lockDirectory } from '../store/lock.ts';
import { createMemoryStore } from '../store/memory.ts';
import { type FileNonces, openNonces } from '../store/nonce-file.ts';
import type { Store } from '../store/store.ts';
import { readUsers, type StoredUser, writeUsers } from '../store/users.ts';

/** Where a server keeps what it is told: a directory of its own, or memory. */
export interface Keeping {
  readonly store: Store;
  /** Undefined in memory: they are the service's own there. */
  readonly nonces: FileNonces | undefined;
  readonly users: ReadonlyMap<string, StoredUser>;
  /** Whether there was nothing here before. */
  readonly fresh: boolean;
  /** Keeps a first user. */
  keepUser(name: string, user: StoredUser): Promise<void>;
  /** Takes away what this start made: it came to nothing. */
  undo(): void;
  /** Finishes what is under way and lets others have the directory. */
  close(): Promise<void>;
}

/** Keeps nothing beyond the process. */
export function inMemory(): Keeping {
  return {
    store: createMemoryStore({ lineage: newLineage() }),
    nonces: undefined,
    users: new Map(),
    fresh: true,
    async keepUser() {},
    undo() {},
    async close() {},
  };
}

/**
 * Opens the data directory, makes it where there is none, and locks it. `tell` is told in a line what was lost in a crash
 * and what follows from that. Throws what hinders that.
 */
export async function inDirectory(options: Options, tell: (loss: string) => void): Promise<Keeping> {
  const { data, durability, collections } = options;
  await prepareDirectory(data);
  const lock = await lockDirectory(data);
  const storePath = join(data, 'store.json');
  const fresh = !existsSync(storePath) && !existsSync(join(data, 'users.json'));
  // Read while the rest is; nobody waits for them alone.
  const opening = openNonces({
    directory: data,
    durability,
    window: options.window * 1000,
    max: options.maxNonces,
    key: randomBytes(16),
    clock: systemClock,
    tell,
  });
  opening.catch(() => {}); // told where it is waited for
  try {
    const users = await readUsers(data);
    const store = await openFileStore({
      directory: data,
      lineage: newLineage,
      durability,
      judge: createJudgeOfKept(collections),
    });
    const nonces = await opening;
    return {
      store,
      nonces,
      users,
      fresh,
      keepUser: (name, user) => writeUsers(data, new Map([[name, user]])),
      // Else the next start would take the directory for one in use, and make no user.
      undo: () => rmSync(storePath, { force: true }),
      async close() {
        try {
          await Promise.all([store.close(), nonces.close()]);
        } finally {
          await lock.release();
        }
      },
    };
  } catch (error) {
    const opened = await opening.catch(() => undefined);
    await opened?.close().catch(() => {}); // the first failure is the one to tell
    await lock.release();
    throw error;
  }
}

function newLineage(): string {
  return randomBytes(4).toString('hex');
}
