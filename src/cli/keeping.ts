import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../clock.ts';
import type { Options } from '../options/options.ts';
import type { CompactionLimits } from '../store/compaction.ts';
import { prepareDirectory } from '../store/directory.ts';
import { type DurableStore, openDurableStore, type StoreHealth } from '../store/durable.ts';
import { lockDirectory } from '../store/lock.ts';
import { createMemoryStore } from '../store/memory.ts';
import { type FileNonces, openNonces } from '../store/nonce-file.ts';
import { journalName, type Recovered, recover } from '../store/recovery.ts';
import type { Seal } from '../store/seal.ts';
import type { Store } from '../store/store.ts';
import { readUsers, type StoredUser, type UsersFile, usersPath } from '../store/users.ts';
import type { UsersWatch } from '../store/users-watch.ts';
import { judgeKept } from './judged.ts';
import { showLoading } from './loading.ts';
import { changeUsers } from './users-file.ts';

/** Where a server keeps what it is told: a directory of its own, or memory. */
export interface Keeping {
  readonly store: Store;
  /** How the store is; undefined in memory, where nothing can go wrong with it. */
  readonly health: () => StoreHealth | undefined;
  /** Undefined in memory: they are the service's own there. */
  readonly nonces: FileNonces | undefined;
  readonly users: ReadonlyMap<string, StoredUser>;
  /** Whether there was nothing here before. */
  readonly fresh: boolean;
  /** Where users' secrets are kept for who can read the file; undefined where they are not. */
  readonly clear: string | undefined;
  /** Keeps a first user. */
  keepUser(name: string, user: StoredUser): Promise<void>;
  /** From now on calls `use` with the users when others have changed them, and `tell` with a line when they cannot be read. */
  watchUsers(use: (users: ReadonlyMap<string, StoredUser>) => void, tell: (line: string) => void): void;
  /** Takes away what this start made: it came to nothing. */
  undo(): void;
  /** Finishes what is under way and lets others have the directory. */
  close(): Promise<void>;
}

/** Keeps nothing beyond the process. */
export function inMemory(): Keeping {
  return {
    store: createMemoryStore({ lineage: newLineage() }),
    health: () => undefined,
    nonces: undefined,
    users: new Map(),
    fresh: true,
    clear: undefined,
    async keepUser() {},
    watchUsers() {},
    undo() {},
    async close() {},
  };
}

/**
 * Opens the data directory, makes it where there is none, and locks it. Where there is a seal, users' secrets that are
 * in the clear are sealed. `tell` is told of that in a line, and of what was lost in a crash and what follows from it.
 * Throws what hinders that.
 */
export async function inDirectory(
  options: Options,
  seal: Seal | undefined,
  tell: (line: string) => void,
  compaction?: CompactionLimits,
): Promise<Keeping> {
  const { data, durability } = options;
  await prepareDirectory(data);
  // Read while the lock is taken, which does not keep others from changing them anyway.
  const reading = readUsers(data, { seal });
  reading.catch(() => {}); // told where it is waited for
  const lock = await lockDirectory(data);
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
    const kept = await sealed(data, seal, await reading, tell);
    const { loading, end } = showLoading(process.stderr, systemClock);
    const recovered = await recover({ directory: data, loading }).finally(end);
    for (const mended of recovered.told) tell(mended);
    await judgeKept(data, recovered.state, options.collections);
    const fresh = recovered.lineage === undefined && !existsSync(usersPath(data));
    const nonces = await opening;
    await nonces.begin();
    const store = await openStore(recovered, nonces, options, tell, compaction);
    let watching: Promise<UsersWatch> | undefined;
    return {
      store,
      health: () => store.health,
      nonces,
      users: kept.users,
      fresh,
      clear: seal === undefined ? usersPath(data) : undefined,
      async keepUser(name, user) {
        await changeUsers(data, seal, (users) => users.set(name, user));
      },
      watchUsers(use, tellFault) {
        const { mark } = kept;
        // Loaded when the server is ready: nobody waits for it.
        watching = import('../store/users-watch.ts').then(({ watchUsers }) =>
          watchUsers({ directory: data, seal, mark, use, tell: tellFault }),
        );
      },
      // Else the next start would take the directory for one in use, and make no user.
      undo: () => rmSync(join(data, journalName(1)), { force: true }),
      async close() {
        try {
          // A compaction that comes to its end keeps nonces.
          await store.close().finally(() => nonces.close());
          await watching?.then((watch) => watch.close());
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

/** Opens the store on what was found, and gives the nonces those that the journals have. */
async function openStore(
  recovered: Recovered,
  nonces: FileNonces,
  { data, durability }: Options,
  tell: (line: string) => void,
  limits: CompactionLimits | undefined,
): Promise<DurableStore> {
  for (const nonce of recovered.nonces) nonces.remember(nonce);
  return openDurableStore({
    directory: data,
    recovered,
    lineage: newLineage,
    durability,
    clock: systemClock,
    tell,
    onKept: (nonce) => nonces.keptWithChange(nonce),
    ...(limits === undefined ? {} : { limits }),
    async beforeForgetting() {
      await nonces.kept(true);
    },
  });
}

/** The users as they are kept, after those secrets were sealed that were not and can be. */
async function sealed(
  directory: string,
  seal: Seal | undefined,
  kept: UsersFile,
  tell: (line: string) => void,
): Promise<UsersFile> {
  if (seal === undefined || kept.clear === 0) return kept;
  await changeUsers(directory, seal, () => {});
  tell(`the secrets in ${usersPath(directory)} were in the clear, and are encrypted now`);
  return readUsers(directory, { seal });
}

function newLineage(): string {
  return randomBytes(4).toString('hex');
}
