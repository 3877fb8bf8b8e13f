import type { SecretBox } from '../../accounts/secret-box.ts';
import { replaceSigningKey, type StoredSigningKey, signingKeyFile } from '../../accounts/signing-keys.ts';
import type { AccountPlace } from '../../accounts/stored-file.ts';
import { systemClock } from '../../clock.ts';
import {
  generateSigningKey,
  parseSigningKey,
  type SigningKeyDeclaration,
} from '../../oauth/oauth2/signing-keys.ts';
import { type SigningAlgorithm, signingAlgorithms } from '../../schemes/jwt/algorithms.ts';

/** The stored keys by id, and the version of their file. */
export interface StoredSigningKeys {
  readonly entries: ReadonlyMap<string, StoredSigningKey>;
  readonly mark: string | undefined;
}

/**
 * Returns the stored keys. Generates one of this algorithm unless there is one that signs: of several processes that start at once, all
 * use the key of the first. Encrypts unencrypted keys if there is a key for that.
 */
export async function openSigningKeys(
  place: AccountPlace,
  secretBox: SecretBox | undefined,
  algorithm: SigningAlgorithm,
): Promise<StoredSigningKeys> {
  const stored = await signingKeyFile.read(place, { secretBox });
  const isComplete =
    findSigning(stored.entries, algorithm) && (secretBox === undefined || stored.clear === 0);
  if (isComplete) return stored;
  await signingKeyFile.change(place, secretBox, (entries) => {
    if (!findSigning(entries, algorithm)) addSigningKey(entries, algorithm);
  });
  return signingKeyFile.read(place, { secretBox });
}

function findSigning(entries: StoredSigningKeys['entries'], algorithm: SigningAlgorithm): boolean {
  return [...entries.values()].some((key) => key.algorithm === algorithm && key.replaced === undefined);
}

/** Generates a key, which signs from now on. Returns its id. */
export function addSigningKey(entries: Map<string, StoredSigningKey>, algorithm: SigningAlgorithm): string {
  const key = generateSigningKey(algorithm);
  const { kid } = parseSigningKey(key);
  const { privateKey } = key;
  replaceSigningKey(entries, kid, { algorithm, privateKey, since: systemClock.now() });
  return kid;
}

/** Returns the keys as the service needs them, the newest one first. */
export function listSigningKeys(entries: StoredSigningKeys['entries']): readonly SigningKeyDeclaration[] {
  return [...entries.values()].toReversed().flatMap(({ algorithm: name, privateKey, replaced }) => {
    const algorithm = signingAlgorithms.find((each) => each === name);
    return algorithm === undefined ? [] : [{ algorithm, privateKey, replaced }];
  });
}
