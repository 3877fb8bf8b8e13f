import { existsSync } from 'node:fs';
import { basename, dirname, resolve, sep } from 'node:path';
import type { AccountPlace } from '../../accounts/stored-file.ts';
import type { TransferredKinds } from '../../accounts/transferred-files.ts';
import { systemClock } from '../../clock.ts';
import { formatCount } from '../../counted.ts';
import { grantsCollection, tokensCollection } from '../../oauth/records.ts';
import { readArguments } from '../../options/flags.ts';
import type { Options } from '../../options/options.ts';
import { ExportFormatter } from '../../store/export.ts';
import { replaceFile } from '../../store/files/atomic-write.ts';
import { nodeDisk } from '../../store/files/disk.ts';
import { checkPermissions } from '../../store/files/file-permissions.ts';
import { lockDirectory } from '../../store/files/lock.ts';
import { scan } from '../../store/scan.ts';
import type { Store, TransferPart } from '../../store/store.ts';
import { isTransferable } from '../../store/transfer.ts';
import { readLocation } from '../accounts/command.ts';
import { actAsOwner } from '../accounts/ownership.ts';
import { CommandError, reportError } from '../errors.ts';
import { type Outlet, printLines, type Terminal, toDisplayable } from '../terminal.ts';
import { withModule } from '../with-module.ts';

/** The arguments of `countersign export`. */
interface ExportArguments {
  readonly options: Options;
  /** A path, or `-` for standard output. */
  readonly output: string;
  readonly withTokens: boolean;
  readonly withAccounts: boolean;
}

const flags = new Map([
  ['--data', 'value'],
  ['--module', 'value'],
  ['--key-file', 'value'],
  ['--config', 'value'],
  ['--output', 'value'],
  ['--with-tokens', 'toggle'],
  ['--with-accounts', 'toggle'],
] as const);

/** The number of characters that are written at once. */
const batchLength = 65_536;

/** Runs `countersign export`: writes all items of a data directory, or of the store of a module, as JSON lines. Returns the exit status. */
export async function exportItems(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  try {
    const exportArguments = parseArguments(argv, environment);
    return await withModule(exportArguments.options, environment, (module) =>
      module?.store === undefined
        ? exportDirectory(exportArguments, terminal)
        : writeExport(exportArguments, openSharedSource(module.file, module.store), terminal),
    );
  } catch (error) {
    return reportError(error, terminal);
  }
}

function parseArguments(argv: readonly string[], environment: NodeJS.ProcessEnv): ExportArguments {
  const { flags: given, words, faults } = readArguments(argv, flags);
  if (faults.length > 0) throw new CommandError(faults);
  if (words.length > 0) throw new CommandError(['export takes no arguments, only options']);
  const { options } = readLocation(given, environment);
  const output = String(given.get('--output') ?? '-');
  if (output !== '-') checkOutput(output, options.data);
  const isOn = (flag: '--with-tokens' | '--with-accounts'): boolean => {
    const value = given.get(flag) ?? 'false';
    if (value === true || value === 'true' || value === 'false') return value !== 'false';
    throw new CommandError([`${flag} must be true or false`]);
  };
  return { options, output, withTokens: isOn('--with-tokens'), withAccounts: isOn('--with-accounts') };
}

/** The content to export. */
interface ExportSource {
  readonly parts: Iterable<TransferPart> | AsyncIterable<TransferPart>;
  /** The location of the accounts; undefined if there is none. */
  readonly place: AccountPlace | undefined;
  /** The repairs that a start would make, one sentence each. */
  readonly warnings: readonly string[];
}

/** Exports a data directory, which no other process may use. Returns the exit status. */
async function exportDirectory(given: ExportArguments, terminal: Terminal): Promise<number> {
  const { data } = given.options;
  if (!existsSync(data)) throw new CommandError([`the data directory ${data} does not exist`], 1);
  actAsOwner(data);
  checkPermissions(data);
  const lock = await lockDirectory(data);
  try {
    const { state, storeId, reports: warnings } = await scan({ directory: data });
    if (storeId === undefined) throw new CommandError([`${data} has no store to export`], 1);
    return await writeExport(
      given,
      { parts: state.records(storeId, systemClock.now()), place: data, warnings },
      terminal,
    );
  } finally {
    await lock.release();
  }
}

/** Returns the content of the store of a module. Throws CommandError if it cannot be exported. */
function openSharedSource(file: string, store: Store): ExportSource {
  if (!isTransferable(store))
    throw new CommandError([`the store of ${file} cannot be exported: it has no exportState`], 1);
  return { parts: store.exportState(), place: store.documents, warnings: [] };
}

/** Throws CommandError if the output file exists or is in the data directory. */
function checkOutput(output: string, data: string): void {
  if (existsSync(output)) throw new CommandError([`${output} already exists`], 1);
  if (resolve(output).startsWith(`${resolve(data)}${sep}`))
    throw new CommandError([`${output} is in the data directory`]);
}

/** Writes the export and a summary. Returns the exit status. */
async function writeExport(
  { output, withTokens, withAccounts }: ExportArguments,
  source: ExportSource,
  { stdout, stderr }: Terminal,
): Promise<number> {
  const isOfOAuth = (path: string): boolean => path === tokensCollection || path === grantsCollection;
  const includes = (path: string): boolean => withTokens || !isOfOAuth(path);
  const files =
    (withAccounts || withTokens) && source.place !== undefined
      ? await readDocuments(source.place, { withAccounts, withTokens })
      : new Map<string, string>();
  const formatter = new ExportFormatter({ at: systemClock.now(), includes });
  const content = formatBatches(formatter, source.parts, files);
  if (output !== '-') {
    const [directory, name] = [dirname(output), basename(output)];
    await replaceFile(nodeDisk, { directory, name, content, sync: true });
  } else if (!(await writeBatches(content, stdout))) return 1;
  const without = formatter.omitted > 0 ? ', without OAuth grants and tokens' : '';
  const names = [...files.keys()].join(', ') || (withAccounts ? 'no accounts' : '');
  const accounts = names === '' ? '' : `, with ${names}`;
  printLines(
    [...source.warnings, `exported ${formatCount(formatter.items, 'item')}${without}${accounts}`],
    stderr,
  );
  return 0;
}

/** Reads the account files and requested revocations. Their modules are loaded only if they are exported. */
async function readDocuments(
  place: AccountPlace,
  kinds: TransferredKinds,
): Promise<ReadonlyMap<string, string>> {
  return (await import('../../accounts/transferred-files.ts')).readTransferredFiles(place, kinds);
}

/** Returns the lines of an export, in batches. */
async function* formatBatches(
  formatter: ExportFormatter,
  parts: ExportSource['parts'],
  files: ReadonlyMap<string, string>,
): AsyncGenerator<string> {
  let batch = '';
  for await (const part of parts) {
    batch += formatter.part(part);
    if (batch.length < batchLength) continue;
    yield batch;
    batch = '';
  }
  for (const [name, content] of files) batch += formatter.document(name, content);
  yield batch + formatter.end();
}

/** Writes the batches. Returns false at the first error, which the error handler of the stream reports. */
async function writeBatches(batches: AsyncIterable<string>, outlet: Outlet): Promise<boolean> {
  for await (const batch of batches) if (!(await isWritten(batch, outlet))) return false;
  return true;
}

function isWritten(text: string, outlet: Outlet): Promise<boolean> {
  return new Promise((resolve) => {
    outlet.write(toDisplayable(text, outlet), (error) => resolve(error === undefined || error === null));
  });
}
