import { CommandError } from '../errors.ts';
import type { Terminal } from '../terminal.ts';

/** The longest first line that is taken for a secret, in bytes. */
const longestLine = 65_536;

/**
 * The secret to sign with: COUNTERSIGN_SECRET, else the first line of standard input unless the content comes that
 * way. Throws Refusal when there is none.
 */
export async function secretFrom(
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
  inputTaken: boolean,
): Promise<string> {
  const set = secretVariable(environment);
  if (set !== undefined) return set;
  if (inputTaken)
    throw new CommandError(['COUNTERSIGN_SECRET is not set, and standard input is taken by the content']);
  if (terminal.stdin.isTTY) terminal.stderr.write('Secret: ');
  const line = await firstLine(terminal.stdin);
  if (line === '')
    throw new CommandError(['there is no secret: set COUNTERSIGN_SECRET or write it to standard input']);
  return line;
}

/** COUNTERSIGN_SECRET, if it is set. Throws Refusal when it is empty. */
export function secretVariable(environment: NodeJS.ProcessEnv): string | undefined {
  const set = environment['COUNTERSIGN_SECRET'];
  if (set === '')
    throw new CommandError(['COUNTERSIGN_SECRET is empty, and an empty secret protects nothing']);
  return set;
}

async function firstLine(stdin: Terminal['stdin']): Promise<string> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of stdin) {
    bytes = Buffer.concat([bytes, Buffer.from(chunk)]);
    if (bytes.includes('\n') || bytes.length > longestLine) break;
  }
  const [line = ''] = bytes.toString('utf8').split(/\r?\n/, 1);
  if (line.length > longestLine)
    throw new CommandError(['the first line of standard input is too long for a secret']);
  return line;
}

/** Everything that standard input gives. */
export async function wholeInput({ stdin }: Terminal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
