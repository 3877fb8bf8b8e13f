import { createHash, randomBytes } from 'node:crypto';
import { deriveMasterKey, openSharedMasterKey } from '../../accounts/master-key.ts';
import { revocationFile } from '../../accounts/revocations.ts';
import type { SecretBox } from '../../accounts/secret-box.ts';
import type { AccountFileWatcher } from '../../accounts/watcher.ts';
import { systemClock } from '../../clock.ts';
import type { Seed } from '../../collections/seed.ts';
import type { Options } from '../../options/options.ts';
import type { DocumentStore } from '../../store/documents.ts';
import { bucketSpanFor, createNonces } from '../../store/nonces/nonces.ts';
import type { Store } from '../../store/store.ts';
import {
  encryptAccountFiles,
  noAccountFiles,
  plaintextPaths,
  readAccountFiles,
  watchAccountFiles,
} from '../accounts/account-files.ts';
import { applyRevocations } from '../accounts/revocation.ts';
import type { DataDirectory } from '../serve/data-directory.ts';
import type { LoadedModule } from './load-module.ts';

/**
 * Returns the data of a server with the store of a module. Encrypts unencrypted secrets in its documents if there is a key.
 * Passes a line to `report` for each such document, and for each part that the store does not have.
 */
export async function openModuleData(
  module: LoadedModule,
  store: Store,
  secretBox: SecretBox | undefined,
  report: (line: string) => void,
): Promise<DataDirectory> {
  try {
    return await moduleData(module, store, secretBox, report);
  } catch (error) {
    await store.close().catch(() => {}); // the first error is reported
    throw error;
  }
}

async function moduleData(
  module: LoadedModule,
  store: Store,
  secretBox: SecretBox | undefined,
  report: (line: string) => void,
): Promise<DataDirectory> {
  const { file, options } = module;
  const { documents } = store;
  const accountFiles =
    documents === undefined
      ? noAccountFiles
      : await encryptAccountFiles(documents, secretBox, await readAccountFiles(documents, secretBox), report);
  const nonces = module.nonces ?? store.nonces;
  if (nonces === undefined)
    report(
      `the store of ${file} has no nonces: they are lost when this process ends, and each process has its own`,
    );
  if (documents === undefined && secretBox === undefined && options.consumers.size > 0)
    report(
      `the store of ${file} has no documents: tokens of OAuth 1.0a are valid in this process only, unless there is a key`,
    );
  let watching: Promise<readonly AccountFileWatcher[]> | undefined;
  return {
    store,
    memory: undefined,
    place: documents ?? options.data,
    health: () => undefined,
    journalBytes: () => undefined,
    nonces: nonces ?? memoryNonces(options),
    areNoncesStored: nonces !== undefined,
    accountFiles,
    masterKey:
      documents === undefined
        ? secretBox === undefined
          ? randomBytes(32)
          : deriveMasterKey(secretBox)
        : await openSharedMasterKey(documents, secretBox, randomBytes),
    isNew: false,
    undeclared: undefined,
    plaintextPaths: documents === undefined ? [] : plaintextPaths(documents, accountFiles),
    storeUser: async () => undefined,
    async storeMasterKey() {},
    openSigningKeys: async (algorithm) =>
      documents &&
      (await import('../accounts/signing-keys.ts')).openSigningKeys(documents, secretBox, algorithm),
    async applyRevocations(revoke) {
      if (documents === undefined) return;
      await applyRevocations(documents, (await revocationFile.read(documents)).entries, revoke);
    },
    watch(updates, reportError) {
      if (documents === undefined) return;
      const reportSafely = (line: string): void => reportError(module.withoutPasswords(line));
      watching = watchAccountFiles(documents, secretBox, accountFiles, updates, reportSafely);
    },
    undo() {},
    async close() {
      try {
        for (const watcher of (await watching) ?? []) await watcher.close();
      } finally {
        await store.close();
      }
    },
  };
}

function memoryNonces({ nonceWindow, maxNonces, maxNoncesPerUser }: Options) {
  return createNonces({
    bucketSpan: bucketSpanFor(nonceWindow),
    max: maxNonces,
    maxPerUser: maxNoncesPerUser,
    key: randomBytes(16),
    monotonic: () => systemClock.steady(),
  });
}

/**
 * Returns the seeds that this process has to add. Several processes may start at the same time on one store: the first one claims
 * the seed of a collection with a document, and the others leave it out.
 */
export async function claimSeed(documents: DocumentStore, seed: Seed): Promise<Seed> {
  const claimed = Object.entries(seed).map(async ([path, items]): Promise<[string, readonly unknown[]][]> => {
    const name = `seed-${createHash('sha256').update(path).digest('hex').slice(0, 32)}`;
    const version = await documents.replace(name, Buffer.from(path), undefined);
    return version === undefined ? [] : [[path, items]];
  });
  return Object.fromEntries((await Promise.all(claimed)).flat());
}
