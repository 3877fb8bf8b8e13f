import { existsSync } from 'node:fs';
import type { AccountFile } from '../../accounts/account-file.ts';
import type { SecretBox } from '../../accounts/secret-box.ts';
import type { AccountFileName, AccountPlace } from '../../accounts/stored-file.ts';
import { waitForUsage } from '../../accounts/watcher.ts';
import { hint } from '../../options/flags.ts';
import { type Options, readOptions } from '../../options/options.ts';
import type { UserDeclaration } from '../../service/options.ts';
import { checkPermissions } from '../../store/files/file-permissions.ts';
import { CommandError } from '../errors.ts';
import { printLines, type Terminal } from '../terminal.ts';
import { withModule } from '../with-module.ts';
import { actAsOwner } from './protected-file.ts';
import { readSecretBox } from './secret-box-key.ts';

/** The flags that select the location of the accounts and their key, and how mismatches are treated. */
const locationFlags = ['--data', '--module', '--key-file', '--config', '--on-mismatch'];

/** The location of the accounts and the encryption of their secrets. */
export interface AccountLocation {
  readonly options: Options;
  readonly secretBox: SecretBox | undefined;
  readonly place: AccountPlace;
  /** The users that the module of `--module` declares. */
  readonly moduleUsers: ReadonlyMap<string, UserDeclaration>;
}

/** The account that a command refers to. It does not have to exist. */
export interface AccountTarget<T> extends AccountLocation {
  readonly accountFile: AccountFile<T>;
  readonly name: string;
}

/**
 * Reads `locationFlags` and the environment. The location is a data directory: `withAccounts` loads the module.
 *
 * @throws OptionsError, or CommandError for an invalid key
 */
export function readLocation(
  given: ReadonlyMap<string, string | true>,
  environment: NodeJS.ProcessEnv,
): AccountLocation {
  const words = locationFlags.flatMap((flag) => (given.has(flag) ? [`${flag}=${given.get(flag)}`] : []));
  const options = readOptions(words, environment);
  const secretBox = readSecretBox(options, environment);
  return { options, secretBox, place: options.data, moduleUsers: new Map() };
}

/**
 * Runs a command at the location of the accounts: in the documents of the module, if its store has some, or else in the data
 * directory.
 *
 * @throws CommandError if the module cannot be loaded, or if it has a store without documents
 */
export async function withAccounts<Location extends AccountLocation>(
  location: Location,
  environment: NodeJS.ProcessEnv,
  run: (location: Location) => Promise<void>,
): Promise<void> {
  const { options } = location;
  await withModule(options, environment, async (module) => {
    if (module?.store === undefined) {
      actAsOwner(options.data);
      return run(module === undefined ? location : { ...location, moduleUsers: module.users });
    }
    const { documents } = module.store;
    if (documents === undefined)
      throw new CommandError(
        [`the store of ${module.file} has no documents, so its accounts are declared in the configuration`],
        1,
      );
    return run({ ...location, place: documents, moduleUsers: module.users });
  });
}

/** Returns the name of the location in messages. */
export function placeName({ place }: Pick<AccountLocation, 'place'>): string {
  return typeof place === 'string' ? place : place.location;
}

/** What an action prints, and the version of the account file after a change. */
export interface Report {
  /** For standard output: texts by their labels, before the lines. Default: none. */
  readonly shown?: Readonly<Record<string, string>>;
  /** For standard output. Default: none. */
  readonly lines?: readonly string[] | undefined;
  /** For standard error. Default: none. */
  readonly notes?: readonly string[];
  /** The version that a running server is to apply; undefined if nothing was changed. */
  readonly mark?: string | undefined;
}

/** A changed account, and what to print. */
export interface Changed<T> extends Omit<Report, 'mark'> {
  /** Undefined if the account is removed. */
  readonly entry: T | undefined;
}

/**
 * Adds an account and returns the new mark of the file.
 *
 * @param instead what to do if the account exists, for the message of the CommandError
 * @param check checks the other accounts; if it throws, nothing is added
 */
export async function addEntry<T>(
  { accountFile, name, place, secretBox }: AccountTarget<T>,
  entry: T,
  instead: string,
  check: (entries: ReadonlyMap<string, T>) => void = () => {},
): Promise<string | undefined> {
  return accountFile.change(place, secretBox, (entries) => {
    check(entries);
    const same = [...entries.keys()].find((each) => each.normalize('NFC') === name.normalize('NFC'));
    if (same !== undefined)
      throw new CommandError([`the ${accountFile.one} ${same} already exists; ${instead}`], 1);
    entries.set(name, entry);
  });
}

/**
 * Replaces an account by the result of `change`, or removes it if that has no entry. Returns what to print.
 *
 * @throws CommandError if the account does not exist or is declared in the configuration file
 */
export async function changeExisting<T>(
  target: AccountTarget<T>,
  change: (entry: T, all: ReadonlyMap<string, T>) => Changed<T>,
): Promise<Report> {
  const { accountFile, name, place, secretBox } = target;
  // Checked before the directory is created, because its path may be misspelt.
  await findExisting(target);
  let report: Report = {};
  const mark = await accountFile.change(place, secretBox, (entries) => {
    const { entry, ...printed } = change(requireExisting(entries, target), entries);
    report = printed;
    if (entry === undefined) entries.delete(name);
    else entries.set(name, entry);
  });
  return { ...report, mark };
}

/** Returns an account. Throws CommandError if it does not exist or is declared in the configuration file. */
export async function findExisting<T>(target: AccountTarget<T>): Promise<T> {
  checkNotConfigured(target);
  return requireExisting(await readEntries(target), target);
}

/** Throws FilePermissionsError if other users can access the data directory of accounts, if there is one. */
export function checkPlace(place: AccountPlace): void {
  if (typeof place === 'string' && existsSync(place)) checkPermissions(place);
}

/** Reads the stored accounts. Returns none if the directory does not exist. */
export async function readEntries<T>({
  accountFile,
  place,
  secretBox,
}: Omit<AccountTarget<T>, 'name'>): Promise<ReadonlyMap<string, T>> {
  checkPlace(place);
  return (await accountFile.read(place, { secretBox })).entries;
}

function requireExisting<T>(entries: ReadonlyMap<string, T>, target: AccountTarget<T>): T {
  const { accountFile, name, options } = target;
  const found = entries.get(name);
  if (found !== undefined) return found;
  const meant = hint(name, [...entries.keys()]);
  // Without --config, the accounts of the configuration file are not known.
  const elsewhere =
    meant === '' && options.config === undefined && !isNeverConfigured(accountFile.name)
      ? ` in ${placeName(target)}; if a configuration file declares it, change it there`
      : '';
  throw new CommandError([`there is no ${accountFile.one} ${name}${meant}${elsewhere}`], 1);
}

/** Returns whether a configuration file cannot contain entries of a file. */
function isNeverConfigured(file: AccountFileName): file is 'revocations' | 'keys' {
  return file === 'revocations' || file === 'keys';
}

/** Throws CommandError if the account is declared in the configuration file or the module, which no command changes. */
export function checkNotConfigured<T>({ accountFile, name, options, moduleUsers }: AccountTarget<T>): void {
  const { name: file } = accountFile;
  if (isNeverConfigured(file)) return;
  const isOfModule = file === 'users' && moduleUsers.has(name);
  if (!isOfModule && !options[file].has(name)) return;
  const declaredIn = isOfModule ? options.module : options.config;
  throw new CommandError([`the ${accountFile.one} ${name} is declared in ${declaredIn}; change it there`], 1);
}

/**
 * Waits until a running server has applied the change, for a limited time, and reports whether it has. The servers that share
 * documents are not known.
 */
export async function reportUsage<T>(
  { accountFile, place: data }: AccountTarget<T>,
  mark: string,
  { stderr }: Terminal,
): Promise<void> {
  if (typeof data !== 'string') {
    printLines([`stored in ${data.location}; its servers apply the change within a second`], stderr);
    return;
  }
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
