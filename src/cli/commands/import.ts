import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { AccountPlace } from '../../accounts/stored-file.ts';
import { systemClock } from '../../clock.ts';
import { findInvalidIdReason } from '../../collections/item.ts';
import { collectionFinder } from '../../collections/seed.ts';
import { createConformityCheck, StoredDataCheck } from '../../collections/stored-data-check.ts';
import { formatCount } from '../../counted.ts';
import { grantsCollection, tokensCollection } from '../../oauth/records.ts';
import type { Options } from '../../options/options.ts';
import { ExportReader, type Imported, type ImportOptions } from '../../store/export.ts';
import { kindOf } from '../../store/files/data-files.ts';
import { errorCode } from '../../store/files/disk.ts';
import { createDataCommand } from '../data/command.ts';
import { checkDataFiles, type DataFiles, findConflictingFile } from '../data/files.ts';
import { withDataSource } from '../data/source.ts';
import { CommandError } from '../errors.ts';
import { withProgress } from '../serve/progress.ts';
import { printLines, type Terminal } from '../terminal.ts';

const newline = 0x0a;

/** Runs `countersign import`: reads an export into a data directory or the store of a module, without items. */
export const importItems = createDataCommand(
  'import',
  async ({ options, secretBox, environment, value }, terminal) => {
    const input = value('--input', '-');
    await withDataSource(options, environment, async (target) => {
      await target.checkEmpty();
      const checks = createItemChecks(options);
      const imported = await readExport(input, checks.findFault, terminal);
      const broken = checks.findBrokenReference();
      if (broken !== undefined) throw new CommandError([`${formatName(input)}: ${broken}`], 1);
      const { documents } = imported;
      await checkDataFiles(documents, formatName(input), secretBox);
      await checkAccounts(target.place, documents);
      await target.write(imported);
      printLines([...checks.warnings(), ...formatSummary(imported, options)], terminal.stderr);
    });
    return 0;
  },
);

/** Throws CommandError if accounts are imported where there are others already, or where none can be stored. */
async function checkAccounts(place: AccountPlace | undefined, files: DataFiles): Promise<void> {
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
  { stdin, stderr }: Terminal,
): Promise<Imported> {
  const file = formatName(input);
  const reader = new ExportReader({
    file,
    now: systemClock.now(),
    findFault,
    isDocument: (name) => kindOf(name) === 'accounts',
  });
  try {
    await withProgress(stderr, async (onProgress) => {
      // The length of standard input is unknown.
      const size = input === '-' ? 0 : (await stat(input)).size;
      const chunks = input === '-' ? stdin : createReadStream(input);
      await readAll(reader, chunks, (read) => onProgress(file, read, size, reader.items));
    });
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined || !/^E[A-Z]+$/.test(code)) throw error;
    throw new CommandError([`${file} cannot be read (${code})`], 1);
  }
  return reader.result();
}

/** Reads all chunks. Calls `onRead` with the number of bytes so far. */
async function readAll(
  reader: ExportReader,
  chunks: AsyncIterable<string | Uint8Array>,
  onRead: (bytes: number) => void,
): Promise<void> {
  let pending: Uint8Array[] = [];
  let read = 0;
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk);
    pending.push(bytes);
    read += bytes.length;
    if (!bytes.includes(newline)) continue;
    const whole = Buffer.concat(pending);
    pending = [whole.subarray(reader.take(whole, false))];
    onRead(read);
  }
  reader.take(Buffer.concat(pending), true);
}

/** Why items cannot be imported, and what is wrong with those that are imported nevertheless. */
interface ItemChecks {
  readonly findFault: ImportOptions['findFault'];
  /** Returns what is wrong with the first item that refers to none that was read; undefined if it is imported nevertheless. */
  findBrokenReference(): string | undefined;
  /** Returns the warnings about the items that were read. */
  warnings(): readonly string[];
}

/** Requires that every item conforms to the declaration of its collection, unless `--on-mismatch warn` is set. */
function createItemChecks({ collections, onMismatch }: Options): ItemChecks {
  const conformity = onMismatch === 'warn' ? undefined : createConformityCheck(collections);
  const tolerant = onMismatch === 'warn' ? new StoredDataCheck(collections) : undefined;
  return {
    findFault(path, entry) {
      const { id } = entry;
      const fault = id === '' ? 'is empty' : findInvalidIdReason(id);
      if (fault !== undefined) return `its id ${fault}`;
      tolerant?.add(path, entry);
      return conformity?.add(path, entry);
    },
    findBrokenReference: () => conformity?.end(),
    warnings() {
      const mismatches = tolerant?.result();
      return mismatches === undefined ? [] : [mismatches.summary];
    },
  };
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
