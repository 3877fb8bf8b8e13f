import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createJudgeOfKept } from '../misfit.ts';
import type { Options } from '../options/options.ts';
import { prepareDirectory } from '../store/directory.ts';
import { openFileStore } from '../store/file.ts';
import { lockDirectory } from '../store/lock.ts';
import { createMemoryStore } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import { readUsers, type StoredUser, writeUsers } from '../store/users.ts';

/** Where a server keeps what it is told: a directory of its own, or memory. */
export interface Keeping {
  readonly store: Store;
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
    users: new Map(),
    fresh: true,
    async keepUser() {},
    undo() {},
    async close() {},
  };
}

/** Opens the data directory, makes it where there is none, and locks it. Throws what hinders that. */
export async function inDirectory({ data, durability, collections }: Options): Promise<Keeping> {
  await prepareDirectory(data);
  const lock = await lockDirectory(data);
  const storePath = join(data, 'store.json');
  const fresh = !existsSync(storePath) && !existsSync(join(data, 'users.json'));
  try {
    const users = await readUsers(data);
    const store = await openFileStore({
      directory: data,
      lineage: newLineage,
      durability,
      judge: createJudgeOfKept(collections),
    });
    return {
      store,
      users,
      fresh,
      keepUser: (name, user) => writeUsers(data, new Map([[name, user]])),
      // Else the next start would take the directory for one in use, and make no user.
      undo: () => rmSync(storePath, { force: true }),
      async close() {
        await store.close();
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

function newLineage(): string {
  return randomBytes(4).toString('hex');
}
