import type { Clock } from '../../clock.ts';
import type { Collection } from '../../collections/declaration.ts';
import { createSeedChanges, decodeSeeds, requireSeeded, type Seed } from '../../collections/seed.ts';
import type { MemorySnapshot, MemoryStore } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';

/** The items of a double in memory, and all other records in its store: tokens and grants. */
export type Items = ReturnType<typeof createItems>;

/**
 * Adds items to a store that is not in memory: all, or none if one is invalid; those before one whose unique values another item has, or which refers to
 * a missing one.
 * Rejects with DeclarationError.
 */
export async function addItems(
  store: Store,
  collections: readonly Collection[],
  clock: Clock,
  seed: Seed,
): Promise<void> {
  for (const seeded of decodeSeeds(collections, seed))
    for (const change of createSeedChanges(seeded, clock)) requireSeeded(await store.apply(change), change);
}

/** Creates the items of a double in memory from its initial seed. Throws DeclarationError if an item is invalid. */
export function createItems(
  store: MemoryStore,
  collections: () => readonly Collection[],
  clock: Clock,
  seed: Seed,
) {
  /** Adds items: all, or none if one is invalid. Throws DeclarationError that names the invalid item and field. */
  const load = (seeded: Seed): void => {
    const decoded = decodeSeeds(collections(), seeded);
    const mayFail = decoded.some(
      ({ unique, references }) => unique !== undefined || references !== undefined,
    );
    const before = mayFail ? store.snapshot() : undefined;
    try {
      for (const seeded of decoded)
        for (const change of createSeedChanges(seeded, clock)) requireSeeded(store.applyNow(change), change);
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
    restore: (snapshot: MemorySnapshot) => store.restore(snapshot),
    reset: () => store.restore(initial),
  };
}
