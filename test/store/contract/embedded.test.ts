import { describe, type TestContext, test } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { nonceContract } from '../../../src/store/contract/index.ts';
import type { DurableStore } from '../../../src/store/durable-store.ts';
import { createNonces, type NonceStore } from '../../../src/store/nonces/nonces.ts';
import { openDurableStore } from '../../../src/store/open-durable-store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const onWarning = (): void => {};

function memoryNonces(): NonceStore {
  const key = new Uint8Array(16);
  return createNonces({
    bucketSpan: 150_000,
    max: 10_000,
    maxPerUser: 10_000,
    key,
    monotonic: systemClock.steady,
  });
}

/** Opens stores in directories that are removed after the test. */
function openDirectories(context: TestContext) {
  const opened: DurableStore[] = [];
  // They close before their directories are removed: hooks run in the order in which they were added.
  context.after(() => Promise.all(opened.map((store) => store.close())));
  const directories = new WeakMap<object, string>();
  const stores = new WeakMap<object, DurableStore>();
  const openIn = async (directory: string): Promise<DurableStore> => {
    const store = await openDurableStore(directory, { onWarning });
    opened.push(store);
    for (const each of [store, store.nonces]) directories.set(each, directory);
    stores.set(store.nonces, store);
    return store;
  };
  return {
    open: () => openIn(temporaryDirectory(context)),
    async reopen(closed: object): Promise<DurableStore> {
      await stores.get(closed)?.close();
      return openIn(directories.get(closed) ?? '');
    },
  };
}

describe('the nonces in memory', () => {
  for (const { name, run } of nonceContract) test(name, () => run(async () => memoryNonces()));
});

describe('the nonces in a data directory', () => {
  for (const { name, run } of nonceContract) {
    test(name, (context) => {
      const { open, reopen } = openDirectories(context);
      const reopenNonces = async (closed: NonceStore): Promise<NonceStore> => (await reopen(closed)).nonces;
      return run(async () => (await open()).nonces, { reopen: reopenNonces });
    });
  }
});
