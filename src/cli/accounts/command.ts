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

/** Flags that say which data directory, and what goes with it. */
export const locationFlags = [
  ['--data', 'value'],
  ['--key-file', 'value'],
  ['--config', 'value'],
] as const;

/** Which data directory, and what its secrets are sealed with. */
export interface AccountLocation {
  readonly options: Options;
  readonly seal: SecretBox | undefined;
}

/** Who on a roster of which place is meant. */
export interface AccountEntry<T> extends AccountLocation {
  readonly roster: AccountFile<T>;
  readonly name: string;
}

/** What `placeFlags` and the environment say. Throws OptionsError, or Refusal for a key that cannot be used. */
export function locationOf(
  given: ReadonlyMap<string, string | true>,
  environment: NodeJS.ProcessEnv,
): AccountLocation {
  const words = locationFlags.flatMap(([flag]) => (given.has(flag) ? [`${flag}=${given.get(flag)}`] : []));
  const options = readOptions(words, environment);
  return { options, seal: readSecretBox(options, environment) };
}

/** That a word is none of the actions; `example` shows a command. */
export function unknownAction(word: string, actions: readonly string[], example: string): string {
  if (word === '') return `one of ${actions.join(', ')} is needed: ${example}`;
  return `${JSON.stringify(printable(word))} is not one of ${actions.join(', ')}${hint(word, actions)}`;
}

/** Puts somebody new on the roster, and gives the file's new mark. Throws Refusal where there is one of that name; `instead` says what to do then. */
export async function addEntry<T>(
  { roster: accountFile, name, options, seal: secretBox }: AccountEntry<T>,
  entry: T,
  instead: string,
): Promise<string | undefined> {
  return changeAccountFile(accountFile, options.data, secretBox, (entries) => {
    const same = [...entries.keys()].find((each) => each.normalize('NFC') === name.normalize('NFC'));
    if (same !== undefined)
      throw new CommandError([`there is a ${accountFile.one} ${same} already; ${instead}`], 1);
    entries.set(name, entry);
  });
}

/** Puts what `change` gives in the place of an entry that there is; undefined removes it. Gives the file's new mark. */
export async function changeExisting<T>(
  entrant: AccountEntry<T>,
  change: (entry: T) => T | undefined,
): Promise<string | undefined> {
  const { roster: accountFile, name, options, seal: secretBox } = entrant;
  refuseConfigured(entrant);
  // Before anything is made: a directory with no such entry may be a misspelt one.
  existing(await readEntry(entrant), entrant);
  return changeAccountFile(accountFile, options.data, secretBox, (entries) => {
    const changed = change(existing(entries, entrant));
    if (changed === undefined) entries.delete(name);
    else entries.set(name, changed);
  });
}

/** Takes an entry off the roster, and tells of it. Throws Refusal where there is no such. */
export async function removeEntry<T>(entrant: AccountEntry<T>, terminal: Terminal): Promise<void> {
  const mark = await changeExisting(entrant, () => undefined);
  printLines([`removed   ${entrant.name}`], terminal.stdout);
  await reportUsage(entrant, mark, terminal);
}

/** The entries in the data directory; none where there is no such directory. */
export async function readEntry<T>({
  roster: accountFile,
  options: { data },
  seal: secretBox,
}: Omit<AccountEntry<T>, 'name'>): Promise<ReadonlyMap<string, T>> {
  if (existsSync(data)) checkPermissions(data);
  return (await accountFile.read(data, { seal: secretBox })).entries;
}

function existing<T>(entries: ReadonlyMap<string, T>, { roster: accountFile, name }: AccountEntry<T>): T {
  const found = entries.get(name);
  if (found !== undefined) return found;
  throw new CommandError([`there is no ${accountFile.one} ${name}${hint(name, [...entries.keys()])}`], 1);
}

/** Throws Refusal for one that the configuration file has: no command changes that. */
export function refuseConfigured<T>({ roster: accountFile, name, options }: AccountEntry<T>): void {
  if (options[accountFile.name].has(name))
    throw new CommandError(
      [`the ${accountFile.one} ${name} is in ${options.config}, and is changed there`],
      1,
    );
}

/** Says from when on a change counts: where a server runs that is at once, and waited for. */
export async function reportUsage(
  {
    roster: accountFile,
    options: { data },
  }: Pick<AccountEntry<never>, 'options'> & { roster: Pick<AccountFile<unknown>, 'name'> },
  mark: string | undefined,
  { stderr }: Terminal,
): Promise<void> {
  const { pid, seen } = await waitForUsage(accountFile, data, mark);
  if (pid === undefined) printLines([`no server runs on ${data}; one that starts reads this`], stderr);
  else if (seen) printLines([`the server that runs on ${data}, process ${pid}, goes by this now`], stderr);
  else printLines([`process ${pid}, which has ${data}, has not read this yet; its next start does`], stderr);
}

/** Writes lines. */
export function printLines(lines: readonly string[], where: Outlet): void {
  for (const line of lines) where.write(`${line}\n`);
}
