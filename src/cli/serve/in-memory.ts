import type { Options } from '../../options/options.ts';
import { createMemoryStore } from '../../store/memory.ts';
import { noAccountFiles } from '../accounts/account-files.ts';
import type { DataDirectory } from './data-directory.ts';
import { newStoreId } from './store-id.ts';

/** Returns an empty store in memory, without accounts. */
export function createMemoryData({ data }: Pick<Options, 'data'>): DataDirectory {
  const memory = createMemoryStore({ storeId: newStoreId() });
  return {
    store: memory,
    memory,
    place: data,
    health: () => undefined,
    journalBytes: () => undefined,
    nonces: undefined,
    areNoncesStored: false,
    accountFiles: noAccountFiles,
    masterKey: undefined,
    isNew: true,
    undeclared: undefined,
    plaintextPaths: [],
    storeUser: async () => undefined,
    async storeMasterKey() {},
    openSigningKeys: async () => undefined,
    async applyRevocations() {},
    watch() {},
    undo() {},
    async close() {},
  };
}
