import { existsSync } from 'node:fs';
import { basename, dirname, resolve, sep } from 'node:path';
import { systemClock } from '../../clock.ts';
import { counted } from '../../counted.ts';
import { grantsCollection, tokensCollection } from '../../oauth/records.ts';
import { readArguments } from '../../options/flags.ts';
import { replaceFile } from '../../store/files/atomic-write.ts';
import { nodeDisk } from '../../store/files/disk.ts';
import { checkPermissions } from '../../store/files/file-permissions.ts';
import { lockDirectory } from '../../store/files/lock.ts';
import { type Examined, examine } from '../../store/recovery/recovery.ts';
import { formatExport } from '../../store/snapshot/export-writer.ts';
import { locationOf, printLines } from '../accounts/command.ts';
import { actAsOwnerOf } from '../accounts/ownership.ts';
import { CommandError, reportError } from '../errors.ts';
import type { Outlet, Terminal } from '../terminal.ts';

/** The arguments of `countersign export`. */
interface ExportArguments {
  readonly data: string;
  /** A path, or `-` for standard output. */
  readonly output: string;
  readonly withTokens: boolean;
}

const flags = new Map([
  ['--data', 'value'],
  ['--config', 'value'],
  ['--output', 'value'],
  ['--with-tokens', 'toggle'],
] as const);

/** The number of characters that are written at once. */
const batchLength = 65_536;

/** Runs `countersign export`: writes all items of a data directory as JSON lines. Returns the exit status. */
export async function exportItems(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  try {
    const exportArguments = parseArguments(argv, environment);
    const { data } = exportArguments;
    if (!existsSync(data)) throw new CommandError([`the data directory ${data} does not exist`], 1);
    actAsOwnerOf(data);
    checkPermissions(data);
    const lock = await lockDirectory(data);
    try {
      return await writeExport(exportArguments, await examine({ directory: data }), terminal);
    } finally {
      await lock.release();
    }
  } catch (error) {
    return reportError(error, terminal);
  }
}

function parseArguments(argv: readonly string[], environment: NodeJS.ProcessEnv): ExportArguments {
  const { flags: given, words, faults } = readArguments(argv, flags);
  if (faults.length > 0) throw new CommandError(faults);
  if (words.length > 0) throw new CommandError(['export takes no arguments, only options']);
  const { data } = locationOf(given, environment).options;
  const output = String(given.get('--output') ?? '-');
  if (output !== '-') checkOutput(output, data);
  const withTokens = given.get('--with-tokens') ?? 'false';
  if (withTokens !== true && withTokens !== 'true' && withTokens !== 'false')
    throw new CommandError(['--with-tokens must be true or false']);
  return { data, output, withTokens: withTokens !== 'false' };
}

/** Throws CommandError if the output file exists or is in the data directory. */
function checkOutput(output: string, data: string): void {
  if (existsSync(output)) throw new CommandError([`${output} already exists`], 1);
  if (resolve(output).startsWith(`${resolve(data)}${sep}`))
    throw new CommandError([`${output} is in the data directory`]);
}

/** Writes the export and a summary. Returns the exit status. */
async function writeExport(
  { data, output, withTokens }: ExportArguments,
  { state, storeId, reports: warnings }: Examined,
  { stdout, stderr }: Terminal,
): Promise<number> {
  if (storeId === undefined) throw new CommandError([`${data} has no store to export`], 1);
  const isOfOAuth = (path: string): boolean => path === tokensCollection || path === grantsCollection;
  const includes = (path: string): boolean => withTokens || !isOfOAuth(path);
  const content = formatExport({ storeId, state, at: systemClock.now(), includes });
  if (output !== '-') {
    const [directory, name] = [dirname(output), basename(output)];
    await replaceFile(nodeDisk, { directory, name, content, sync: true });
  } else if (!(await writeBatches(content, stdout))) return 1;
  const collections = [...state.collections()];
  const exported = collections.filter(({ path }) => includes(path));
  const items = exported.reduce((sum, { count }) => sum + count, 0);
  const tokens = collections.some(({ path, count }) => !includes(path) && count > 0);
  printLines(
    [...warnings, `exported ${counted(items, 'item')}${tokens ? ', without OAuth grants and tokens' : ''}`],
    stderr,
  );
  return 0;
}

/** Writes the content in batches. Returns false at the first error, which the error handler of the stream reports. */
async function writeBatches(content: Iterable<string>, outlet: Outlet): Promise<boolean> {
  let batch = '';
  for (const line of content) {
    batch += line;
    if (batch.length < batchLength) continue;
    if (!(await isWritten(batch, outlet))) return false;
    batch = '';
  }
  return isWritten(batch, outlet);
}

function isWritten(text: string, outlet: Outlet): Promise<boolean> {
  return new Promise((resolve) => {
    outlet.write(text, (error) => resolve(error === undefined || error === null));
  });
}
