import { type Collection, defaultCollections, readCollection } from '../collections/declaration.ts';
import { decodeSeeds, type Seed } from '../collections/seed.ts';
import { DeclarationError } from '../schema/error.ts';
import type { ConfigurationFile } from './file.ts';
import { printable } from './flags.ts';

/** The collections that are served, and the items they begin with. */
export interface Declarations {
  readonly collections: readonly Collection[];
  readonly seed: Seed;
}

/** The collections and seeds of a file, or the default collections. What is wrong is added to `faults`. */
export function readDeclarations(file: ConfigurationFile, path: string, faults: string[]): Declarations {
  const before = faults.length;
  const attempt = <T>(make: () => T): T[] => {
    try {
      return [make()];
    } catch (error) {
      faults.push(`${path}: ${faultOf(error)}`);
      return [];
    }
  };
  const collections =
    file.collections === undefined
      ? defaultCollections()
      : [...file.collections].flatMap(([template, source]) =>
          attempt(() => readCollection(template, source)),
        );
  const seed = seedOf(file, path, faults);
  // Collections are judged together once each is right by itself, and seeds once all collections are.
  if (faults.length === before && file.collections !== undefined) attempt(() => decodeSeeds(collections, {}));
  if (faults.length === before) {
    for (const [each, items] of Object.entries(seed)) {
      attempt(() => decodeSeeds(collections, Object.fromEntries([[each, items]])));
    }
  }
  return { collections: Object.freeze([...collections]), seed: Object.freeze(seed) };
}

function seedOf(file: ConfigurationFile, path: string, faults: string[]): Seed {
  const lists: [string, readonly unknown[]][] = [];
  for (const [each, items] of file.seed ?? []) {
    if (Array.isArray(items)) lists.push([each, items]);
    else faults.push(`${path}: seed.${printable(each)} is not a list of items`);
  }
  return Object.fromEntries(lists);
}

/** What a declaration, a path template or a path says about itself; anything else is a fault in here. */
function faultOf(error: unknown): string {
  if (error instanceof DeclarationError || error instanceof RangeError) return error.message;
  throw error;
}
