import { pathToFileURL } from 'node:url';
import { decodeText } from '../../http/syntax/percent.ts';

/** Returns what is wrong with a module that threw an error, as one line without passwords and without a full stop. */
export function moduleFault(
  file: string,
  path: string,
  error: unknown,
  environment: NodeJS.ProcessEnv,
): string {
  const message = formatMessage(error);
  const missing = parseMissingPackage(error, message);
  if (missing !== undefined)
    return `the module ${file} requires the package ${missing}, which is not installed; to install it: npm install ${missing}`;
  const what = error instanceof SyntaxError ? 'has a syntax error' : 'failed';
  const line = lineIn(path, error);
  const where = line === undefined ? '' : ` (line ${line})`;
  return `the module ${file} ${what}: ${redactPasswords(message, environment)}${where}`;
}

/** Returns the message of an error on one line. */
function formatMessage(error: unknown): string {
  if (!(error instanceof Error)) return oneLine(String(error));
  const causes: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  // A connection that fails for each address of a host has an error without a message.
  if (error.message === '' && causes.length > 0) return causes.map(formatMessage).join('; ');
  return oneLine(error.message === '' ? error.name : error.message);
}

function oneLine(text: string): string {
  const lines = text.split(/[\r\n\u2028\u2029]+/).map((line) => line.trim());
  return lines.filter((line) => line !== '').join(' ');
}

/** Returns the name of a package that an import did not find. */
function parseMissingPackage(error: unknown, message: string): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  if (error.code !== 'ERR_MODULE_NOT_FOUND' && error.code !== 'MODULE_NOT_FOUND') return undefined;
  const specifier = /^Cannot find (?:package|module) '([^']+)'/.exec(message)?.[1];
  return /^(?:@[\w.-]+\/)?[\w-][\w.-]*/.exec(specifier ?? '')?.[0];
}

/** Returns the line of the module in which an error was thrown, if its stack contains one. */
function lineIn(path: string, error: unknown): string | undefined {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  for (const place of [pathToFileURL(path).href, path]) {
    const at = stack.indexOf(`${place}:`);
    const line = at < 0 ? undefined : /^\d+/.exec(stack.slice(at + place.length + 1))?.[0];
    if (line !== undefined) return line;
  }
  return undefined;
}

/** Replaces passwords in URLs, and those of connection URLs in the environment. */
export function redactPasswords(text: string, environment: NodeJS.ProcessEnv): string {
  // A password may contain any character that the user forgot to encode, so the last @ ends it.
  let cleaned = text.replace(/[^\s'"<>]+/g, redactUserinfo);
  for (const password of passwordsIn(environment)) cleaned = cleaned.replaceAll(password, '***');
  return cleaned;
}

function redactUserinfo(word: string): string {
  const [start, end] = [word.indexOf('://') + 3, word.lastIndexOf('@')];
  return start < 3 || end < start ? word : `${word.slice(0, start)}***${word.slice(end)}`;
}

function passwordsIn(environment: NodeJS.ProcessEnv): Set<string> {
  const found = new Set<string>();
  for (const [name, value = ''] of Object.entries(environment)) {
    if (/PASSWORD|PASSWD/i.test(name)) found.add(value);
    const [, user, password] = /^[a-z][a-z0-9+.-]*:\/\/([^:@/]*):(.*)@/is.exec(value) ?? [];
    // The name of a user is no secret, even if it is also the password.
    if (password === undefined || password === user) continue;
    found.add(password).add(decodeText(password) ?? password);
  }
  found.delete('');
  return found;
}
