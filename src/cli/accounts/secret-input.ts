import { CommandError } from '../errors.ts';
import type { Terminal } from '../terminal.ts';

/** The maximum length of a secret on standard input, in bytes. */
const maxLineLength = 65_536;

/**
 * Reads the secret from COUNTERSIGN_SECRET or, if that is not set, from the first line of standard input.
 *
 * @param isInputUsed whether standard input is used for the content, so that the secret cannot be read from it
 * @throws CommandError if there is no secret
 */
export async function secretFrom(
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
  isInputUsed: boolean,
): Promise<string> {
  const set = secretVariable(environment);
  if (set !== undefined) return set;
  if (isInputUsed)
    throw new CommandError(['COUNTERSIGN_SECRET must be set if the content is read from standard input']);
  if (terminal.stdin.isTTY) terminal.stderr.write('Secret: ');
  const line = await firstLine(terminal.stdin);
  if (line === '')
    throw new CommandError(['no secret: set COUNTERSIGN_SECRET or write it to standard input']);
  return line;
}

/** Returns COUNTERSIGN_SECRET; undefined if it is not set. Throws CommandError if it is empty. */
export function secretVariable(environment: NodeJS.ProcessEnv): string | undefined {
  const set = environment['COUNTERSIGN_SECRET'];
  if (set === '') throw new CommandError(['COUNTERSIGN_SECRET must not be empty']);
  return set;
}

async function firstLine(stdin: Terminal['stdin']): Promise<string> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of stdin) {
    bytes = Buffer.concat([bytes, Buffer.from(chunk)]);
    if (bytes.includes('\n') || bytes.length > maxLineLength) break;
  }
  const [line = ''] = bytes.toString('utf8').split(/\r?\n/, 1);
  if (line.length > maxLineLength)
    throw new CommandError([`the secret on standard input is longer than ${maxLineLength} bytes`]);
  return line;
}

/** Reads standard input to its end. */
export async function wholeInput({ stdin }: Terminal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
