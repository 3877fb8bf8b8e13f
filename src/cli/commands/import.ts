import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../clock.ts';
import { idFault } from '../../collections/item.ts';
import { collectionFinder } from '../../collections/seed.ts';
import { createStoredDataCheck, StoredDataError } from '../../collections/stored-data-check.ts';
import { grantsCollection, tokensCollection } from '../../oauth/records.ts';
import { readArguments } from '../../options/flags.ts';
import type { Options } from '../../options/options.ts';
import { removeLeftovers } from '../../store/files/atomic-write.ts';
import { prepareDirectory } from '../../store/files/directory.ts';
import { errorCode, nodeDisk } from '../../store/files/disk.ts';
import { holderOf, lockDirectory } from '../../store/files/lock.ts';
import { readJournal } from '../../store/journal/reader.ts';
import { writeNewFiles } from '../../store/recovery/new-files.ts';
import { journalGeneration, journalName, previousName, snapshotName } from '../../store/recovery/recovery.ts';
import { ExportReader, type ExportReading, type Imported } from '../../store/snapshot/export-reader.ts';
import type { State } from '../../store/state/state.ts';
import { locationOf, printLines } from '../accounts/command.ts';
import { actAsOwnerOf } from '../accounts/ownership.ts';
import { CommandError, reportError } from '../errors.ts';
import { newStoreId } from '../serve/store-id.ts';
import { clearValidationMarker } from '../serve/validation-marker.ts';
import type { Terminal } from '../terminal.ts';

const flags = new Map([
  ['--data', 'value'],
  ['--config', 'value'],
  ['--input', 'value'],
] as const);

const firstJournal = journalName(1);
const newline = 0x0a;

/** Runs `countersign import`: reads an export into a data directory that has no items. Returns the exit status. */
export async function importItems(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  try {
    const { flags: given, words, faults } = readArguments(argv, flags);
    if (faults.length > 0) throw new CommandError(faults);
    if (words.length > 0) throw new CommandError(['import takes options only']);
    const { options } = locationOf(given, environment);
    const { data } = options;
    actAsOwnerOf(data);
    if (existsSync(data)) await refuseInUse(data);
    const imported = await readExport(String(given.get('--input') ?? '-'), options, terminal);
    await keep(data, imported);
    printLines(outcomeOf(imported, options), terminal.stderr);
    return 0;
  } catch (error) {
    return reportError(error, terminal);
  }
}

/** Reads and validates all of an export. Throws CorruptionError, or Refusal if there is no such file. */
async function readExport(input: string, options: Options, { stdin }: Terminal): Promise<Imported> {
  const file = input === '-' ? 'standard input' : input;
  const reading = { file, now: systemClock.now(), faultOf: itemFaults(options) };
  const reader = new ExportReader(reading);
  try {
    await readAll(reader, input === '-' ? stdin : createReadStream(input));
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined || !/^E[A-Z]+$/.test(code)) throw error;
    throw new CommandError([`${file} cannot be read (${code})`], 1);
  }
  return reader.result();
}

async function readAll(reader: ExportReader, chunks: AsyncIterable<string | Uint8Array>): Promise<void> {
  let pending: Uint8Array[] = [];
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk);
    pending.push(bytes);
    if (!bytes.includes(newline)) continue;
    const whole = Buffer.concat(pending);
    pending = [whole.subarray(reader.take(whole, false))];
  }
  reader.take(Buffer.concat(pending), true);
}

/** Returns a function that returns why an item cannot be imported: no client could address it, or read it. */
function itemFaults({ collections }: Options): ExportReading['faultOf'] {
  const judge = createStoredDataCheck(collections);
  return (path, entry) => {
    const fault = entry.id === '' ? 'is empty' : idFault(entry.id);
    if (fault !== undefined) return `its id ${fault}`;
    try {
      judge(path, entry);
      return undefined;
    } catch (error) {
      if (error instanceof StoredDataError) return error.message;
      throw error;
    }
  };
}

/** Writes the files of the store, which is there once all of it is on the medium. Throws Refusal, LockedError or StoreError. */
async function keep(directory: string, { storeId = newStoreId(), state }: Imported): Promise<void> {
  await prepareDirectory(directory);
  const lock = await lockDirectory(directory);
  try {
    await refuseItems(directory);
    for (const name of [firstJournal, snapshotName])
      await removeLeftovers(nodeDisk, directory, name, () => true);
    await clearValidationMarker(directory);
    await writeStore(directory, storeId, state);
  } finally {
    await lock.release();
  }
}

async function writeStore(directory: string, lineage: string, state: State): Promise<void> {
  const beginning = { directory, lineage, generation: 1, sequence: 0, state, now: systemClock.now() };
  try {
    await writeNewFiles(nodeDisk, beginning);
  } catch (error) {
    // Without a snapshot the journal, which has no changes, would prevent a start.
    if (!existsSync(join(directory, snapshotName)))
      await nodeDisk.unlink(join(directory, firstJournal)).catch(() => {});
    throw error;
  }
}

/** Throws Refusal if a process has the directory, or if it has items. */
async function refuseInUse(directory: string): Promise<void> {
  const holder = await holderOf(directory);
  if (holder !== undefined)
    throw new CommandError([`${directory} is in use by process ${holder.pid}; stop it first`], 1);
  await refuseItems(directory);
}

/** Throws Refusal unless a directory has no store, or one without changes: a first start, or an interrupted import, leaves that. */
async function refuseItems(directory: string): Promise<void> {
  const names = await nodeDisk.list(directory);
  const hasOthers = names.some(
    (name) =>
      name === snapshotName ||
      name === previousName ||
      (name !== firstJournal && journalGeneration(name) !== undefined),
  );
  const content = await readJournal(nodeDisk, join(directory, firstJournal), () => {});
  const isUnused = content === undefined || (content.changes === 0 && content.broken === undefined);
  if (hasOthers || !isUnused)
    throw new CommandError([`${directory} has items; import into a data directory that has none`], 1);
}

function outcomeOf({ state, storeId }: Imported, { collections }: Options): string[] {
  const views = [...state.collections()];
  const collectionAt = collectionFinder(collections);
  const unknown = views.filter(
    ({ path, count }) =>
      count > 0 &&
      path !== tokensCollection &&
      path !== grantsCollection &&
      (path.includes('{') || collectionAt(path) === undefined),
  );
  const items = views.reduce((sum, { count }) => sum + count, 0);
  return [
    ...unknown.map(
      ({ path }) => `${path} is the path of no declared collection, so its items are not served`,
    ),
    ...(storeId === undefined ? ['the export has no storeId: all entity tags are new'] : []),
    `imported ${items} items`,
  ];
}
