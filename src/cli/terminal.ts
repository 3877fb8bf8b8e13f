import type { EventEmitter } from 'node:events';
import { escapeInvisible } from '../http/syntax/control-character.ts';

/** The standard streams of a command; `process` is one. */
export interface Terminal {
  readonly stdin: AsyncIterable<string | Uint8Array> & { readonly isTTY?: boolean };
  readonly stdout: Outlet;
  readonly stderr: Outlet;
}

/** Runs a command. Returns the exit status, or throws an error that `reportError` prints. */
export type Command = (
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
) => Promise<number>;

/** An output stream of a command. */
export interface Outlet {
  readonly isTTY?: boolean;
  /** Writes text. Calls `onWritten` when it is written, or with the error if it cannot be. */
  write(text: string, onWritten?: (error?: Error | null) => void): unknown;
}

/** The parts of `process` that a server uses. Signals and warnings are its events. */
export interface ServerProcess extends EventEmitter {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: Outlet & EventEmitter;
  /** The access log is written to its file descriptor. */
  readonly stderr: Outlet & EventEmitter & { readonly fd: number };
  /** Ends the process. */
  exit(status: number): void;
}

/** Writes lines to a stream. Invisible characters are escaped. */
export function printLines(lines: readonly string[], outlet: Outlet): void {
  outlet.write(lines.map((line) => `${escapeInvisible(line)}\n`).join(''));
}

/** Writes a message of the program. Its further lines, as of a stack trace, are indented, so that none looks like a message. */
export function printMessage(message: string, outlet: Outlet): void {
  const indented = message.replace(/\n(?! )/g, '\n  ');
  printLines(`countersign: ${indented}`.split('\n'), outlet);
}

/** Returns data for a stream: unchanged, unless the stream is a terminal. There, invisible characters of each line are escaped. */
export function toDisplayable(data: string, { isTTY }: Outlet): string {
  return isTTY === true ? data.split('\n').map(escapeInvisible).join('\n') : data;
}

/** Quotes a string as one word of a POSIX shell command. */
export function shellQuote(word: string): string {
  return /^[A-Za-z0-9@%+=:,./_-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
