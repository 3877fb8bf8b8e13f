import type { Clock } from '../../clock.ts';
import type { Collection } from '../../collections/declaration.ts';
import { decodeSeeds, type Seed } from '../../collections/seed.ts';
import type { MemorySnapshot, MemoryStore } from '../../store/memory.ts';
import type { Snapshottable } from './snapshot.ts';

/** The items of a double, and all other records in its store: tokens and grants. */
export interface Items extends Snapshottable<MemorySnapshot> {
  /** Adds items: all, or none if one is invalid. Throws DeclarationError that names the invalid item and field. */
  seed(seed: Seed): void;
}

/** Creates the items of a double from its initial seed. Throws DeclarationError if an item is invalid. */
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
