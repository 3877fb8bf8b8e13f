import type { Clock } from '../clock.ts';
import { didYouMean } from '../did-you-mean.ts';
import { createRouter } from '../pipeline/router.ts';
import { DeclarationError } from '../schema/error.ts';
import type { RecordValue, Store } from '../store/store.ts';
import { type Collection, decodeSeed } from './declaration.ts';

/** Items to begin with, by the path of their collection: of `/users/ann/notes` where the template is `/users/{name}/notes`. */
export type Seed = Readonly<Record<string, readonly unknown[]>>;

/**
 * Puts the seed's items into those collections in which nothing ever was. All are decoded before the first is kept.
 * Throws DeclarationError naming the item and field that breaks a rule, or the path that is no collection's.
 */
export async function loadSeed(
  store: Store,
  collections: readonly Collection[],
  seed: Seed,
  clock: Clock,
): Promise<void> {
  if (Object.keys(seed).length === 0) return;
  for (const [path, values] of decodeSeeds(collections, seed)) {
    const { revision } = await store.list(path, 0, 1);
    if (revision > 0) continue;
    for (const value of values)
      await store.apply({ kind: 'create', collection: path, value, at: clock.now() });
  }
}

/** The seed's items as their collections keep them, by path. Throws DeclarationError. */
export function decodeSeeds(
  collections: readonly Collection[],
  seed: Seed,
): [path: string, values: RecordValue[]][] {
  const collectionAt = collectionFinder(collections);
  return Object.entries(seed).map(([path, items]) => {
    const collection = collectionAt(path);
    if (collection === undefined || path.includes('{')) {
      const others = collections.map(({ path }) => path).filter((other) => other !== path);
      const fault = `is the path of no collection${didYouMean(path, others)}`;
      throw new DeclarationError('seed', `seed.${path}`, fault);
    }
    return [path, items.map((item, at) => decodeSeed(collection, item, `seed.${path}[${at}]`))];
  });
}

/** Finds the collection that a path belongs to: `/users/ann/notes` to the one with the template `/users/{name}/notes`. */
export function collectionFinder(
  collections: readonly Collection[],
): (path: string) => Collection | undefined {
  const router = createRouter(collections.map(({ path }) => ({ template: path, resource: {} })));
  const byTemplate = new Map(collections.map((collection) => [collection.path, collection]));
  return (path) => {
    const template = router.find(segmentsOf(path))?.template;
    return template === undefined ? undefined : byTemplate.get(template);
  };
}

/** The segments, decoded; none, which no template has, where a percent sign is no escape or no slash begins the path. */
function segmentsOf(path: string): readonly string[] {
  if (!path.startsWith('/')) return [];
  try {
    return path.slice(1).split('/').map(decodeURIComponent);
  } catch {
    return [];
  }
}
