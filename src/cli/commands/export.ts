import { existsSync } from 'node:fs';
import { basename, dirname, resolve, sep } from 'node:path';
import { systemClock } from '../../clock.ts';
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

/** The arguments of the command. */
interface ExportOrder {
  readonly data: string;
  /** A path, or `-`. */
  readonly output: string;
  readonly withTokens: boolean;
}

const flags = new Map([
  ['--data', 'value'],
  ['--config', 'value'],
  ['--output', 'value'],
  ['--with-tokens', 'toggle'],
] as const);

/** So many characters are written at once. */
const batchLength = 65_536;

/** Runs `countersign export`: writes all items of a data directory as lines of JSON. Returns the exit status. */
export async function exportItems(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  try {
    const order = readOrder(argv, environment);
    if (!existsSync(order.data)) throw new CommandError([`there is no data directory ${order.data}`], 1);
    actAsOwnerOf(order.data);
    checkPermissions(order.data);
    const lock = await lockDirectory(order.data);
    try {
      await writeExport(order, await examine({ directory: order.data }), terminal);
    } finally {
      await lock.release();
    }
    return 0;
  } catch (error) {
    return reportError(error, terminal);
  }
}

function readOrder(argv: readonly string[], environment: NodeJS.ProcessEnv): ExportOrder {
  const { flags: given, words, faults } = readArguments(argv, flags);
  if (faults.length > 0) throw new CommandError(faults);
  if (words.length > 0) throw new CommandError(['export takes options only']);
  const { data } = locationOf(given, environment).options;
  const output = String(given.get('--output') ?? '-');
  if (output !== '-') refuseOutput(output, data);
  const withTokens = given.get('--with-tokens') ?? 'false';
  if (withTokens !== true && withTokens !== 'true' && withTokens !== 'false')
    throw new CommandError(['--with-tokens: true or false is expected']);
  return { data, output, withTokens: withTokens !== 'false' };
}

/** Throws Refusal where an export would replace something, or become a part of what is exported. */
function refuseOutput(output: string, data: string): void {
  if (existsSync(output)) throw new CommandError([`${output} exists already`], 1);
  if (resolve(output).startsWith(`${resolve(data)}${sep}`))
    throw new CommandError([`${output} is in the data directory`]);
}

async function writeExport(
  { data, output, withTokens }: ExportOrder,
  { state, lineage, told }: Examined,
  { stdout, stderr }: Terminal,
): Promise<void> {
  if (lineage === undefined) throw new CommandError([`${data} has no store to export`], 1);
  const isOfOAuth = (path: string): boolean => path === tokensCollection || path === grantsCollection;
  const includes = (path: string): boolean => withTokens || !isOfOAuth(path);
  const content = formatExport({ storeId: lineage, state, at: systemClock.now(), includes });
  if (output === '-') writeBatches(content, stdout);
  else
    await replaceFile(nodeDisk, {
      directory: dirname(output),
      name: basename(output),
      content,
      sync: true,
    });
  const collections = [...state.collections()];
  const exported = collections.filter(({ path }) => includes(path));
  const items = exported.reduce((sum, { count }) => sum + count, 0);
  const tokens = collections.some(({ path, count }) => !includes(path) && count > 0);
  printLines(
    [...told, `exported ${items} items${tokens ? ', without the grants and tokens of OAuth' : ''}`],
    stderr,
  );
}

function writeBatches(content: Iterable<string>, outlet: Outlet): void {
  let batch = '';
  for (const line of content) {
    batch += line;
    if (batch.length < batchLength) continue;
    outlet.write(batch);
    batch = '';
  }
  outlet.write(batch);
}
