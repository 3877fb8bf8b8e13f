import type { Clock } from '../clock.ts';
import { didYouMean } from '../did-you-mean.ts';
import { createRouter } from '../pipeline/router.ts';
import { describeKind } from '../shape/fault.ts';
import { anything, described, listOf, mapOf } from '../shape/shape.ts';
import { selectRules } from '../store/state/references.ts';
import { counterNumber } from '../store/state/reserved-ids.ts';
import { UniqueKeys } from '../store/state/unique-keys.ts';
import type {
  Creation,
  ReferenceRules,
  Store,
  StoredRecord,
  StoreResult,
  UniqueRules,
} from '../store/store.ts';
import { formatConflict } from './conflict.ts';
import { type Collection, decodeSeed } from './declaration.ts';
import { DeclarationError, readDeclared } from './fields/error.ts';
import { readMember } from './fields/record.ts';
import { formatHref } from './lists/page-links.ts';
import { describeMissing, listReferences } from './reference-fields.ts';
import { compileReferences } from './references.ts';

/** Initial items by collection path, such as `/users/ann/notes` for the template `/users/{name}/notes`. */
export type Seed = Readonly<Record<string, readonly unknown[]>>;

/** Describes a seed. Its items are read by the fields of their collection. */
export const seedShape = mapOf(
  listOf(described(() => ({ type: 'object' }))),
  'initial items by the path of a collection',
  { names: { pattern: '^/' } },
);

/**
 * Adds the seed to all collections that have never had an item. Decodes all items, and finds those to which they refer, before it
 * stores the first.
 * @throws {DeclarationError} for an item that violates a rule, or a path without a collection
 */
export async function loadSeed(
  store: Store,
  collections: readonly Collection[],
  seed: Seed,
  clock: Clock,
): Promise<void> {
  if (Object.keys(seed).length === 0) return;
  const fresh: DecodedSeed[] = [];
  for (const seeded of decodeSeeds(collections, seed)) {
    const { revision } = await store.list(seeded.path, 0, 1);
    if (revision === 0) fresh.push(seeded);
  }
  await checkSeedReferences(fresh, store);
  for (const seeded of fresh)
    for (const change of createSeedChanges(seeded, clock)) requireSeeded(await store.apply(change), change);
}

/** The decoded items of a collection. */
interface DecodedSeed {
  readonly path: string;
  readonly values: readonly StoredRecord[];
  readonly unique: UniqueRules | undefined;
  /** The references between all collections, if its items have any. */
  readonly references: ReferenceRules | undefined;
}

/** Returns the changes that add the items of a collection. */
export function createSeedChanges(
  { path, values, unique, references }: DecodedSeed,
  clock: Clock,
): Creation[] {
  return values.map((value) => ({
    kind: 'create',
    collection: path,
    value,
    at: clock.now(),
    unique,
    references,
  }));
}

/** Throws DeclarationError if an item was not added, because another one has its unique values or one to which it refers is missing. */
export function requireSeeded(result: StoreResult, { collection: path }: Creation): void {
  if (result.applied) return;
  const { conflict, missing } = result;
  if (conflict !== undefined)
    throw new DeclarationError(
      'seed',
      `seed.${path}`,
      `${formatHref(path, conflict.id)} ${formatConflict(conflict)}`,
    );
  if (missing !== undefined)
    throw new DeclarationError(
      'seed',
      `seed.${path}.${missing.field}`,
      describeMissing(missing.collection, missing.id),
    );
}

/** Throws DeclarationError for an item of new collections that refers to one which neither the store nor an earlier item of the seed is. */
async function checkSeedReferences(fresh: readonly DecodedSeed[], store: Store): Promise<void> {
  const added = new Map<string, number>();
  for (const { path, values, references } of fresh) {
    const rules = selectRules(references ?? [], path);
    for (const [at, value] of values.entries()) {
      for (const { field, to } of rules) {
        const id = readMember(value, field);
        if (typeof id !== 'string') continue;
        const number = counterNumber(id) ?? Number.NaN;
        if (number <= (added.get(to) ?? 0) || (await store.read(to, id)) !== undefined) continue;
        throw new DeclarationError('seed', `seed.${path}[${at}].${field}`, describeMissing(to, id));
      }
      added.set(path, at + 1);
    }
  }
}

/**
 * Decodes the items of a seed. Those to which others refer are first.
 * @throws {DeclarationError} for an item that violates a rule, or a path without a collection
 */
export function decodeSeeds(collections: readonly Collection[], seed: Seed): DecodedSeed[] {
  const collectionAt = collectionFinder(collections);
  const rules = compileReferences(collections)?.rules;
  const decoded = Object.entries(readDeclared(mapOf(anything), seed, 'seed')).map(([path, items]) => {
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
    const references = listReferences(collection.shape).length > 0 ? rules : undefined;
    return { path, values, unique, references };
  });
  return rules === undefined ? decoded : orderByReferences(decoded);
}

/** Returns the collections so that those to which others refer are first. Of those that refer to each other, any is. */
function orderByReferences(seeds: readonly DecodedSeed[]): DecodedSeed[] {
  const left = new Map(seeds.map((seed) => [seed.path, seed]));
  const ordered: DecodedSeed[] = [];
  const place = (seed: DecodedSeed): void => {
    if (!left.delete(seed.path)) return;
    for (const { to } of selectRules(seed.references ?? [], seed.path)) {
      const target = left.get(to);
      if (target !== undefined) place(target);
    }
    ordered.push(seed);
  };
  for (const seed of seeds) place(seed);
  return ordered;
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
