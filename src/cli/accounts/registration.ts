import { randomBytes } from 'node:crypto';
import type { AccountFile } from '../../accounts/account-file.ts';
import type { RegistrationFault } from '../../accounts/registration.ts';
import { systemClock } from '../../clock.ts';
import { printable, readArguments } from '../../options/flags.ts';
import type { Options } from '../../options/options.ts';
import { CommandError, reportError } from '../errors.ts';
import type { Terminal } from '../terminal.ts';
import {
  type AccountEntry,
  addEntry,
  locationFlags,
  locationOf,
  printLines,
  readEntry,
  refuseConfigured,
  removeEntry,
  reportUsage,
  unknownAction,
} from './command.ts';
import { randomSecret } from './credentials.ts';
import { actAsOwnerOf } from './ownership.ts';
import { secretFrom, secretVariable } from './secret-input.ts';

/** What the flags of `add` said. */
export interface RegistrationInput {
  readonly flags: ReadonlyMap<string, string | true>;
  readonly lists: ReadonlyMap<string, readonly string[]>;
  /** The secret that was chosen; undefined where one is to be made, if it is needed. */
  readonly secret: string | undefined;
}

/** What `add` makes of what was said. */
export interface NewRegistration<T> {
  readonly entry: T;
  /** Its secret as it is told, once; undefined where it has none. */
  readonly shown: string | undefined;
}

/** One kind of what registers for OAuth, and how a command makes it. */
export interface RegistrationKind<T> {
  readonly roster: AccountFile<T>;
  /** Those of the configuration file. */
  configured(options: Options): ReadonlyMap<string, T>;
  /** What its name is called on a command line. */
  readonly label: string;
  /** The flags of `add`, and the part of a registration that each says. */
  readonly flags: ReadonlyMap<
    string,
    { readonly arity: 'value' | 'values' | 'toggle'; readonly part: string }
  >;
  /** Makes one. Throws Refusal. */
  make(name: string, said: RegistrationInput): Promise<NewRegistration<T>>;
  /** One in a line, without its secret. */
  describe(entry: T): string;
}

const actions = ['add', 'remove', 'list'] as const;
/** Says that the secret is the first line of standard input. */
export const secretFlag = '--secret-stdin';

/** What carries out a command of the roster, and gives its exit status. */
type RosterCommand = (
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
) => Promise<number>;

/** Makes `countersign client|consumer add|remove|list`. */
export function registrationCommand<T extends object>(kind: RegistrationKind<T>): RosterCommand {
  return async (argv, environment, terminal) => {
    try {
      const { action, entrant, said } = readOrder(kind, argv, environment);
      actAsOwnerOf(entrant.options.data);
      if (action === 'list') await list(kind, entrant, terminal);
      else if (action === 'remove') await removeEntry(entrant, terminal);
      else {
        const chosen = said.flags.has(secretFlag)
          ? await secretFrom({}, terminal, false)
          : secretVariable(environment);
        await add(kind, entrant, { ...said, secret: chosen }, terminal);
      }
      return 0;
    } catch (error) {
      return reportError(error, terminal);
    }
  };
}

/** What the command line asks for. */
interface Order<T> {
  readonly action: (typeof actions)[number];
  readonly entrant: AccountEntry<T>;
  readonly said: Omit<RegistrationInput, 'secret'>;
}

function readOrder<T>(
  { roster: accountFile, label, flags: own }: RegistrationKind<T>,
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
): Order<T> {
  const ofAdd = new Map([...own].map(([flag, { arity }]) => [flag, arity] as const));
  ofAdd.set(secretFlag, 'toggle');
  const { flags, lists, words, faults } = readArguments(argv, new Map([...locationFlags, ...ofAdd]));
  if (faults.length > 0) throw new CommandError(faults);
  for (const [flag, value] of flags)
    if (ofAdd.get(flag) === 'toggle' && value !== true) throw new CommandError([`${flag} takes no value`]);
  const [word = '', name = randomSecret(randomBytes)] = words;
  const action = actions.find((each) => each === word);
  if (action === undefined)
    throw new CommandError([unknownAction(word, actions, `countersign ${accountFile.one} add ${label}`)]);
  if (words.length > 2 || (action === 'list' && words.length === 2))
    throw new CommandError([action === 'list' ? 'list takes no name' : `${action} takes one ${label}`]);
  if (action === 'remove' && words.length < 2)
    throw new CommandError([`one ${label} is needed: countersign ${accountFile.one} remove ${label}`]);
  if (action !== 'add')
    for (const flag of [...flags.keys(), ...lists.keys()])
      if (ofAdd.has(flag)) throw new CommandError([`${flag} goes with add only`]);
  return {
    action,
    entrant: { roster: accountFile, name, ...locationOf(flags, environment) },
    said: { flags, lists },
  };
}

async function add<T extends object>(
  kind: RegistrationKind<T>,
  entrant: AccountEntry<T>,
  said: RegistrationInput,
  terminal: Terminal,
): Promise<void> {
  refuseConfigured(entrant);
  const { entry, shown } = await kind.make(entrant.name, said);
  const mark = await addEntry(entrant, { ...entry, since: systemClock.now() }, 'remove it first');
  const lines = [`${kind.roster.one.padEnd(9)} ${entrant.name}`];
  printLines(shown === undefined ? lines : [...lines, `secret    ${shown}`], terminal.stdout);
  await reportUsage(entrant, mark, terminal);
}

async function list<T>(
  kind: RegistrationKind<T>,
  entrant: AccountEntry<T>,
  terminal: Terminal,
): Promise<void> {
  const { roster: accountFile, options } = entrant;
  const configured = kind.configured(options);
  const lines = [...configured].map(
    ([name, entry]) => `${name}  ${kind.describe(entry)}; in ${options.config}`,
  );
  for (const [name, entry] of await readEntry(entrant)) {
    const overruled = configured.has(name) ? `; overruled by ${options.config}` : '';
    lines.push(`${name}  ${kind.describe(entry)}${overruled}`);
  }
  if (lines.length === 0)
    printLines([`there are no ${accountFile.name} in ${options.data}`], terminal.stderr);
  printLines(lines, terminal.stdout);
}

/** A new secret, or the one that was chosen, and how it is told. */
export function secretOf({ secret }: RegistrationInput): {
  readonly text: string;
  readonly made: boolean;
  shown: string;
} {
  if (secret !== undefined) return { text: secret, made: false, shown: 'the one that was given' };
  const text = randomSecret(randomBytes);
  return { text, made: true, shown: text };
}

/** The lists and texts of a registration, as its flags said them; what was not said is left out. */
export function partsOf(
  { flags: own }: Pick<RegistrationKind<never>, 'flags'>,
  { flags, lists }: RegistrationInput,
): Record<string, unknown> {
  const said = [...own].map(([flag, { part }]) => [part, lists.get(flag) ?? flags.get(flag)]);
  return Object.fromEntries(said.filter(([, value]) => value !== undefined));
}

/** Throws Refusal with what is wrong, in terms of the flags. */
export function refuseFaults(
  {
    roster: accountFile,
    flags: own,
  }: Pick<RegistrationKind<never>, 'flags'> & { roster: { readonly one: string } },
  name: string,
  said: RegistrationInput,
  faults: readonly RegistrationFault[],
): void {
  if (faults.length === 0) return;
  const sentences = faults.map(({ at, says }) => {
    const [, part = '', index] = /^([A-Za-z]+)(?:\[([0-9]+)\])?$/.exec(at) ?? [];
    const flag = [...own].find(([, each]) => each.part === part)?.[0];
    if (flag === undefined)
      return part === '' ? `the ${accountFile.one} ${printable(name)} ${says}` : `the ${part} ${says}`;
    const value = said.lists.get(flag)?.[Number(index)];
    return `${flag}${value === undefined ? '' : ` ${JSON.stringify(printable(value))}`} ${says}`;
  });
  throw new CommandError(sentences);
}
