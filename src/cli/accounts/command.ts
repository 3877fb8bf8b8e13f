import { existsSync } from 'node:fs';
import type { AccountFile } from '../../accounts/account-file.ts';
import type { SecretBox } from '../../accounts/secret-box.ts';
import { waitForUsage } from '../../accounts/watcher.ts';
import { hint, printable } from '../../options/flags.ts';
import { type Options, readOptions } from '../../options/options.ts';
import { checkPermissions } from '../../store/files/file-permissions.ts';
import { CommandError } from '../errors.ts';
import type { Outlet, Terminal } from '../terminal.ts';
import { changeAccountFile } from './change.ts';
import { readSecretBox } from './secret-box-key.ts';

/** The flags that select a data directory and its key. */
export const locationFlags = [
  ['--data', 'value'],
  ['--key-file', 'value'],
  ['--config', 'value'],
] as const;

/** A data directory and the encryption of its secrets. */
export interface AccountLocation {
  readonly options: Options;
  readonly secretBox: SecretBox | undefined;
}

/** The account that a command refers to. It does not have to exist. */
export interface AccountTarget<T> extends AccountLocation {
  readonly accountFile: AccountFile<T>;
  readonly name: string;
}

/** Reads `locationFlags` and the environment. Throws OptionsError, or CommandError for an invalid key. */
export function locationOf(
  given: ReadonlyMap<string, string | true>,
  environment: NodeJS.ProcessEnv,
): AccountLocation {
  const words = locationFlags.flatMap(([flag]) => (given.has(flag) ? [`${flag}=${given.get(flag)}`] : []));
  const options = readOptions(words, environment);
  return { options, secretBox: readSecretBox(options, environment) };
}

/** Returns the error for a missing or unknown action. `example` is a valid command. */
export function unknownAction(word: string, actions: readonly string[], example: string): string {
  const expected = `expected one of ${actions.join(', ')}`;
  if (word === '') return `missing action; ${expected}: ${example}`;
  return `unknown action ${JSON.stringify(printable(word))}; ${expected}${hint(word, actions)}`;
}

/**
 * Adds an account and returns the new mark of the file.
 *
 * @param instead what to do if the account exists, for the message of the CommandError
 */
export async function addEntry<T>(
  { accountFile, name, options, secretBox }: AccountTarget<T>,
  entry: T,
  instead: string,
): Promise<string | undefined> {
  return changeAccountFile(accountFile, options.data, secretBox, (entries) => {
    const same = [...entries.keys()].find((each) => each.normalize('NFC') === name.normalize('NFC'));
    if (same !== undefined)
      throw new CommandError([`the ${accountFile.one} ${same} already exists; ${instead}`], 1);
    entries.set(name, entry);
  });
}

/**
 * Replaces an account by the result of `change`, or removes it if that is undefined. Returns the new mark of the file.
 *
 * @throws CommandError if the account does not exist or is declared in the configuration file
 */
export async function changeExisting<T>(
  target: AccountTarget<T>,
  change: (entry: T) => T | undefined,
): Promise<string | undefined> {
  const { accountFile, name, options, secretBox } = target;
  // Checked before the directory is created, because its path may be misspelt.
  await findExisting(target);
  return changeAccountFile(accountFile, options.data, secretBox, (entries) => {
    const changed = change(existing(entries, target));
    if (changed === undefined) entries.delete(name);
    else entries.set(name, changed);
  });
}

/** Returns an account. Throws CommandError if it does not exist or is declared in the configuration file. */
export async function findExisting<T>(target: AccountTarget<T>): Promise<T> {
  checkNotConfigured(target);
  return existing(await readEntries(target), target);
}

/** Removes an account and reports it. Throws CommandError if it does not exist. */
export async function removeEntry<T>(target: AccountTarget<T>, terminal: Terminal): Promise<void> {
  const mark = await changeExisting(target, () => undefined);
  printLines([`removed   ${target.name}`], terminal.stdout);
  await reportUsage(target, mark, terminal);
}

/** Reads the accounts in the data directory. Returns none if the directory does not exist. */
export async function readEntries<T>({
  accountFile,
  options: { data },
  secretBox,
}: Omit<AccountTarget<T>, 'name'>): Promise<ReadonlyMap<string, T>> {
  if (existsSync(data)) checkPermissions(data);
  return (await accountFile.read(data, { secretBox })).entries;
}

function existing<T>(entries: ReadonlyMap<string, T>, { accountFile, name }: AccountTarget<T>): T {
  const found = entries.get(name);
  if (found !== undefined) return found;
  throw new CommandError([`there is no ${accountFile.one} ${name}${hint(name, [...entries.keys()])}`], 1);
}

/** Throws CommandError if the account is declared in the configuration file, which no command changes. */
export function checkNotConfigured<T>({ accountFile, name, options }: AccountTarget<T>): void {
  if (accountFile.name === 'revocations') return;
  if (options[accountFile.name].has(name))
    throw new CommandError(
      [`the ${accountFile.one} ${name} is declared in ${options.config}; change it there`],
      1,
    );
}

/** Waits until a running server has applied the change, for a limited time, and reports whether it has. */
export async function reportUsage(
  {
    accountFile,
    options: { data },
  }: Pick<AccountTarget<never>, 'options'> & { accountFile: Pick<AccountFile<unknown>, 'name'> },
  mark: string | undefined,
  { stderr }: Terminal,
): Promise<void> {
  const { pid, seen } = await waitForUsage(accountFile, data, mark);
  if (pid === undefined)
    printLines([`no server uses ${data}; the change takes effect at the next start`], stderr);
  else if (seen) printLines([`the server that uses ${data} (process ${pid}) has applied the change`], stderr);
  else
    printLines(
      [`process ${pid}, which uses ${data}, has not applied the change; restart it to apply the change`],
      stderr,
    );
}

/** Writes lines to a stream. */
export function printLines(lines: readonly string[], outlet: Outlet): void {
  for (const line of lines) outlet.write(`${line}\n`);
}
