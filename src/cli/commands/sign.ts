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

/** The arguments of `countersign sign`. */
interface SignArguments {
  readonly method: string;
  /** The URL to send the request to: the given one, unless it must be normalized. */
  readonly url: string;
  /** The path and query of the URL. */
  readonly target: string;
  /** Whether the URL differs from the given one. */
  readonly isNormalized: boolean;
  readonly user: string;
  readonly form: 'full' | 'simple';
  readonly date: string | undefined;
  readonly nonce: string | undefined;
  /** The path of the content, or `-` for standard input. */
  readonly content: string | undefined;
  readonly curl: boolean;
}

/** Runs `countersign sign METHOD URL --user NAME`: prints the headers that sign a request. Returns the exit status. */
export async function sign(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  try {
    const request = parseArguments(argv);
    const secret = await secretFrom(environment, terminal, request.content === '-');
    const content = request.content === undefined ? undefined : await contentOf(request.content, terminal);
    const headers = headersOf(request, secret, content);
    terminal.stdout.write(
      request.curl ? `${curlCommand(request, headers, content)}\n` : headerLines(headers),
    );
    if (!request.curl) warnNormalized(request, terminal);
    return 0;
  } catch (error) {
    return reportError(error, terminal);
  }
}

function parseArguments(argv: readonly string[]): SignArguments {
  if (argv.some((argument) => /^--secret(=|$)/.test(argument))) {
    throw new CommandError([
      'the secret cannot be an argument, which other users of this host can read: use COUNTERSIGN_SECRET',
    ]);
  }
  const { flags: given, words, faults: flagFaults } = readArguments(argv, flags);
  if (flagFaults.length > 0) throw new CommandError(flagFaults);
  const faults: string[] = [];
  const text = (name: string): string | undefined => {
    const value = given.get(name);
    return typeof value === 'string' ? value : undefined;
  };
  const isOn = (name: string): boolean => {
    if (text(name) !== undefined) faults.push(`${name} takes no value`);
    return given.has(name);
  };
  const [form, curl] = [isOn('--simple') ? 'simple' : 'full', isOn('--curl')] as const;
  const [method, url] = [methodOf(words[0], faults), urlOf(words[1], faults)];
  if (words.length !== 2)
    faults.push('sign requires a method and a URL: countersign sign METHOD URL --user NAME');
  const user = text('--user');
  if (!given.has('--user')) faults.push('--user NAME is required');
  for (const name of form === 'simple' ? ['--date', '--nonce'] : []) {
    if (given.has(name)) faults.push(`${name} cannot be used with --simple`);
  }
  if (faults.length > 0 || url === undefined || user === undefined) throw new CommandError(faults);
  return {
    method,
    ...requestUrlOf(url, words[1] ?? ''),
    user,
    form,
    curl,
    date: text('--date'),
    nonce: text('--nonce'),
    content: text('--content'),
  };
}

// RFC 9110 §9.1: a method is a token.
function methodOf(text: string | undefined, faults: string[]): string {
  if (text !== undefined && !/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(text)) {
    faults.push(`${JSON.stringify(text)} is not a valid method`);
  }
  return text ?? '';
}

function urlOf(text: string | undefined, faults: string[]): URL | undefined {
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

function headersOf(
  request: SignArguments,
  secret: string,
  content: Uint8Array | undefined,
): [string, string][] {
  const { method, url, target, user, form, date, nonce } = request;
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
    // Each character of a field value is one octet. Decoding it here avoids that printing encodes it twice.
    return Object.entries(headers).map(([name, value]) => [
      name,
      Buffer.from(value, 'latin1').toString('utf8'),
    ]);
  } catch (error) {
    if (error instanceof RangeError) throw new CommandError([error.message]);
    throw error;
  }
}

/** Warns that the signature is for the normalized URL. The server rejects it for the given one. */
function warnNormalized({ url, isNormalized }: SignArguments, { stderr }: Terminal): void {
  if (isNormalized)
    stderr.write(`countersign: the signature is for ${url}; send the request to exactly this URL\n`);
}

/** Normalizes the URL if curl would not send it unchanged: if it has dot segments or characters other than visible ASCII. */
function requestUrlOf(url: URL, text: string): Pick<SignArguments, 'url' | 'target' | 'isNormalized'> {
  const given = text.replace(/^[^:]*:\/\/[^/?#]*/, '').replace(/#.*$/s, '');
  const target = given.startsWith('/') ? given : `/${given}`;
  const isSentUnchanged = /^[!-~]*$/.test(target) && !/\/(?:\.|%2e){1,2}(?:[/?]|$)/i.test(target);
  if (isSentUnchanged) return { url: url.origin + target, target, isNormalized: false };
  return { url: url.href, target: url.pathname + url.search, isNormalized: true };
}

function headerLines(headers: readonly [string, string][]): string {
  return headers.map(([name, value]) => `${name}: ${value}\n`).join('');
}

function curlCommand(
  request: SignArguments,
  headers: readonly [string, string][],
  content: Uint8Array | undefined,
): string {
  const { method, url } = request;
  const words = ['curl'];
  if (method === 'HEAD') words.push('--head');
  else if (method !== 'GET' || content !== undefined) words.push('-X', shellQuote(method));
  // Without this option, curl expands brackets and braces in a URL.
  if (/[[\]{}]/.test(url)) words.push('--globoff');
  for (const [name, value] of headers) words.push('-H', shellQuote(`${name}: ${value}`));
  if (content !== undefined) {
    words.push(
      '-H',
      shellQuote(`Content-Type: ${typeOf(content)}`),
      '--data-binary',
      shellQuote(`@${request.content}`),
    );
  }
  return [...words, shellQuote(url)].join(' ');
}

/** Guesses the media type of the content. Without one, curl sends that of a form. */
function typeOf(content: Uint8Array): string {
  const start = Buffer.from(content.subarray(0, 64)).toString('utf8').trimStart();
  if (start.startsWith('<')) return 'application/xml';
  return /^[[{"]/.test(start) ? 'application/json' : 'application/octet-stream';
}
