import { readFile } from 'node:fs/promises';
import { isMethod, methods } from '../http/method.ts';
import { trimSpaces } from '../http/syntax/token.ts';
import { hint } from '../options/flags.ts';
import { wholeInput } from './accounts/secret-input.ts';
import { CommandError } from './errors.ts';
import type { Terminal } from './terminal.ts';

/** The fields of a request. */
export type Fields = readonly (readonly [name: string, value: string])[];

/** Returns the value of an option; undefined if it is not given. */
export function readText(given: ReadonlyMap<string, string | true>, flag: string): string | undefined {
  const value = given.get(flag);
  return typeof value === 'string' ? value : undefined;
}

/** Reads fields such as `Content-Type: text/plain`. */
export function parseFields(lines: readonly string[], faults: string[]): [string, string][] {
  return lines.map((line) => {
    const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\0\r\n]*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined)
      faults.push(`${JSON.stringify(line)} is not a field such as "Content-Type: text/plain"`);
    return [name ?? '', trimSpaces(value ?? '', 0, value?.length ?? 0)];
  });
}

/** Reads a method, which is a token (RFC 9110 §9.1). */
export function parseMethod(text: string | undefined, faults: string[]): string {
  if (text !== undefined && !/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(text)) {
    faults.push(`${JSON.stringify(text)} is not a valid method`);
  } else if (text !== undefined && !isMethod(text)) {
    // Other servers have further methods, none of which is similar to these.
    const meant = hint(text, methods);
    if (meant !== '') faults.push(`unknown method ${text}${meant}`);
  }
  return text ?? '';
}

/** Reads the URL of a request. Undefined if it is none, with a fault. */
export function parseUrl(text: string | undefined, faults: string[]): URL | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    faults.push(`${JSON.stringify(text)} is not a URL such as http://127.0.0.1:8080/articles`);
    return undefined;
  }
  if (url.username !== '' || url.password !== '')
    faults.push('the URL must not contain a user name or password');
  url.hash = '';
  return url;
}

/** Reads content from a file, or from standard input if the path is `-`. */
export async function readContent(path: string, terminal: Terminal): Promise<Uint8Array> {
  try {
    return path === '-' ? await wholeInput(terminal) : await readFile(path);
  } catch (error) {
    throw new CommandError(
      [`the content cannot be read: ${error instanceof Error ? error.message : path}`],
      1,
    );
  }
}

/** Adds the type of the content, because schemes may sign it. */
export function addType(fields: Fields, content: Uint8Array | undefined): Fields {
  const hasType = fields.some(([name]) => name.toLowerCase() === 'content-type');
  return content === undefined || hasType ? fields : [...fields, ['Content-Type', guessType(content)]];
}

/** Guesses the media type of the content. Without one, curl sends that of a form. */
export function guessType(content: Uint8Array): string {
  const start = Buffer.from(content.subarray(0, 64)).toString('utf8').trimStart();
  if (start.startsWith('<')) return 'application/xml';
  return /^[[{"]/.test(start) ? 'application/json' : 'application/octet-stream';
}
