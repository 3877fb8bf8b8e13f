import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { AccountFile } from '../../accounts/account-file.ts';
import type { RegistrationFault } from '../../accounts/registration.ts';
import { systemClock } from '../../clock.ts';
import { printable, readArguments } from '../../options/flags.ts';
import type { Options } from '../../options/options.ts';
import { CommandError, reportError } from '../errors.ts';
import type { Terminal } from '../terminal.ts';
import {
  type AccountTarget,
  addEntry,
  changeExisting,
  checkNotConfigured,
  findExisting,
  locationFlags,
  locationOf,
  placeName,
  printLines,
  readEntries,
  removeEntry,
  reportUsage,
  unknownAction,
  withAccounts,
} from './command.ts';
import { randomSecret } from './credentials.ts';
import { readFromInput, secretFlag } from './secret-input.ts';
import { checkSecretUnused } from './secret-owner.ts';

/** The input of `add`. */
export interface RegistrationInput {
  readonly flags: ReadonlyMap<string, string | true>;
  readonly lists: ReadonlyMap<string, readonly string[]>;
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
  /** The flags of `add`, and the member of a registration that each sets. */
  readonly flags: ReadonlyMap<
    string,
    { readonly arity: 'value' | 'values' | 'toggle'; readonly member: string }
  >;
  /** Creates a registration. Throws CommandError. */
  create(name: string, input: RegistrationInput): Promise<NewRegistration<T>>;
  /** Returns a registration with another secret. Throws CommandError if it has none, or if the new one is not valid. */
  rotate(name: string, entry: T, secret: ChosenSecret): Promise<T>;
  /** Returns a description on one line, without the secret. */
  describe(entry: T): string;
}

const actions = ['add', 'rotate', 'remove', 'list'] as const;

/** Runs a command and returns its exit status. */
type AccountCommand = (
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
) => Promise<number>;

/** Returns the command `countersign client` or `countersign consumer`, with the actions `add`, `rotate`, `remove` and `list`. */
export function registrationCommand<T extends object>(kind: RegistrationKind<T>): AccountCommand {
  return async (argv, environment, terminal) => {
    try {
      const { action, target: parsed, input } = parseArguments(kind, argv, environment);
      await withAccounts(parsed, environment, async (target) => {
        if (action === 'list') return list(kind, target, terminal);
        if (action === 'remove') return removeEntry(target, terminal);
        const secret = input.flags.has(secretFlag) ? await readFromInput(terminal, 'secret') : undefined;
        if (action === 'rotate') return rotate(kind, target, secret, terminal);
        return add(kind, target, { ...input, secret }, terminal);
      });
      return 0;
    } catch (error) {
      return reportError(error, terminal);
    }
  };
}

/** The parsed command line. */
interface RegistrationArguments<T> {
  readonly action: (typeof actions)[number];
  readonly target: AccountTarget<T>;
  readonly input: Omit<RegistrationInput, 'secret'>;
}

function parseArguments<T>(
  { accountFile, label, flags: own }: RegistrationKind<T>,
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
): RegistrationArguments<T> {
  const addFlags = new Map([...own].map(([flag, { arity }]) => [flag, arity] as const));
  addFlags.set(secretFlag, 'toggle');
  const { flags, lists, words, faults } = readArguments(argv, new Map([...locationFlags, ...addFlags]));
  if (faults.length > 0) throw new CommandError(faults);
  for (const [flag, value] of flags)
    if (addFlags.get(flag) === 'toggle' && value !== true) throw new CommandError([`${flag} takes no value`]);
  const [word = '', name = randomSecret(randomBytes)] = words;
  const action = actions.find((each) => each === word);
  if (action === undefined)
    throw new CommandError([unknownAction(word, actions, `countersign ${accountFile.one} add ${label}`)]);
  if (words.length > 2 || (action === 'list' && words.length === 2))
    throw new CommandError([action === 'list' ? 'list takes no name' : `${action} takes one ${label}`]);
  if ((action === 'remove' || action === 'rotate') && words.length < 2)
    throw new CommandError([
      `${action} requires one ${label}: countersign ${accountFile.one} ${action} ${label}`,
    ]);
  if (action !== 'add')
    for (const flag of [...flags.keys(), ...lists.keys()]) checkFlagOf(action, flag, addFlags);
  return {
    action,
    target: { accountFile, name, ...locationOf(flags, environment) },
    input: { flags, lists },
  };
}

/** Throws CommandError if a flag is not an option of this action. */
function checkFlagOf(
  action: Exclude<(typeof actions)[number], 'add'>,
  flag: string,
  addFlags: ReadonlyMap<string, unknown>,
): void {
  if (flag === secretFlag) {
    if (action !== 'rotate') throw new CommandError([`${flag} is an option of add and rotate only`]);
  } else if (addFlags.has(flag)) throw new CommandError([`${flag} is an option of add only`]);
}

/** Replaces the secret of a registration. Its tokens remain valid. */
async function rotate<T extends object>(
  kind: RegistrationKind<T>,
  target: AccountTarget<T>,
  given: string | undefined,
  terminal: Terminal,
): Promise<void> {
  const { name } = target;
  const before = await findExisting(target);
  const secret = secretOf({ secret: given });
  const rotated = await kind.rotate(name, before, secret);
  if (given !== undefined) await checkSecretUnused(given, target);
  const mark = await changeExisting(target, (entry) => {
    if (!isDeepStrictEqual(entry, before))
      throw new CommandError([`the ${kind.accountFile.one} ${name} was changed meanwhile; try again`], 1);
    return rotated;
  });
  printLines([`${kind.accountFile.one.padEnd(9)} ${name}`, `secret    ${secret.shown}`], terminal.stdout);
  printLines(['the old secret is no longer valid'], terminal.stderr);
  await reportUsage(target, mark, terminal);
}

async function add<T extends object>(
  kind: RegistrationKind<T>,
  target: AccountTarget<T>,
  input: RegistrationInput,
  terminal: Terminal,
): Promise<void> {
  checkNotConfigured(target);
  const { entry, shownSecret } = await kind.create(target.name, input);
  if (input.secret !== undefined) await checkSecretUnused(input.secret, target);
  const mark = await addEntry(target, { ...entry, since: systemClock.now() }, 'remove it first');
  const lines = [`${kind.accountFile.one.padEnd(9)} ${target.name}`];
  printLines(shownSecret === undefined ? lines : [...lines, `secret    ${shownSecret}`], terminal.stdout);
  await reportUsage(target, mark, terminal);
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
export function secretOf({ secret }: Pick<RegistrationInput, 'secret'>): ChosenSecret {
  if (secret !== undefined) return { text: secret, isGenerated: false, shown: 'the given secret' };
  const text = randomSecret(randomBytes);
  return { text, isGenerated: true, shown: text };
}

/** The input of an action without options. */
export const noInput: RegistrationInput = { flags: new Map(), lists: new Map(), secret: undefined };

/** Returns the members of a registration that the flags set. */
export function membersOfInput(
  { flags: own }: Pick<RegistrationKind<never>, 'flags'>,
  { flags, lists }: RegistrationInput,
): Record<string, unknown> {
  const members = [...own].map(([flag, { member }]) => [member, lists.get(flag) ?? flags.get(flag)]);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

/** Throws a CommandError that describes the faults, if any, in terms of the flags. */
export function throwFaults(
  {
    accountFile,
    flags: own,
  }: Pick<RegistrationKind<never>, 'flags'> & { accountFile: { readonly one: string } },
  name: string,
  input: RegistrationInput,
  faults: readonly RegistrationFault[],
): void {
  if (faults.length === 0) return;
  const sentences = faults.map(({ at, says }) => {
    const [, member = '', index] = /^([A-Za-z]+)(?:\[([0-9]+)\])?$/.exec(at) ?? [];
    const flag = [...own].find(([, each]) => each.member === member)?.[0];
    if (flag === undefined)
      return member === '' ? `the ${accountFile.one} ${printable(name)} ${says}` : `the ${member} ${says}`;
    const value = input.lists.get(flag)?.[Number(index)];
    return `${flag}${value === undefined ? '' : ` ${JSON.stringify(printable(value))}`} ${says}`;
  });
  throw new CommandError(sentences);
}
