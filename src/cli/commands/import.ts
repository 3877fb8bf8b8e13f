import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AccountPlace } from '../../accounts/stored-file.ts';
import {
  checkTransferredFiles,
  findConflictingFile,
  isTransferredFile,
  type TransferredFiles,
  writeTransferredFiles,
} from '../../accounts/transferred-files.ts';
import { systemClock } from '../../clock.ts';
import { findInvalidIdReason } from '../../collections/item.ts';
import { collectionFinder } from '../../collections/seed.ts';
import { createConformityCheck, StoredDataCheck } from '../../collections/stored-data-check.ts';
import { formatCount } from '../../counted.ts';
import { grantsCollection, tokensCollection } from '../../oauth/records.ts';
import { readArguments } from '../../options/flags.ts';
import type { Options } from '../../options/options.ts';
import { ExportReader, type Imported, type ImportOptions } from '../../store/export.ts';
import { removeLeftovers } from '../../store/files/atomic-write.ts';
import { prepareDirectory, rejectIncompleteCopy } from '../../store/files/directory.ts';
import { errorCode, nodeDisk } from '../../store/files/disk.ts';
import { lockDirectory } from '../../store/files/lock.ts';
import { formatLogName } from '../../store/log/line.ts';
import { isStoreFile, snapshotName, writeStore } from '../../store/snapshot/writer.ts';
import type { StoredItem } from '../../store/store.ts';
import { readLocation } from '../accounts/command.ts';
import { actAsOwner } from '../accounts/ownership.ts';
import { checkStopped } from '../copy-directory.ts';
import { CommandError, reportError } from '../errors.ts';
import { newStoreId } from '../serve/store-id.ts';
import { clearValidationMarker } from '../serve/validation-marker.ts';
import { printLines, type Terminal } from '../terminal.ts';
import { withModule } from '../with-module.ts';

const flags = new Map([
  ['--data', 'value'],
  ['--module', 'value'],
  ['--key-file', 'value'],
  ['--config', 'value'],
  ['--input', 'value'],
  ['--on-mismatch', 'value'],
] as const);

const firstJournal = formatLogName('journal', 1);
const newline = 0x0a;

/** Runs `countersign import`: reads an export into a data directory or the store of a module, without items. Returns the exit status. */
export async function importItems(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  try {
    const { flags: given, words, faults } = readArguments(argv, flags);
    if (faults.length > 0) throw new CommandError(faults);
    if (words.length > 0) throw new CommandError(['import takes no arguments, only options']);
    const { options, secretBox } = readLocation(given, environment);
    const input = String(given.get('--input') ?? '-');
    await withTarget(options, environment, async (target) => {
      await target.check();
      const checks = createItemChecks(options);
      const imported = await readExport(input, checks.findFault, terminal);
      const { documents } = imported;
      if (documents.size > 0) checkTransferredFiles(documents, formatName(input), secretBox);
      await checkAccounts(target.place, documents);
      await target.write(imported);
      printLines([...checks.warnings(), ...formatSummary(imported, options)], terminal.stderr);
    });
    return 0;
  } catch (error) {
    return reportError(error, terminal);
  }
}

/** The destination of an import. */
interface ImportTarget {
  /** The location of the accounts; undefined if there is none. */
  readonly place: AccountPlace | undefined;
  /** Rejects with CommandError if nothing can be imported, before the export is read. */
  check(): Promise<void>;
  /** Stores accounts and items. Rejects with CommandError if there are items meanwhile. */
  write(imported: Imported): Promise<void>;
}

/** Runs an import into the store of the module, or else into the data directory. */
async function withTarget(
  options: Options,
  environment: NodeJS.ProcessEnv,
  run: (target: ImportTarget) => Promise<void>,
): Promise<void> {
  await withModule(options, environment, async (module) => {
    if (module?.store === undefined) return run(directoryTarget(options.data));
    const { openSharedTarget } = await import('../module/import-target.ts');
    return run(openSharedTarget(module, module.store));
  });
}

function directoryTarget(data: string): ImportTarget {
  return {
    place: data,
    async check() {
      actAsOwner(data);
      if (existsSync(data)) await checkDirectory(data);
    },
    write: (imported) => writeDirectory(data, imported),
  };
}

/** Throws CommandError if accounts are imported where there are others already, or where none can be stored. */
async function checkAccounts(place: AccountPlace | undefined, files: TransferredFiles): Promise<void> {
  if (files.size === 0) return;
  if (place === undefined)
    throw new CommandError(['the export has accounts, and the store of the module has no documents'], 1);
  const other = await findConflictingFile(place, files);
  if (other !== undefined)
    throw new CommandError([`${other} exists already; import changes no accounts, so remove them first`], 1);
}

/** Returns the name of the input in messages. */
function formatName(input: string): string {
  return input === '-' ? 'standard input' : input;
}

/** Reads and validates a whole export. Throws CorruptionError if it is invalid, CommandError if it cannot be read. */
async function readExport(
  input: string,
  findFault: ImportOptions['findFault'],
  { stdin }: Terminal,
): Promise<Imported> {
  const file = formatName(input);
  const reader = new ExportReader({
    file,
    now: systemClock.now(),
    findFault,
    isDocument: isTransferredFile,
  });
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

/** Why items cannot be imported, and what is wrong with those that are imported nevertheless. */
interface ItemChecks {
  readonly findFault: ImportOptions['findFault'];
  /** Returns the warnings about the items that were read. */
  warnings(): readonly string[];
}

/** Requires that every item conforms to the declaration of its collection, unless `--on-mismatch warn` is set. */
function createItemChecks({ collections, onMismatch }: Options): ItemChecks {
  const findIdFault = ({ id }: StoredItem): string | undefined => {
    const fault = id === '' ? 'is empty' : findInvalidIdReason(id);
    return fault && `its id ${fault}`;
  };
  if (onMismatch !== 'warn') {
    const findMismatch = createConformityCheck(collections);
    return {
      findFault: (path, entry) => findIdFault(entry) ?? findMismatch(path, entry),
      warnings: () => [],
    };
  }
  const check = new StoredDataCheck(collectionFinder(collections));
  return {
    findFault(path, entry) {
      const fault = findIdFault(entry);
      if (fault === undefined) check.add(path, entry);
      return fault;
    },
    warnings() {
      const mismatches = check.result();
      return mismatches === undefined ? [] : [mismatches.summary];
    },
  };
}

/**
 * Writes accounts and the store into the data directory.
 *
 * @throws CommandError, LockedError or StoreError
 */
async function writeDirectory(
  directory: string,
  { storeId = newStoreId(), state, documents }: Imported,
): Promise<void> {
  await prepareDirectory(directory);
  const lock = await lockDirectory(directory);
  try {
    await checkNoItems(directory);
    for (const name of [firstJournal, snapshotName])
      await removeLeftovers(nodeDisk, directory, name, () => true);
    await clearValidationMarker(directory);
    await writeTransferredFiles(directory, documents);
    await writeStore(directory, { storeId, state, now: systemClock.now() }).catch(async (error) => {
      // An empty journal without a snapshot would prevent a start.
      if (!existsSync(join(directory, snapshotName)))
        await nodeDisk.unlink(join(directory, firstJournal)).catch(() => {});
      throw error;
    });
  } finally {
    await lock.release();
  }
}

/** Throws CommandError if a process uses the directory, or if it has items. */
async function checkDirectory(directory: string): Promise<void> {
  await checkStopped(directory);
  await checkNoItems(directory);
}

/**
 * Throws CommandError unless the directory has no store, or only a first journal without changes, as after a first start
 * or an interrupted import.
 */
async function checkNoItems(directory: string): Promise<void> {
  const names = await nodeDisk.list(directory);
  rejectIncompleteCopy(directory, names);
  const hasOthers = names.some((name) => name !== firstJournal && isStoreFile(name));
  if (hasOthers || !(await isUnused(directory)))
    throw new CommandError([`${directory} has items; import requires a data directory without items`], 1);
}

/** Returns whether the first journal of a directory is missing, or has no line but the first one. */
async function isUnused(directory: string): Promise<boolean> {
  const bytes = (await nodeDisk.read(join(directory, firstJournal))) ?? new Uint8Array();
  const text = Buffer.from(bytes).toString('latin1').replace(/\0+$/, '');
  return text === '' || text.indexOf('\n') === text.length - 1;
}

/** Returns the lines that describe the result of an import. */
function formatSummary({ state, storeId, documents }: Imported, { collections }: Options): string[] {
  const views = [...state.collections()];
  const collectionAt = collectionFinder(collections);
  const undeclared = views.filter(
    ({ path, count }) =>
      count > 0 &&
      path !== tokensCollection &&
      path !== grantsCollection &&
      (path.includes('{') || collectionAt(path) === undefined),
  );
  const accounts = documents.size === 0 ? '' : `, with ${[...documents.keys()].join(', ')}`;
  const items = views.reduce((sum, { count }) => sum + count, 0);
  return [
    ...undeclared.map(({ path }) => `the items of ${path} are not served: no such collection is declared`),
    ...(storeId === undefined ? ['the export has no storeId: all entity tags are new'] : []),
    `imported ${formatCount(items, 'item')}${accounts}`,
  ];
}
