import type { Clock } from '../clock.ts';
import { didYouMean } from '../did-you-mean.ts';
import { createRouter } from '../pipeline/router.ts';
import { DeclarationError, readDeclared } from '../schema/error.ts';
import { describeKind } from '../shape/fault.ts';
import { anything, described, listOf, mapOf } from '../shape/shape.ts';
import { UniqueKeys } from '../store/state/unique-keys.ts';
import type { Store, StoredRecord, UniqueRules } from '../store/store.ts';
import { formatConflict } from './conflict.ts';
import { type Collection, decodeSeed } from './declaration.ts';

/** Initial items by collection path, such as `/users/ann/notes` for the template `/users/{name}/notes`. */
export type Seed = Readonly<Record<string, readonly unknown[]>>;

/** Describes a seed. Its items are read by the fields of their collection. */
export const seedShape = mapOf(
  listOf(described(() => ({ type: 'object' }))),
  'initial items by the path of a collection',
  { names: { pattern: '^/' } },
);

/**
 * Adds the seed to all collections that have never had an item. Decodes all items before it stores the first.
 * @throws {DeclarationError} for an item that violates a rule, or a path without a collection
 */
export async function loadSeed(
  store: Store,
  collections: readonly Collection[],
  seed: Seed,
  clock: Clock,
): Promise<void> {
  if (Object.keys(seed).length === 0) return;
  for (const { path, values, unique } of decodeSeeds(collections, seed)) {
    const { revision } = await store.list(path, 0, 1);
    if (revision > 0) continue;
    for (const value of values)
      await store.apply({ kind: 'create', collection: path, value, at: clock.now(), unique });
  }
}

/** The decoded items of a collection. */
interface DecodedSeed {
  readonly path: string;
  readonly values: readonly StoredRecord[];
  readonly unique: UniqueRules | undefined;
}

/**
 * Decodes the items of a seed.
 * @throws {DeclarationError} for an item that violates a rule, or a path without a collection
 */
export function decodeSeeds(collections: readonly Collection[], seed: Seed): DecodedSeed[] {
  const collectionAt = collectionFinder(collections);
  return Object.entries(readDeclared(mapOf(anything), seed, 'seed')).map(([path, items]) => {
    const collection = collectionAt(path);
    if (collection === undefined || path.includes('{')) {
      const others = collections.map(({ path }) => path).filter((other) => other !== path);
      const message = `is not the path of a collection${didYouMean(path, others)}`;
      throw new DeclarationError('seed', `seed.${path}`, message);
    }
    if (!Array.isArray(items))
      throw new DeclarationError(
        'seed',
        `seed.${path}`,
        `must be an array of items, is ${describeKind(items)}`,
      );
    const values = items.map((item, at) => decodeSeed(collection, item, `seed.${path}[${at}]`));
    const { unique } = collection;
    if (unique !== undefined) checkUnique(unique, values, path);
    return { path, values, unique };
  });
}

function checkUnique(rules: UniqueRules, values: readonly StoredRecord[], path: string): void {
  const keys = new UniqueKeys(rules);
  for (const [at, value] of values.entries()) {
    const conflict = keys.findConflict(value);
    keys.add({ id: `seed.${path}[${at}]`, value });
    if (conflict === undefined) continue;
    const position = `seed.${path}[${at}].${conflict.fields[0]}`;
    throw new DeclarationError('seed', position, `${conflict.id} ${formatConflict(conflict)}`);
  }
}

/**
 * Returns a function that finds the collection of a path: `/users/ann/notes` matches `/users/{name}/notes`.
 */
export function collectionFinder(
  collections: readonly Collection[],
): (path: string) => Collection | undefined {
  const router = createRouter(collections.map(({ path }) => ({ template: path, resource: {} })));
  const byTemplate = new Map(collections.map((collection) => [collection.path, collection]));
  return (path) => {
    const template = router.find(parseSegments(path))?.template;
    return template === undefined ? undefined : byTemplate.get(template);
  };
}

/** Returns the decoded segments of a path; none, which matches no template, if the path is malformed. */
function parseSegments(path: string): readonly string[] {
  if (!path.startsWith('/')) return [];
  try {
    return path.slice(1).split('/').map(decodeURIComponent);
  } catch {
    return [];
  }
}
