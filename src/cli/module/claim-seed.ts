import { createHash } from 'node:crypto';
import type { Seed } from '../../collections/seed.ts';
import type { DocumentStore } from '../../store/documents.ts';

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
