import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { AccountFile } from '../../accounts/account-file.ts';
import type { RegistrationFault } from '../../accounts/registration.ts';
import { systemClock } from '../../clock.ts';
import { toPrintable } from '../../options/flags.ts';
import type { Options } from '../../options/options.ts';
import { errorCode } from '../../store/files/disk.ts';
import type { CommandFlag } from '../command-table.ts';
import { CommandError } from '../errors.ts';
import { printLines, type Terminal } from '../terminal.ts';
import { type AccountCall, createAccountCommand, type GivenFlags } from './account-command.ts';
import {
  type AccountTarget,
  addEntry,
  changeExisting,
  checkNotConfigured,
  findExisting,
  placeName,
  readEntries,
  removeEntry,
  reportChange,
} from './command.ts';
import { generateSecret } from './credentials.ts';
import { readFromInput, secretFlag } from './secret-input.ts';
import { checkSecretUnused } from './secret-owner.ts';

/** The input of `add`. */
export interface RegistrationInput extends GivenFlags {
  /** The given secret; undefined if one must be generated. */
  readonly secret: string | undefined;
}

/** The result of `add`. */
export interface NewRegistration<T> {
  readonly entry: T;
  /** The text to print for the secret; undefined if there is no secret. */
  readonly shownSecret: string | undefined;
}

/** A kind of OAuth registration: clients or consumers. */
export interface RegistrationKind<T> {
  readonly accountFile: AccountFile<T>;
  /** Returns the registrations of the configuration file. */
  configured(options: Options): ReadonlyMap<string, T>;
  /** The placeholder of the name in messages: `ID` or `KEY`. */
  readonly label: string;
  /** The options of the command. */
  readonly flags: readonly CommandFlag[];
  /** The flags of `add`, and the member of a registration that each sets. */
  readonly members: ReadonlyMap<string, string>;
  /** Creates a registration. Throws CommandError. */
  create(name: string, input: RegistrationInput, options: Options): Promise<NewRegistration<T>>;
  /** Returns a registration with another secret. Throws CommandError if it has none, or if the new one is not valid. */
  rotate(name: string, entry: T, secret: ChosenSecret): Promise<T>;
  /** Returns a description on one line, without the secret. */
  describe(entry: T): string;
}

/** Returns the command `countersign client` or `countersign consumer`. */
export function createRegistrationCommand<T extends object>(kind: RegistrationKind<T>) {
  const { accountFile, label, flags } = kind;
  return createAccountCommand<T, GivenFlags>({
    accountFile,
    command: `countersign ${accountFile.one}`,
    label,
    example: `countersign ${accountFile.one} add ${label}`,
    flags,
    actions: {
      add: { name: 'generated', run: (call, terminal) => add(kind, call, terminal) },
      rotate: { name: 'required', run: (call, terminal) => rotate(kind, call, terminal) },
      remove: { name: 'required', run: removeEntry },
      list: { name: 'none', run: (call, terminal) => list(kind, call, terminal) },
    },
    generateName: () => generateSecret(randomBytes),
    readInput: (_, given) => given,
  });
}

type RegistrationCall<T> = AccountCall<T, GivenFlags>;

/** Reads the secret from standard input if the option is given. */
async function readSecret({ flags }: GivenFlags, terminal: Terminal): Promise<string | undefined> {
  return flags.has(secretFlag) ? readFromInput(terminal, 'secret') : undefined;
}

/** Replaces the secret of a registration. Its tokens remain valid. */
async function rotate<T extends object>(
  kind: RegistrationKind<T>,
  target: RegistrationCall<T>,
  terminal: Terminal,
): Promise<void> {
  const { name } = target;
  const given = await readSecret(target.input, terminal);
  const before = await findExisting(target);
  const secret = chooseSecret({ secret: given });
  const rotated = await kind.rotate(name, before, secret);
  if (given !== undefined) await checkSecretUnused(given, target);
  const mark = await changeExisting(target, (entry) => {
    if (!isDeepStrictEqual(entry, before))
      throw new CommandError([`the ${kind.accountFile.one} ${name} was changed meanwhile; try again`], 1);
    return rotated;
  });
  const lines = [`${kind.accountFile.one.padEnd(9)} ${name}`, `secret    ${secret.shown}`];
  await reportChange(target, mark, { lines, notes: ['the old secret is no longer valid'] }, terminal);
}

async function add<T extends object>(
  kind: RegistrationKind<T>,
  target: RegistrationCall<T>,
  terminal: Terminal,
): Promise<void> {
  const input = { ...target.input, secret: await readSecret(target.input, terminal) };
  checkNotConfigured(target);
  const { entry, shownSecret } = await kind.create(target.name, input, target.options);
  if (input.secret !== undefined) await checkSecretUnused(input.secret, target);
  const mark = await addEntry(target, { ...entry, since: systemClock.now() }, 'remove it first');
  const shown = shownSecret === undefined ? [] : [`secret    ${shownSecret}`];
  const lines = [`${kind.accountFile.one.padEnd(9)} ${target.name}`, ...shown];
  await reportChange(target, mark, { lines }, terminal);
}

async function list<T>(
  kind: RegistrationKind<T>,
  target: AccountTarget<T>,
  terminal: Terminal,
): Promise<void> {
  const { accountFile, options } = target;
  const configured = kind.configured(options);
  const lines = [...configured].map(
    ([name, entry]) => `${name}  ${kind.describe(entry)}; in ${options.config}`,
  );
  for (const [name, entry] of await readEntries(target)) {
    const override = configured.has(name) ? `; overridden by ${options.config}` : '';
    lines.push(`${name}  ${kind.describe(entry)}${override}`);
  }
  if (lines.length === 0)
    printLines([`there are no ${accountFile.name} in ${placeName(target)}`], terminal.stderr);
  printLines(lines, terminal.stdout);
}

/** The secret of a new registration. */
export interface ChosenSecret {
  readonly text: string;
  /** Whether it was generated, and not given by the user. */
  readonly isGenerated: boolean;
  /** The text to print for it: a given secret is not printed. */
  readonly shown: string;
}

/** Returns the given secret, or generates one. */
export function chooseSecret({ secret }: Pick<RegistrationInput, 'secret'>): ChosenSecret {
  if (secret !== undefined) return { text: secret, isGenerated: false, shown: 'the given secret' };
  const text = generateSecret(randomBytes);
  return { text, isGenerated: true, shown: text };
}

/** The input of an action without options. */
export const noInput: RegistrationInput = { flags: new Map(), lists: new Map(), secret: undefined };

/** Returns the content of a file with a public key, without white space around it. */
export function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'latin1').trim();
  } catch (error) {
    throw new CommandError([`${path} cannot be read (${errorCode(error) ?? 'unknown'})`], 1);
  }
}

/** Returns the members of a registration that the flags set. */
export function readMembers(
  { members: own }: Pick<RegistrationKind<never>, 'members'>,
  { flags, lists }: RegistrationInput,
): Record<string, unknown> {
  const members = [...own].map(([flag, member]) => [member, lists.get(flag) ?? flags.get(flag)]);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

/** Returns the users of `--users`: `*` alone stands for all. */
export function readUsers(users: unknown): unknown {
  return Array.isArray(users) && users.length === 1 && users[0] === '*' ? '*' : users;
}

/** Throws a CommandError that describes the faults, if any, in terms of the flags. */
export function throwFaults(
  {
    accountFile,
    members: own,
  }: Pick<RegistrationKind<never>, 'members'> & { accountFile: { readonly one: string } },
  name: string,
  input: RegistrationInput,
  faults: readonly RegistrationFault[],
): void {
  if (faults.length === 0) return;
  const sentences = faults.map(({ at, says }) => {
    const [, member = '', index] = /^([A-Za-z]+)(?:\[([0-9]+)\])?$/.exec(at) ?? [];
    const flag = [...own].find(([, each]) => each === member)?.[0];
    if (flag === undefined)
      return member === '' ? `the ${accountFile.one} ${toPrintable(name)} ${says}` : `the ${member} ${says}`;
    const value = input.lists.get(flag)?.[Number(index)];
    return `${flag}${value === undefined ? '' : ` ${toPrintable(JSON.stringify(value))}`} ${says}`;
  });
  throw new CommandError(sentences);
}
