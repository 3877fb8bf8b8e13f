import { writeTransferredFiles } from '../../accounts/transferred-files.ts';
import { systemClock } from '../../clock.ts';
import type { Imported } from '../../store/export.ts';
import { endOfLost } from '../../store/nonces/time.ts';
import type { Store, TransferPart } from '../../store/store.ts';
import { isTransferable, type Transferable } from '../../store/transfer.ts';
import { CommandError } from '../errors.ts';
import type { LoadedModule } from './load-module.ts';

/** Returns the store of a module as the destination of an import. Throws CommandError if nothing can be imported into it. */
export function openSharedTarget({ file, options }: LoadedModule, store: Store) {
  if (!isTransferable(store))
    throw new CommandError([`nothing can be imported into the store of ${file}: it has no importState`], 1);
  const { documents } = store;
  const checkEmpty = (isEmpty: boolean): void => {
    if (!isEmpty)
      throw new CommandError([`the store of ${file} has items; import requires a store without items`], 1);
  };
  return {
    place: documents,
    check: async () => checkEmpty(await hasNoCollections(store)),
    async write({ storeId, state, documents: files }: Imported) {
      // Before the items: if this is interrupted, it can be repeated.
      if (documents !== undefined) await writeTransferredFiles(documents, files);
      // A clock of a client may be ahead by one window, and its nonce is then valid for another one.
      const now = systemClock.now();
      const noncesUntil = endOfLost(now, options.nonceWindow) - 1;
      checkEmpty(await store.importState(asynchronous(state.records(storeId, now)), noncesUntil));
    },
  };
}

async function hasNoCollections(store: Transferable): Promise<boolean> {
  for await (const { kind } of store.exportState()) if (kind !== 'store') return false;
  return true;
}

async function* asynchronous(parts: Iterable<TransferPart>): AsyncGenerator<TransferPart> {
  yield* parts;
}
