import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Collection } from '../../collections/declaration.ts';
import { createStoredDataCheck } from '../../collections/stored-data-check.ts';
import { replaceFile } from '../../store/files/atomic-write.ts';
import { nodeDisk } from '../../store/files/disk.ts';
import type { State } from '../../store/state/state.ts';

const fileName = 'judged.json';
/** Must be increased when the check becomes stricter. */
const version = 1;
/** The number of items from which a marker is written; fewer are checked quickly. */
const minimumForMarker = 10_000;

/**
 * Checks that all stored items conform to the declared collections. Skips the check if a previous start made it with the
 * same declarations, because items stored since then were validated against them. The check of a million items takes longer
 * than loading them.
 *
 * @throws StoredDataError for an item that does not conform
 */
export async function checkStoredData(
  directory: string,
  state: State,
  collections: readonly Collection[],
): Promise<void> {
  const marker = markerOf(collections);
  const path = join(directory, fileName);
  const previous = await readFile(path, 'utf8').catch(() => undefined);
  if (previous === marker) return;
  // Removed before anything is stored under other declarations.
  if (previous !== undefined) await clearValidationMarker(directory);
  checkAllStoredData(state, collections);
  const views = [...state.collections()];
  if (views.reduce((sum, { count }) => sum + count, 0) < minimumForMarker) return;
  await replaceFile(nodeDisk, { directory, name: fileName, content: [marker], sync: true });
}

/** Removes the marker, so that the next start checks all items. */
export async function clearValidationMarker(directory: string): Promise<void> {
  await rm(join(directory, fileName), { force: true });
  await nodeDisk.syncDirectory(directory);
}

/** Checks every item. Throws StoredDataError for one that does not conform to its declaration. */
export function checkAllStoredData(state: State, collections: readonly Collection[]): void {
  const checkEntry = createStoredDataCheck(collections);
  for (const { path, entries } of state.collections()) for (const entry of entries) checkEntry(path, entry);
}

/** Returns the marker for these declarations: a digest of them. */
function markerOf(collections: readonly Collection[]): string {
  const forms = collections.map(({ path, form }) => [path, form]);
  forms.sort(([one = ''], [other = '']) => (one < other ? -1 : 1));
  const declarations = createHash('sha256').update(JSON.stringify(forms)).digest('hex');
  return `${JSON.stringify({ version, declarations })}\n`;
}
