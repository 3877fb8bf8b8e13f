import type { Clock } from '../../clock.ts';
import { formatConflict } from '../../collections/conflict.ts';
import { type Collection, DeclarationError } from '../../collections/declaration.ts';
import { formatHref } from '../../collections/lists/page-links.ts';
import { decodeSeeds, type Seed } from '../../collections/seed.ts';
import type { MemorySnapshot, MemoryStore } from '../../store/memory.ts';
import type { Store, StoreResult } from '../../store/store.ts';
import type { Snapshottable } from './state.ts';

/** The items of a double in memory, and all other records in its store: tokens and grants. */
export interface Items extends Snapshottable<MemorySnapshot> {
  /** Adds items: all, or none if one is invalid. Throws DeclarationError that names the invalid item and field. */
  seed(seed: Seed): void;
}

/**
 * Adds items to a store that is not in memory: all, or none if one is invalid; those before one whose unique values another item has.
 * Rejects with DeclarationError.
 */
export async function addItems(
  store: Store,
  collections: readonly Collection[],
  clock: Clock,
  seed: Seed,
): Promise<void> {
  for (const { path, values, unique } of decodeSeeds(collections, seed)) {
    for (const value of values)
      requireAdded(
        path,
        await store.apply({ kind: 'create', collection: path, value, at: clock.now(), unique }),
      );
  }
}

/** Throws DeclarationError if an item was not added, because another one has its unique values. */
function requireAdded(path: string, result: StoreResult): void {
  if (result.applied || result.conflict === undefined) return;
  const other = formatHref(path, result.conflict.id);
  throw new DeclarationError('seed', `seed.${path}`, `${other} ${formatConflict(result.conflict)}`);
}

/** Creates the items of a double in memory from its initial seed. Throws DeclarationError if an item is invalid. */
export function createItems(
  store: MemoryStore,
  collections: () => readonly Collection[],
  clock: Clock,
  seed: Seed,
): Items {
  const load = (seeded: Seed): void => {
    const decoded = decodeSeeds(collections(), seeded);
    const before = decoded.some(({ unique }) => unique !== undefined) ? store.snapshot() : undefined;
    try {
      for (const { path, values, unique } of decoded)
        for (const value of values)
          requireAdded(
            path,
            store.applyNow({ kind: 'create', collection: path, value, at: clock.now(), unique }),
          );
    } catch (error) {
      if (before !== undefined) store.restore(before);
      throw error;
    }
  };
  if (Object.keys(seed).length > 0) load(seed);
  const initial = store.snapshot();
  return {
    seed: load,
    snapshot: () => store.snapshot(),
    restore: (snapshot) => store.restore(snapshot),
    reset: () => store.restore(initial),
  };
}
