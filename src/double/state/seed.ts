import type { Clock } from '../../clock.ts';
import type { Collection } from '../../collections/declaration.ts';
import { decodeSeeds, type Seed } from '../../collections/seed.ts';
import type { MemorySnapshot, MemoryStore } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import type { Snapshottable } from './snapshot.ts';

/** The items of a double in memory, and all other records in its store: tokens and grants. */
export interface Items extends Snapshottable<MemorySnapshot> {
  /** Adds items: all, or none if one is invalid. Throws DeclarationError that names the invalid item and field. */
  seed(seed: Seed): void;
}

/** Adds items to a store that is not in memory: all, or none if one is invalid. Rejects with DeclarationError. */
export async function addItems(
  store: Store,
  collections: readonly Collection[],
  clock: Clock,
  seed: Seed,
): Promise<void> {
  for (const [path, items] of decodeSeeds(collections, seed)) {
    for (const value of items)
      await store.apply({ kind: 'create', collection: path, value, at: clock.now() });
  }
}

/** Creates the items of a double in memory from its initial seed. Throws DeclarationError if an item is invalid. */
export function createItems(
  store: MemoryStore,
  collections: () => readonly Collection[],
  clock: Clock,
  seed: Seed,
): Items {
  const load = (values: Seed): void => {
    for (const [path, items] of decodeSeeds(collections(), values)) {
      for (const value of items) store.applyNow({ kind: 'create', collection: path, value, at: clock.now() });
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
