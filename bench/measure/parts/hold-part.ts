/**
 * Runs a part in this process: loads the named file, creates its `part` with the remaining words, and answers orders.
 */
import { pathToFileURL } from 'node:url';
import type { Message, PartOf } from './part.ts';

const [, , file = '', ...words] = process.argv;
const send = (message: Message): void => {
  process.send?.(message);
};

process.once('disconnect', () => process.exit(0));
try {
  const { part }: { part: PartOf } = await import(pathToFileURL(file).href);
  const answer = await part(...words);
  let before = Promise.resolve();
  process.on('message', (order: string[]) => {
    before = before.then(async () => {
      try {
        send({ sample: await answer(...order) });
      } catch (error) {
        send({ failure: textOf(error) });
      }
    });
  });
  send({ sample: {} });
} catch (error) {
  // The message names the file that imports, so only its start tells whether that file itself is missing.
  const isOwnFile = error instanceof Error && error.message.startsWith(`Cannot find module '${file}'`);
  const absent = /^(ERR_)?MODULE_NOT_FOUND$/.test(codeOf(error)) && !isOwnFile;
  send(absent ? { absent: 'not installed' } : { failure: textOf(error) });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
