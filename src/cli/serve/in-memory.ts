import { createMemoryStore } from '../../store/memory.ts';
import { noAccountFiles } from '../accounts/no-account-files.ts';
import type { DataDirectory } from './data-directory.ts';
import { newStoreId } from './store-id.ts';

/** Keeps nothing beyond the process. */
export function inMemoryData(): DataDirectory {
  return {
    store: createMemoryStore({ storeId: newStoreId() }),
    health: () => undefined,
    nonces: undefined,
    rosters: noAccountFiles,
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
