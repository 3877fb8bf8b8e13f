import { existsSync } from 'node:fs';
import { basename, dirname, resolve, sep } from 'node:path';
import { systemClock } from '../../clock.ts';
import { formatCount } from '../../counted.ts';
import { grantsCollection, tokensCollection } from '../../oauth/records.ts';
import { ExportFormatter } from '../../store/export.ts';
import { replaceFile } from '../../store/files/atomic-write.ts';
import { nodeDisk } from '../../store/files/disk.ts';
import type { TransferPart } from '../../store/store.ts';
import { createDataCommand } from '../data/command.ts';
import { readDataFiles } from '../data/files.ts';
import { withDataSource } from '../data/source.ts';
import { CommandError } from '../errors.ts';
import { type Outlet, printLines, toDisplayable } from '../terminal.ts';

/** The number of characters that are written at once. */
const batchLength = 65_536;

/** Runs `countersign export`: writes all items of a data directory, or of the store of a module, as JSON lines. */
export const exportItems = createDataCommand(
  'export',
  async ({ options, environment, value, isOn }, { stdout, stderr }) => {
    const output = value('--output', '-');
    if (output !== '-') checkOutput(output, options.data);
    const kinds = { withTokens: isOn('--with-tokens'), withAccounts: isOn('--with-accounts') };
    const isOfOAuth = (path: string): boolean => path === tokensCollection || path === grantsCollection;
    const includes = (path: string): boolean => kinds.withTokens || !isOfOAuth(path);
    const formatter = new ExportFormatter({ at: systemClock.now(), includes });
    return withDataSource(
      options,
      environment,
      ({ place, read }) =>
        read(async (records, warnings) => {
          const files = place === undefined ? new Map<string, string>() : await readDataFiles(place, kinds);
          const content = formatBatches(formatter, records, files);
          if (output !== '-') {
            const [directory, name] = [dirname(output), basename(output)];
            await replaceFile(nodeDisk, { directory, name, content, sync: true });
          } else if (!(await writeBatches(content, stdout))) return 1;
          const without = formatter.omitted > 0 ? ', without OAuth grants and tokens' : '';
          const names = [...files.keys()].join(', ') || (kinds.withAccounts ? 'no accounts' : '');
          const accounts = names === '' ? '' : `, with ${names}`;
          const summary = `exported ${formatCount(formatter.items, 'item')}${without}${accounts}`;
          printLines([...warnings, summary], stderr);
          return 0;
        }),
      stderr,
    );
  },
);

/** Throws CommandError if the output file exists or is in the data directory. */
function checkOutput(output: string, data: string): void {
  if (existsSync(output)) throw new CommandError([`${output} already exists`], 1);
  if (resolve(output).startsWith(`${resolve(data)}${sep}`))
    throw new CommandError([`${output} is in the data directory`]);
}

/** Returns the lines of an export, in batches. */
async function* formatBatches(
  formatter: ExportFormatter,
  records: Iterable<TransferPart> | AsyncIterable<TransferPart>,
  files: ReadonlyMap<string, string>,
): AsyncGenerator<string> {
  let batch = '';
  for await (const record of records) {
    batch += formatter.part(record);
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
