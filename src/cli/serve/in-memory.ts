import { createMemoryStore } from '../../store/memory.ts';
import { noRosters } from '../accounts/no-account-files.ts';
import type { Keeping } from './data-directory.ts';
import { newLineage } from './store-id.ts';

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
