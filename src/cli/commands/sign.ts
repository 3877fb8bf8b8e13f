import { readFile } from 'node:fs/promises';
import { signRequest } from '../../client/sign.ts';
import { readArguments } from '../../options/flags.ts';
import { secretFrom, wholeInput } from '../accounts/secret-input.ts';
import { CommandError, reportError } from '../errors.ts';
import { shellQuote } from '../shell-quote.ts';
import type { Terminal } from '../terminal.ts';

const flags = new Map([
  ['--user', 'value'],
  ['--simple', 'toggle'],
  ['--date', 'value'],
  ['--nonce', 'value'],
  ['--content', 'value'],
  ['--curl', 'toggle'],
] as const);

/** What the command line asks to be signed. */
interface Order {
  readonly method: string;
  /** The URL as it is to be sent: as it was given, where that can be sent as it is. */
  readonly url: string;
  /** Path and query of it. */
  readonly target: string;
  /** Whether it had to be written in another way. */
  readonly rewritten: boolean;
  readonly user: string;
  readonly form: 'full' | 'simple';
  readonly date: string | undefined;
  readonly nonce: string | undefined;
  /** A file's path, `-`, or nothing. */
  readonly content: string | undefined;
  readonly curl: boolean;
}

/** `countersign sign METHOD URL --user NAME`: prints what signs the request. Gives the exit status. */
export async function sign(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  try {
    const order = readOrder(argv);
    const secret = await secretFrom(environment, terminal, order.content === '-');
    const content = order.content === undefined ? undefined : await contentOf(order.content, terminal);
    const headers = headersOf(order, secret, content);
    terminal.stdout.write(order.curl ? `${curlCommand(order, headers, content)}\n` : headerLines(headers));
    if (!order.curl) tellRewritten(order, terminal);
    return 0;
  } catch (error) {
    return reportError(error, terminal);
  }
}

function readOrder(argv: readonly string[]): Order {
  if (argv.some((argument) => /^--secret(=|$)/.test(argument))) {
    throw new CommandError([
      'a secret is never an argument, where others on this host can read it: use COUNTERSIGN_SECRET',
    ]);
  }
  const { flags: given, words, faults } = readArguments(argv, flags);
  if (faults.length > 0) throw new CommandError(faults);
  const found: string[] = [];
  const text = (name: string): string | undefined => {
    const value = given.get(name);
    return typeof value === 'string' ? value : undefined;
  };
  const on = (name: string): boolean => {
    if (text(name) !== undefined) found.push(`${name} takes no value`);
    return given.has(name);
  };
  const [form, curl] = [on('--simple') ? 'simple' : 'full', on('--curl')] as const;
  const [method, url] = [methodOf(words[0], found), urlOf(words[1], found)];
  if (words.length !== 2)
    found.push('a method and a URL are needed: countersign sign METHOD URL --user NAME');
  const user = text('--user');
  if (!given.has('--user')) found.push('--user NAME is needed: who signs');
  for (const name of form === 'simple' ? ['--date', '--nonce'] : []) {
    if (given.has(name)) found.push(`${name} has no place in the simple form`);
  }
  if (found.length > 0 || url === undefined || user === undefined) throw new CommandError(found);
  return {
    method,
    ...sentAs(url, words[1] ?? ''),
    user,
    form,
    curl,
    date: text('--date'),
    nonce: text('--nonce'),
    content: text('--content'),
  };
}

// RFC 9110 §9.1: a method is a token.
function methodOf(text: string | undefined, found: string[]): string {
  if (text !== undefined && !/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(text)) {
    found.push(`${JSON.stringify(text)} is not a method`);
  }
  return text ?? '';
}

function urlOf(text: string | undefined, found: string[]): URL | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    found.push(`${JSON.stringify(text)} is not a URL such as http://127.0.0.1:8080/articles`);
    return undefined;
  }
  if (url.username !== '' || url.password !== '')
    found.push('a URL with a user or a password in it is not signed');
  url.hash = '';
  return url;
}

async function contentOf(path: string, terminal: Terminal): Promise<Uint8Array> {
  try {
    return path === '-' ? await wholeInput(terminal) : await readFile(path);
  } catch (error) {
    throw new CommandError(
      [`the content cannot be read: ${error instanceof Error ? error.message : path}`],
      1,
    );
  }
}

function headersOf(order: Order, secret: string, content: Uint8Array | undefined): [string, string][] {
  const { method, url, target, user, form, date, nonce } = order;
  try {
    const headers = signRequest({
      method,
      url,
      target,
      user,
      secret,
      form,
      ...(date === undefined ? {} : { date }),
      ...(nonce === undefined ? {} : { nonce }),
      ...(content === undefined ? {} : { content }),
    });
    // A field's characters are octets there; what is printed is encoded as UTF-8 once more otherwise.
    return Object.entries(headers).map(([name, value]) => [
      name,
      Buffer.from(value, 'latin1').toString('utf8'),
    ]);
  } catch (error) {
    if (error instanceof RangeError) throw new CommandError([error.message]);
    throw error;
  }
}

/** A URL that is sent as it was given, and not as it was signed, is refused: better told now. */
function tellRewritten({ url, rewritten }: Order, { stderr }: Terminal): void {
  if (rewritten) stderr.write(`countersign: signed for ${url}, which is how it must be sent\n`);
}

/** curl sends what it is given but for dot segments, which it resolves; only visible ASCII is sent as it is. */
function sentAs(url: URL, written: string): Pick<Order, 'url' | 'target' | 'rewritten'> {
  const given = written.replace(/^[^:]*:\/\/[^/?#]*/, '').replace(/#.*$/s, '');
  const target = given.startsWith('/') ? given : `/${given}`;
  const asGiven = /^[!-~]*$/.test(target) && !/\/(?:\.|%2e){1,2}(?:[/?]|$)/i.test(target);
  if (asGiven) return { url: url.origin + target, target, rewritten: false };
  return { url: url.href, target: url.pathname + url.search, rewritten: true };
}

function headerLines(headers: readonly [string, string][]): string {
  return headers.map(([name, value]) => `${name}: ${value}\n`).join('');
}

function curlCommand(
  order: Order,
  headers: readonly [string, string][],
  content: Uint8Array | undefined,
): string {
  const { method, url } = order;
  const words = ['curl'];
  if (method === 'HEAD') words.push('--head');
  else if (method !== 'GET' || content !== undefined) words.push('-X', shellQuote(method));
  // Brackets and braces in a URL are patterns to curl, unless it is told otherwise.
  if (/[[\]{}]/.test(url)) words.push('--globoff');
  for (const [name, value] of headers) words.push('-H', shellQuote(`${name}: ${value}`));
  if (content !== undefined) {
    words.push(
      '-H',
      shellQuote(`Content-Type: ${typeOf(content)}`),
      '--data-binary',
      shellQuote(`@${order.content}`),
    );
  }
  return [...words, shellQuote(url)].join(' ');
}

/** The media type that the content looks like; curl would call it a form otherwise. */
function typeOf(content: Uint8Array): string {
  const start = Buffer.from(content.subarray(0, 64)).toString('utf8').trimStart();
  if (start.startsWith('<')) return 'application/xml';
  return /^[[{"]/.test(start) ? 'application/json' : 'application/octet-stream';
}
