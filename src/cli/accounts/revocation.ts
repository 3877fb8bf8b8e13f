import { randomBytes } from 'node:crypto';
import { type GrantSelection, revocationFile } from '../../accounts/revocations.ts';
import type { AccountPlace } from '../../accounts/stored-file.ts';
import { systemClock } from '../../clock.ts';
import { RevokeOnRemoval } from '../../oauth/revoke-on-removal.ts';
import type { DocumentStore } from '../../store/documents.ts';
import { openJournaledStore } from '../../store/durable.ts';
import { findHolder, LockedError, whileLocked } from '../../store/files/lock.ts';
import { recover } from '../../store/recover.ts';
import type { Store } from '../../store/store.ts';
import { createStoreId } from '../../store/store-id.ts';
import { delay } from '../../timers.ts';

/** Revokes grants and tokens in the store. Rejects if that failed. */
export type Revoke = (selection: GrantSelection) => Promise<void>;

/**
 * Carries out requested revocations, then removes them from the file, which acknowledges them. The caller holds the lock of
 * the store of a data directory. Of several servers that share documents, each may carry them out.
 */
export async function applyRevocations(
  place: AccountPlace,
  requested: ReadonlyMap<string, GrantSelection>,
  revoke: Revoke,
): Promise<void> {
  if (requested.size === 0) return;
  for (const selection of requested.values()) await revoke(selection);
  await revocationFile.change(place, undefined, (entries) => {
    for (const name of requested.keys()) entries.delete(name);
  });
}

/** How a revocation was carried out: by the server with this process id, by this command, or not yet. */
type Revoked =
  | { readonly by: 'server'; readonly pid: number }
  | { readonly by: 'command' }
  | { readonly by: 'nobody'; readonly pid: number };

/**
 * Requests a revocation. A running server carries it out and acknowledges it; without a server, this process opens the store. The
 * request is on the disk before, so that it is not lost if both end: the next start then carries it out.
 */
export async function requestRevocation(
  directory: string,
  selection: GrantSelection,
  report: (line: string) => void,
  wait: (ms: number) => Promise<unknown> = delay,
): Promise<Revoked> {
  const name = randomBytes(16).toString('hex');
  await revocationFile.change(directory, undefined, (entries) => entries.set(name, selection));
  for (;;) {
    const waited = await waitForServer(directory, name, wait);
    if (waited !== undefined) return waited;
    try {
      await revokeDirectly(directory, report);
      return { by: 'command' };
    } catch (error) {
      // A server has started meanwhile.
      if (!(error instanceof LockedError)) throw error;
    }
  }
}

/** The number of attempts, and the time between them (ms): ten seconds in total. */
const attempts = 500;
const pause = 20;

/** Waits until a running server has removed the request. Returns undefined if no process uses the directory. */
async function waitForServer(
  directory: string,
  name: string,
  wait: (ms: number) => Promise<unknown>,
): Promise<Revoked | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const holder = await findHolder(directory);
    // Read after that: a server that stops has carried out what it removed.
    const { entries } = await revocationFile.read(directory);
    if (holder === undefined) return undefined;
    if (!entries.has(name)) return { by: 'server', pid: holder.pid };
    if (attempt === attempts) return { by: 'nobody', pid: holder.pid };
    await wait(pause);
  }
}

/** Carries out all requests in this process. Rejects with LockedError if another process uses the store. */
async function revokeDirectly(directory: string, report: (line: string) => void): Promise<void> {
  await whileLocked(directory, async () => {
    const { entries } = await revocationFile.read(directory);
    const recovered = await recover({ directory });
    for (const line of recovered.reports) report(line);
    const store = await openJournaledStore({
      directory,
      recovered,
      declarations: recovered.journals.at(-1)?.declarations,
      newStoreId: createStoreId,
      durability: 'fsync',
      clock: systemClock,
      onWarning: report,
    });
    try {
      await applyRevocations(directory, entries, revokeIn(store));
    } finally {
      await store.close();
    }
  });
}

/** Returns a function that revokes grants and tokens of a store. */
function revokeIn(store: Store): Revoke {
  const names = { user: new Set<string>(), client: new Set<string>(), consumer: new Set<string>() };
  const revocation = new RevokeOnRemoval(names, store, systemClock, () => {});
  return (selection) => revocation.revoke(selection);
}

/**
 * Carries out a revocation in a store that servers may be using. With documents, the request is stored before: if this
 * process ends, a server carries it out.
 */
export async function revokeInShared(
  store: Store,
  documents: DocumentStore | undefined,
  selection: GrantSelection,
): Promise<void> {
  const revoke = revokeIn(store);
  if (documents === undefined) return revoke(selection);
  const name = randomBytes(16).toString('hex');
  await revocationFile.change(documents, undefined, (entries) => entries.set(name, selection));
  await applyRevocations(documents, new Map([[name, selection]]), revoke);
}
