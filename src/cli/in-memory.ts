import { createMemoryStore } from '../store/memory.ts';
import type { Keeping } from './keeping.ts';
import { newLineage } from './lineage.ts';
import { noRosters } from './no-rosters.ts';

/** Keeps nothing beyond the process. */
export function inMemory(): Keeping {
  return {
    store: createMemoryStore({ lineage: newLineage() }),
    health: () => undefined,
    nonces: undefined,
    rosters: noRosters,
    masterKey: undefined,
    fresh: true,
    clear: [],
    keepUser: async () => undefined,
    async keepMasterKey() {},
    watch() {},
    undo() {},
    async close() {},
  };
}
