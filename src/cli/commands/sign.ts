import { isUtf8 } from 'node:buffer';
import { createHash, randomBytes } from 'node:crypto';
import { systemClock } from '../../clock.ts';
import { parseDuration } from '../../duration.ts';
import { parseSignedDate } from '../../http/headers/date.ts';
import { escapeInvisible } from '../../http/syntax/control-character.ts';
import { bytesOf, replaceInvalidUtf8, toOctets } from '../../http/syntax/octets.ts';
import { createSign } from '../../schemes/auth-scheme.ts';
import { createHmacScheme } from '../../schemes/hmac/scheme.ts';
import type { NamedPart } from '../../schemes/message.ts';
import type { Sign } from '../../schemes/signing.ts';
import { secretFrom } from '../accounts/secret-input.ts';
import { commandTable, readCommandLine } from '../command-table.ts';
import { CommandError, rethrowAsCommandError } from '../errors.ts';
import { runMasked } from '../mask-secrets.ts';
import {
  addType,
  type Fields,
  guessType,
  parseFields,
  parseMethod,
  parseUrl,
  readContent,
  readText,
} from '../request-arguments.ts';
import { printLines, printMessage, shellQuote, type Terminal, toDisplayable } from '../terminal.ts';

/** The arguments of `countersign sign`. */
interface SignArguments {
  readonly method: string;
  /** The URL to send the request to: the given one, unless it must be normalized. */
  readonly url: string;
  /** The path and query of the URL. */
  readonly target: string;
  /** Whether the URL differs from the given one. */
  readonly isNormalized: boolean;
  /** The name of a scheme of the configuration file; undefined for `hmac`. */
  readonly scheme: string | undefined;
  readonly presign: number | undefined;
  /** Further fields of the request, which the scheme may sign. */
  readonly fields: Fields;
  /** Returns the value of an option; undefined if it is not given. */
  text(flag: string): string | undefined;
  /** Returns whether an option without a value is given. */
  isOn(flag: string): boolean;
}

/** A signed request. */
interface SignedRequest {
  /** The URL to send the request to. */
  readonly url: string;
  readonly headers: Fields;
  /** The parts of the signed message. */
  readonly parts: readonly NamedPart[];
}

/** Runs `countersign sign METHOD URL --user NAME`: prints the headers that sign a request. Returns the exit status. */
export async function sign(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  return runMasked(environment, terminal, async (mask) => {
    const request = parseArguments(argv);
    const { signed, content } = await signRequest(request, environment, terminal);
    if (request.isOn('--explain')) {
      const lines = formatParts(request.scheme ?? 'hmac', signed.parts);
      printLines(await mask(lines), terminal.stderr);
    }
    const isCurl = request.isOn('--curl');
    const output = isCurl ? `${curlCommand(request, signed, content)}\n` : fieldLines(request, signed);
    terminal.stdout.write(toDisplayable(output, terminal.stdout));
    if (!isCurl) warnNormalized(request, terminal);
    return 0;
  });
}

function parseArguments(argv: readonly string[]): SignArguments {
  if (argv.some((argument) => /^--secret(=|$)/.test(argument))) {
    throw new CommandError([
      'the secret cannot be an argument, which other users of this host can read: use COUNTERSIGN_SECRET',
    ]);
  }
  const { flags: given, lists, words } = readCommandLine(commandTable.sign, argv);
  const text = (flag: string) => readText(given, flag);
  const isOn = (flag: string): boolean => given.has(flag);
  const faults = ['--simple', '--curl', '--explain'].flatMap((flag) =>
    text(flag) === undefined ? [] : [`${flag} takes no value`],
  );
  const [method, url] = [parseMethod(words[0], faults), parseUrl(words[1], faults)];
  if (words.length !== 2)
    faults.push('sign requires a method and a URL: countersign sign METHOD URL --user NAME');
  const scheme = text('--scheme') === 'hmac' ? undefined : text('--scheme');
  if (!isOn('--user') && scheme === undefined) faults.push('--user NAME is required');
  if (scheme === undefined)
    faults.push(
      ...schemeFlags
        .filter((flag) => isOn(flag) || lists.has(flag))
        .map((flag) => `${flag} requires --scheme`),
    );
  else if (isOn('--simple')) faults.push('--simple cannot be used with --scheme');
  for (const flag of ['--date', '--nonce'])
    if (isOn('--simple') && isOn(flag)) faults.push(`${flag} cannot be used with --simple`);
  const presign = parseSeconds(text('--presign'), faults);
  const fields = parseFields(lists.get('--header') ?? [], faults);
  if (faults.length > 0 || url === undefined) throw new CommandError(faults);
  return { method, ...normalizeUrl(url, words[1] ?? ''), scheme, presign, fields, text, isOn };
}

/** The options that only further schemes have. */
const schemeFlags: readonly string[] = ['--config', '--key-id', '--algorithm', '--presign', '--header'];

function parseSeconds(text: string | undefined, faults: string[]): number | undefined {
  if (text === undefined) return undefined;
  const length = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : (parseDuration(text) ?? 0) / 1000;
  if (!Number.isInteger(length) || length === 0)
    faults.push(`--presign ${JSON.stringify(text)} is not a number of seconds, or text such as 5m`);
  return length;
}

/** Signs a request, and returns it with its content. */
async function signRequest(
  request: SignArguments,
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<{ readonly signed: SignedRequest; readonly content: Uint8Array | undefined }> {
  const isHmac = request.scheme === undefined;
  const now = isHmac ? systemClock.now() : parseTime(request.text('--date'));
  const createSigner = await chooseSigner(request, environment, terminal);
  const path = request.text('--content');
  const content = path === undefined ? undefined : await readContent(path, terminal);
  const given = isHmac ? [] : addType(request.fields, content);
  const fields = given.map(([name, value]): [string, string] => [name, toOctets(value)]);
  const { method, target } = request;
  const url = new URL(request.url);
  const signed = rethrowAsCommandError(() =>
    createSigner()({ method, url, target, fields, content }, { now, random: randomBytes }),
  );
  if (signed.content !== undefined)
    throw new CommandError([
      `the signature of ${request.scheme} is in the content, which sign does not print`,
    ]);
  // Each character of a signed value is one octet. Decoding it here avoids that printing encodes it twice.
  const added = signed.fields.map(([name, value]) => [name, replaceInvalidUtf8(value)] as const);
  const headers = [...given, ...added];
  return { signed: { url: url.origin + signed.target, headers, parts: signed.parts }, content };
}

async function chooseSigner(
  { scheme, presign, text, isOn }: SignArguments,
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<() => Sign> {
  const [user, nonce, isInputUsed] = [text('--user'), text('--nonce'), text('--content') === '-'];
  if (scheme === undefined) {
    const secret = await secretFrom(environment, terminal, isInputUsed);
    const form = isOn('--simple') ? 'simple' : 'full';
    return () => createSign(createHmacScheme({ form }), { user, secret }, { date: text('--date'), nonce });
  }
  const { readConfiguredScheme } = await import('../configured-scheme.ts');
  const given = { scheme, user, isInputUsed, text };
  const configured = await readConfiguredScheme(given, environment, terminal);
  return () => createSign(configured.scheme, configured.identity, { presign, nonce });
}

function parseTime(date: string | undefined): number {
  if (date === undefined) return systemClock.now();
  const time = parseSignedDate(date);
  if (time !== undefined) return time;
  throw new CommandError([
    `--date ${JSON.stringify(date)} is not a date in UTC such as "20 apr 2013 12:59:24"`,
  ]);
}

/** Warns that the signature is for the normalized URL. The server rejects it for the given one. */
function warnNormalized({ url, isNormalized }: SignArguments, { stderr }: Terminal): void {
  if (isNormalized) printMessage(`the signature is for ${url}; send the request to exactly this URL`, stderr);
}

/** Normalizes the URL if curl would not send it unchanged: if it has dot segments or characters other than visible ASCII. */
function normalizeUrl(url: URL, text: string): Pick<SignArguments, 'url' | 'target' | 'isNormalized'> {
  const given = text.replace(/^[^:]*:\/\/[^/?#]*/, '').replace(/#.*$/s, '');
  const target = given.startsWith('/') ? given : `/${given}`;
  const isSentUnchanged = /^[!-~]*$/.test(target) && !/\/(?:\.|%2e){1,2}(?:[/?]|$)/i.test(target);
  if (isSentUnchanged) return { url: url.origin + target, target, isNormalized: false };
  return { url: url.href, target: url.pathname + url.search, isNormalized: true };
}

/** Returns the fields, one per line; before them the URL, if the scheme changes it. */
function fieldLines({ url }: SignArguments, signed: SignedRequest): string {
  const lines = signed.headers.map(([name, value]) => `${name}: ${value}\n`);
  return (signed.url === url ? lines : [`${signed.url}\n`, ...lines]).join('');
}

function curlCommand(
  { method, text }: SignArguments,
  { url, headers }: SignedRequest,
  content: Uint8Array | undefined,
): string {
  const words = ['curl'];
  if (method === 'HEAD') words.push('--head');
  else if (method !== 'GET' || content !== undefined) words.push('-X', shellQuote(method));
  // Without this option, curl expands brackets and braces in a URL.
  if (/[[\]{}]/.test(url)) words.push('--globoff');
  // curl drops a field that has a colon and no value; one with a semicolon is sent empty.
  for (const [name, value] of headers)
    words.push('-H', shellQuote(value === '' ? `${name};` : `${name}: ${value}`));
  if (content !== undefined) {
    const hasType = headers.some(([name]) => name.toLowerCase() === 'content-type');
    if (!hasType) words.push('-H', shellQuote(`Content-Type: ${guessType(content)}`));
    words.push('--data-binary', shellQuote(`@${text('--content')}`));
  }
  return [...words, shellQuote(url)].join(' ');
}

/** The longest part that is shown as a whole, in characters. */
const longestShown = 1000;

/** Returns the parts of a message, one per line. Literal text is in quotes. */
function formatParts(scheme: string, parts: readonly NamedPart[]): readonly string[] {
  if (parts.length === 0) return [`The scheme ${scheme} signs no message: it sends the secret itself.`];
  const width = Math.max(...parts.map(({ name }) => name.length || literalName.length));
  const lines = parts.map(({ name, value }) =>
    name === ''
      ? `  ${literalName.padEnd(width)}  ${JSON.stringify(formatValue(value))}`
      : `  ${name.padEnd(width)}  ${formatValue(value)}`,
  );
  // Escaped before it is trimmed, so that a line break at the end of a value is shown.
  return [`The scheme ${scheme} signs:`, ...lines.map((line) => escapeInvisible(line).trimEnd())];
}

const literalName = '(text)';

/** Returns a value as text, shortened; of other content its length and digest. */
function formatValue(value: string | Uint8Array): string {
  const bytes = typeof value === 'string' ? bytesOf(value) : Buffer.from(value);
  if (!isUtf8(bytes)) {
    const digest = createHash('sha256').update(bytes).digest('hex');
    return `${bytes.length} bytes that are not UTF-8, SHA-256 ${digest}`;
  }
  const text = bytes.toString('utf8');
  return text.length <= longestShown ? text : `${text.slice(0, longestShown)}… (${bytes.length} bytes)`;
}
