import { type Collection, defaultCollections, readCollection } from '../collections/declaration.ts';
import { decodeSeeds, type Seed } from '../collections/seed.ts';
import { DeclarationError } from '../schema/error.ts';
import type { ConfigurationFile } from './file.ts';
import { toPrintable } from './flags.ts';

/** The declared collections and their initial items. */
export interface Declarations {
  readonly collections: readonly Collection[];
  readonly seed: Seed;
}

/** Reads the collections and seeds of a configuration file, or returns the default collections. Adds errors to `faults`. */
export function readDeclarations(file: ConfigurationFile, path: string, faults: string[]): Declarations {
  const before = faults.length;
  const attempt = <T>(make: () => T): T[] => {
    try {
      return [make()];
    } catch (error) {
      faults.push(`${path}: ${formatFault(error)}`);
      return [];
    }
  };
  const collections =
    file.collections === undefined
      ? defaultCollections()
      : [...file.collections].flatMap(([template, source]) =>
          attempt(() => readCollection(template, source)),
        );
  const seed = readSeed(file, path, faults);
  // The collections are checked together only if each one is valid, and the seeds only if all collections are.
  if (faults.length === before && file.collections !== undefined) attempt(() => decodeSeeds(collections, {}));
  if (faults.length === before) {
    for (const [each, items] of Object.entries(seed)) {
      attempt(() => decodeSeeds(collections, Object.fromEntries([[each, items]])));
    }
  }
  return { collections: Object.freeze([...collections]), seed: Object.freeze(seed) };
}

function readSeed(file: ConfigurationFile, path: string, faults: string[]): Seed {
  const lists: [string, readonly unknown[]][] = [];
  for (const [each, items] of file.seed ?? []) {
    if (Array.isArray(items)) lists.push([each, items]);
    else faults.push(`${path}: seed.${toPrintable(each)} must be an array of items`);
  }
  return Object.fromEntries(lists);
}

/** Returns the message of an invalid declaration, path template or path. Rethrows any other error. */
function formatFault(error: unknown): string {
  if (error instanceof DeclarationError || error instanceof RangeError) return error.message;
  throw error;
}
