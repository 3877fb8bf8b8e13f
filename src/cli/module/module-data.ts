import { createHash, randomBytes } from 'node:crypto';
import { deriveMasterKey, openSharedMasterKey } from '../../accounts/master-key.ts';
import type { SecretBox } from '../../accounts/secret-box.ts';
import { systemClock } from '../../clock.ts';
import type { Seed } from '../../collections/seed.ts';
import type { Options } from '../../options/options.ts';
import type { DocumentStore } from '../../store/documents.ts';
import { bucketSpanFor, createNonces } from '../../store/nonces/nonces.ts';
import type { Store } from '../../store/store.ts';
import { openAccounts, readAccountFiles } from '../accounts/account-files.ts';
import type { ServerData } from '../serve/data-directory.ts';
import type { LoadedModule } from './load-module.ts';

/**
 * Returns the data of a server with the store of a module, which is closed if that fails. Encrypts unencrypted secrets in its
 * documents if there is a key. Passes a line to `report` for each such document, and for each part that the store does not have.
 */
export async function openModuleData(
  module: LoadedModule,
  store: Store,
  secretBox: SecretBox | undefined,
  report: (line: string) => void,
): Promise<ServerData> {
  const { file, options } = module;
  const { documents } = store;
  try {
    const accounts =
      documents && (await openAccounts(documents, secretBox, readAccountFiles(documents, secretBox), report));
    const nonces = module.nonces ?? store.nonces;
    if (nonces === undefined)
      report(
        `the store of ${file} has no nonces: they are lost when this process ends, and each process has its own`,
      );
    if (documents === undefined && secretBox === undefined && options.consumers.size > 0)
      report(
        `the store of ${file} has no documents: tokens of OAuth 1.0a are valid in this process only, unless there is a key`,
      );
    return {
      store,
      place: documents ?? options.data,
      accounts,
      nonces: nonces ?? memoryNonces(options),
      areNoncesStored: nonces !== undefined,
      masterKey: await openMasterKey(documents, secretBox),
      isNew: false,
      close: async () => accounts?.close().finally(() => store.close()) ?? store.close(),
    };
  } catch (error) {
    await store.close().catch(() => {}); // the first error is reported
    throw error;
  }
}

/** Returns the key from which the token secrets of OAuth 1.0a are derived. Without documents, none is stored. */
async function openMasterKey(
  documents: DocumentStore | undefined,
  secretBox: SecretBox | undefined,
): Promise<Uint8Array> {
  if (documents !== undefined) return openSharedMasterKey(documents, secretBox, randomBytes);
  return secretBox === undefined ? randomBytes(32) : deriveMasterKey(secretBox);
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
