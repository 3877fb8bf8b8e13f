import type { AttemptOptions } from '../../attack/create-attempts.ts';
import { createAttempts } from '../../attack/create-attempts.ts';
import { type AttackOptions, attack } from '../../attack/run.ts';
import type { Signer } from '../../attack/signer.ts';
import { createReadSigner, createSigner } from '../../attack/signers.ts';
import { didYouMean } from '../../did-you-mean.ts';
import { isPreset, presets } from '../../schemes/declared/presets.ts';
import { secretFrom } from '../accounts/secret-input.ts';
import { commandTable, parseCommandLine } from '../command-table.ts';
import { CommandError, rethrowAsCommandError } from '../errors.ts';
import { runMasked } from '../mask-secrets.ts';
import {
  addType,
  type Fields,
  parseFields,
  parseMethod,
  parseUrl,
  readContent,
  readText,
} from '../request-arguments.ts';
import { printLines, type Terminal } from '../terminal.ts';

/** The arguments of `countersign attack`. */
interface AttackArguments {
  readonly method: string;
  readonly url: URL;
  readonly content: string | undefined;
  readonly fields: Fields;
  /** The name of a scheme of the configuration file, of a preset, or `hmac`, `basic` or `bearer`. */
  readonly scheme: string;
  /** Returns the value of an option; undefined if it is not given. */
  text(flag: string): string | undefined;
  readonly attempts: AttemptOptions;
  readonly attack: AttackOptions;
}

/**
 * Runs `countersign attack URL`: sends the requests that a server must refuse, and prints the report. Returns the exit status: 0 if the
 * server passes, else 1, and 2 for invalid arguments.
 */
export async function attackServer(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  return runMasked(environment, terminal, async (mask) => {
    const given = parseArguments(argv);
    const signer = await readSigner(given, environment, terminal);
    const body = given.content === undefined ? undefined : await readContent(given.content, terminal);
    const request = { method: given.method, url: given.url, headers: addType(given.fields, body), body };
    const attempts = rethrowAsCommandError(() => createAttempts(request, signer, given.attempts));
    const report = await attack(given.url.origin, attempts, given.attack).catch(toCommandError);
    printLines(await mask(String(report).split('\n')), terminal.stdout);
    return report.passed ? 0 : 1;
  });
}

/** Options of an attack are checked where they are used. */
function toCommandError(error: unknown): never {
  throw error instanceof RangeError ? new CommandError([error.message]) : error;
}

function parseArguments(argv: readonly string[]): AttackArguments {
  const { flags, lists, words, faults: found } = parseCommandLine(commandTable.attack, argv);
  const faults = [...found];
  const text = (name: string) => readText(flags, name);
  if (words.length !== 1) faults.push('attack requires one URL: countersign attack URL --user NAME');
  const [url, content] = [parseUrl(words[0], faults), text('--content')];
  const method = parseMethod(text('--method') ?? (content === undefined ? 'GET' : 'POST'), faults);
  const fields = parseFields(lists.get('--header') ?? [], faults);
  const waive = parseWaivers(lists.get('--waive') ?? [], faults);
  if (faults.length > 0 || url === undefined) throw new CommandError(faults);
  return {
    method,
    url,
    content,
    fields,
    scheme: text('--scheme') ?? 'hmac',
    text,
    attempts: { window: text('--window'), otherUser: text('--other-user'), open: flags.has('--open') },
    attack: { waive, timeout: text('--timeout') },
  };
}

/** Reads waivers such as `future-date=the sender is in our hands`. */
function parseWaivers(lines: readonly string[], faults: string[]): Record<string, string> {
  const pairs = lines.map((line) => /^([^=]+)=(.*)$/s.exec(line));
  if (pairs.includes(null))
    faults.push('--waive requires an id and a reason: --waive "future-date=the reason"');
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']));
}

async function readSigner(
  given: AttackArguments,
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<Signer> {
  const { scheme, text } = given;
  const [user, isInputUsed] = [text('--user'), given.content === '-'];
  if (text('--config') !== undefined && scheme !== 'hmac') {
    const { readConfiguredScheme } = await import('../configured-scheme.ts');
    const read = await readConfiguredScheme({ scheme, user, isInputUsed, text }, environment, terminal);
    return rethrowAsCommandError(() => createReadSigner({ ...read, choices: {} }));
  }
  for (const flag of ['--key-id', '--algorithm'])
    if (text(flag) !== undefined) throw new CommandError([`${flag} requires --config FILE`]);
  const secret = await secretFrom(environment, terminal, isInputUsed);
  return rethrowAsCommandError(() => createSigner(toCredentials(scheme, user, secret)));
}

/** Returns the credentials of a scheme that needs no configuration file. */
function toCredentials(scheme: string, user: string | undefined, secret: string) {
  const known = ['hmac', 'basic', 'bearer', ...Object.keys(presets)];
  if (!known.includes(scheme))
    throw new CommandError([
      `there is no scheme ${JSON.stringify(scheme)} without --config FILE${didYouMean(scheme, known)}`,
    ]);
  if (scheme === 'bearer') return { scheme, token: secret } as const;
  if (isPreset(scheme)) return { scheme: { preset: scheme }, user, secret } as const;
  if (user === undefined) throw new CommandError(['--user NAME is required']);
  return scheme === 'basic'
    ? ({ scheme, user, password: secret } as const)
    : ({ scheme: 'hmac', user, secret } as const);
}
