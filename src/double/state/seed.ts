import type { Clock } from '../../clock.ts';
import type { Collection } from '../../collections/declaration.ts';
import { decodeSeeds, type Seed } from '../../collections/seed.ts';
import type { MemorySnapshot, MemoryStore } from '../../store/memory.ts';
import type { Snapshottable } from './snapshot.ts';

/** The items of a double, and everything else that its store keeps: tokens and grants. */
export interface Items extends Snapshottable<MemorySnapshot> {
  /** Adds items to those that are there, all or none. Throws DeclarationError naming the item and the field that breaks a rule. */
  seed(seed: Seed): void;
}

/** Makes the items of a double, to begin with those of `seed`. Throws DeclarationError. */
export function createItems(
  store: MemoryStore,
  collections: () => readonly Collection[],
  clock: Clock,
  seed: Seed,
): Items {
  const plant = (more: Seed): void => {
    for (const [path, values] of decodeSeeds(collections(), more)) {
      for (const value of values)
        store.applyNow({ kind: 'create', collection: path, value, at: clock.now() });
    }
  };
  if (Object.keys(seed).length > 0) plant(seed);
  const begun = store.snapshot();
  return {
    seed: plant,
    snapshot: () => store.snapshot(),
    restore: (snapshot) => store.restore(snapshot),
    reset: () => store.restore(begun),
  };
}
