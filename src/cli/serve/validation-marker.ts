import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Collection } from '../../collections/declaration.ts';
import { createStoredDataCheck } from '../../collections/stored-data-check.ts';
import { replaceFile } from '../../store/files/atomic-write.ts';
import { nodeDisk } from '../../store/files/disk.ts';
import type { State } from '../../store/state/state.ts';

const fileName = 'judged.json';
/** Goes up when the judge becomes stricter. */
const version = 1;
/** Fewer items are judged in no time. */
const worthRemembering = 10_000;

/**
 * Looks whether all that was kept fits its declaration, unless the last start looked at it with the same declarations:
 * what was kept since fits them as well, for it came through them. To look at a million items takes longer than to load
 * them. Throws StoredDataError for an item that does not fit.
 */
export async function checkStoredData(
  directory: string,
  state: State,
  collections: readonly Collection[],
): Promise<void> {
  const mark = markOf(collections);
  const path = join(directory, fileName);
  const before = await readFile(path, 'utf8').catch(() => undefined);
  if (before === mark) return;
  // Gone before anything is kept under other declarations.
  if (before !== undefined) await clearValidationMarker(directory);
  checkAllStoredData(state, collections);
  const views = [...state.collections()];
  if (views.reduce((sum, { count }) => sum + count, 0) < worthRemembering) return;
  await replaceFile(nodeDisk, { directory, name: fileName, content: [mark], sync: true });
}

/** Lets the next start look at all items again. */
export async function clearValidationMarker(directory: string): Promise<void> {
  await rm(join(directory, fileName), { force: true });
  await nodeDisk.syncDirectory(directory);
}

/** Looks at every item. Throws StoredDataError for one that does not fit its declaration. */
export function checkAllStoredData(state: State, collections: readonly Collection[]): void {
  const judge = createStoredDataCheck(collections);
  for (const { path, entries } of state.collections()) for (const entry of entries) judge(path, entry);
}

/** Tells these declarations from others. */
function markOf(collections: readonly Collection[]): string {
  const forms = collections.map(({ path, form }) => [path, form]);
  forms.sort(([one = ''], [other = '']) => (one < other ? -1 : 1));
  const declarations = createHash('sha256').update(JSON.stringify(forms)).digest('hex');
  return `${JSON.stringify({ version, declarations })}\n`;
}
