import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Collection } from '../../collections/declaration.ts';
import { collectionFinder } from '../../collections/seed.ts';
import { type Mismatches, StoredDataCheck } from '../../collections/stored-data-check.ts';
import { replaceFile } from '../../store/files/atomic-write.ts';
import { nodeDisk } from '../../store/files/disk.ts';
import type { State } from '../../store/state/state.ts';

const fileName = 'judged.json';
/** Must be increased when the check becomes stricter. */
const version = 3;
/** The number of items from which a marker is written; fewer are checked quickly. */
const minimumForMarker = 3_000;

/**
 * Compares all stored items with the declared collections. Returns undefined if they match, also without a comparison if a
 * previous start made it with the same declarations, because items stored since then were validated against them. The
 * comparison of a million items takes longer than loading them.
 *
 * @throws StoredDataError for an invalid token or grant of OAuth
 */
export async function checkStoredData(
  directory: string,
  state: State,
  collections: readonly Collection[],
): Promise<Mismatches | undefined> {
  const marker = computeMarker(collections);
  const path = join(directory, fileName);
  const previous = await readFile(path, 'utf8').catch(() => undefined);
  if (previous === marker) return undefined;
  // Removed before anything is stored under other declarations.
  if (previous !== undefined) await clearValidationMarker(directory);
  const mismatches = checkAllStoredData(state, collections);
  if (mismatches !== undefined) return mismatches;
  const views = [...state.collections()];
  if (views.reduce((sum, { count }) => sum + count, 0) < minimumForMarker) return undefined;
  await replaceFile(nodeDisk, { directory, name: fileName, content: [marker], sync: true });
  return undefined;
}

/** Removes the marker, so that the next start checks all items. */
export async function clearValidationMarker(directory: string): Promise<void> {
  await rm(join(directory, fileName), { force: true });
  await nodeDisk.syncDirectory(directory);
}

/** Compares all stored items with the declared collections. Throws StoredDataError as `checkStoredData` does. */
export function checkAllStoredData(state: State, collections: readonly Collection[]): Mismatches | undefined {
  const check = new StoredDataCheck(collectionFinder(collections));
  for (const { path, entries } of state.collections()) for (const entry of entries) check.add(path, entry);
  return check.result();
}

/** Returns the marker for these declarations: a digest of them. */
function computeMarker(collections: readonly Collection[]): string {
  const forms = collections.map(({ path, form }) => [path, form]);
  forms.sort(([one = ''], [other = '']) => (one < other ? -1 : 1));
  const declarations = createHash('sha256').update(JSON.stringify(forms)).digest('hex');
  return `${JSON.stringify({ version, declarations })}\n`;
}
