import { CommandError } from '../errors.ts';
import type { Terminal } from '../terminal.ts';

/** The maximum length of a secret or password on standard input, in bytes. */
const maxLineLength = 65_536;

/** The flag that reads a new secret from the first line of standard input. */
export const secretFlag = '--secret-stdin';

/**
 * Reads the secret that signs a request from COUNTERSIGN_SECRET or, if that is not set, from the first line of standard input.
 *
 * @param isInputUsed whether standard input is used for the content, so that the secret cannot be read from it
 * @throws CommandError if there is no secret
 */
export async function secretFrom(
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
  isInputUsed: boolean,
): Promise<string> {
  const set = environment['COUNTERSIGN_SECRET'];
  if (set === '') throw new CommandError(['COUNTERSIGN_SECRET must not be empty']);
  if (set !== undefined) return set;
  if (isInputUsed)
    throw new CommandError(['COUNTERSIGN_SECRET must be set if the content is read from standard input']);
  return readLine(terminal, 'Secret', 'no secret: set COUNTERSIGN_SECRET or write it to standard input');
}

/**
 * Reads a new secret or password from the first line of standard input.
 *
 * @throws CommandError if the line is empty
 */
export function readFromInput(terminal: Terminal, what: 'secret' | 'password'): Promise<string> {
  const prompt = what === 'secret' ? 'Secret' : 'Password';
  return readLine(terminal, prompt, `no ${what}: write it to standard input`);
}

/** Returns the first line of standard input. Throws CommandError with the message `missing` if the line is empty. */
async function readLine({ stdin, stderr }: Terminal, prompt: string, missing: string): Promise<string> {
  if (stdin.isTTY) stderr.write(`${prompt}: `);
  const line = await firstLine(stdin, prompt.toLowerCase());
  if (line === '') throw new CommandError([missing]);
  return line;
}

async function firstLine(stdin: Terminal['stdin'], what: string): Promise<string> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of stdin) {
    bytes = Buffer.concat([bytes, Buffer.from(chunk)]);
    if (bytes.includes('\n') || bytes.length > maxLineLength) break;
  }
  const [line = ''] = bytes.toString('utf8').split(/\r?\n/, 1);
  if (line.length > maxLineLength)
    throw new CommandError([`the ${what} on standard input is longer than ${maxLineLength} bytes`]);
  return line;
}

/** Reads standard input to its end. */
export async function wholeInput({ stdin }: Terminal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
