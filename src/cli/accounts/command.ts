import { existsSync } from 'node:fs';
import type { Roster } from '../../accounts/account-file.ts';
import type { Seal } from '../../accounts/secret-box.ts';
import { waitForUse } from '../../accounts/watcher.ts';
import { hint, printable } from '../../options/flags.ts';
import { type Options, readOptions } from '../../options/options.ts';
import { refuseExposed } from '../../store/files/file-permissions.ts';
import { Refusal } from '../errors.ts';
import type { Outlet, Terminal } from '../terminal.ts';
import { changeRoster } from './change.ts';
import { readSeal } from './secret-box-key.ts';

/** Flags that say which data directory, and what goes with it. */
export const placeFlags = [
  ['--data', 'value'],
  ['--key-file', 'value'],
  ['--config', 'value'],
] as const;

/** Which data directory, and what its secrets are sealed with. */
export interface Place {
  readonly options: Options;
  readonly seal: Seal | undefined;
}

/** Who on a roster of which place is meant. */
export interface Entrant<T> extends Place {
  readonly roster: Roster<T>;
  readonly name: string;
}

/** What `placeFlags` and the environment say. Throws OptionsError, or Refusal for a key that cannot be used. */
export function placeOf(given: ReadonlyMap<string, string | true>, environment: NodeJS.ProcessEnv): Place {
  const words = placeFlags.flatMap(([flag]) => (given.has(flag) ? [`${flag}=${given.get(flag)}`] : []));
  const options = readOptions(words, environment);
  return { options, seal: readSeal(options, environment) };
}

/** That a word is none of the actions; `example` shows a command. */
export function unknownAction(word: string, actions: readonly string[], example: string): string {
  if (word === '') return `one of ${actions.join(', ')} is needed: ${example}`;
  return `${JSON.stringify(printable(word))} is not one of ${actions.join(', ')}${hint(word, actions)}`;
}

/** Puts somebody new on the roster, and gives the file's new mark. Throws Refusal where there is one of that name; `instead` says what to do then. */
export async function addEntry<T>(
  { roster, name, options, seal }: Entrant<T>,
  entry: T,
  instead: string,
): Promise<string | undefined> {
  return changeRoster(roster, options.data, seal, (entries) => {
    const same = [...entries.keys()].find((each) => each.normalize('NFC') === name.normalize('NFC'));
    if (same !== undefined) throw new Refusal([`there is a ${roster.one} ${same} already; ${instead}`], 1);
    entries.set(name, entry);
  });
}

/** Puts what `change` gives in the place of an entry that there is; undefined removes it. Gives the file's new mark. */
export async function changeExisting<T>(
  entrant: Entrant<T>,
  change: (entry: T) => T | undefined,
): Promise<string | undefined> {
  const { roster, name, options, seal } = entrant;
  refuseConfigured(entrant);
  // Before anything is made: a directory with no such entry may be a misspelt one.
  existing(await readKept(entrant), entrant);
  return changeRoster(roster, options.data, seal, (entries) => {
    const changed = change(existing(entries, entrant));
    if (changed === undefined) entries.delete(name);
    else entries.set(name, changed);
  });
}

/** Takes an entry off the roster, and tells of it. Throws Refusal where there is no such. */
export async function removeEntry<T>(entrant: Entrant<T>, terminal: Terminal): Promise<void> {
  const mark = await changeExisting(entrant, () => undefined);
  tell([`removed   ${entrant.name}`], terminal.stdout);
  await tellUse(entrant, mark, terminal);
}

/** The entries in the data directory; none where there is no such directory. */
export async function readKept<T>({
  roster,
  options: { data },
  seal,
}: Omit<Entrant<T>, 'name'>): Promise<ReadonlyMap<string, T>> {
  if (existsSync(data)) refuseExposed(data);
  return (await roster.read(data, { seal })).entries;
}

function existing<T>(entries: ReadonlyMap<string, T>, { roster, name }: Entrant<T>): T {
  const found = entries.get(name);
  if (found !== undefined) return found;
  throw new Refusal([`there is no ${roster.one} ${name}${hint(name, [...entries.keys()])}`], 1);
}

/** Throws Refusal for one that the configuration file has: no command changes that. */
export function refuseConfigured<T>({ roster, name, options }: Entrant<T>): void {
  if (options[roster.name].has(name))
    throw new Refusal([`the ${roster.one} ${name} is in ${options.config}, and is changed there`], 1);
}

/** Says from when on a change counts: where a server runs that is at once, and waited for. */
export async function tellUse(
  { roster, options: { data } }: Pick<Entrant<never>, 'options'> & { roster: Pick<Roster<unknown>, 'name'> },
  mark: string | undefined,
  { stderr }: Terminal,
): Promise<void> {
  const { pid, seen } = await waitForUse(roster, data, mark);
  if (pid === undefined) tell([`no server runs on ${data}; one that starts reads this`], stderr);
  else if (seen) tell([`the server that runs on ${data}, process ${pid}, goes by this now`], stderr);
  else tell([`process ${pid}, which has ${data}, has not read this yet; its next start does`], stderr);
}

/** Writes lines. */
export function tell(lines: readonly string[], where: Outlet): void {
  for (const line of lines) where.write(`${line}\n`);
}
