import { collectionName } from '../serve/stored-tokens.ts';
import type { DirectoryCopy } from './copy-directory.ts';

/** Returns the lines that describe a copy of a data directory: its collections and its other files. */
export function copyLines({ store, files }: DirectoryCopy): readonly string[] {
  return [
    ...Array.from(
      store.state.collections(),
      ({ path, count }) => `copied       ${collectionName(path)}: ${count}`,
    ),
    ...(files.length === 0 ? [] : [`copied       ${files.join(', ')}`]),
  ];
}
