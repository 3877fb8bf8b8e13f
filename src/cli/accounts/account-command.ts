// The commands `user`, `user key`, `user role`, `client`, `consumer`, `key` and `grant` are tables of actions: add, rotate, remove, list and others.
import type { AccountFile } from '../../accounts/account-file.ts';
import { hint, toPrintable } from '../../options/flags.ts';
import { type CommandFlag, readCommandLine } from '../command-table.ts';
import { CommandError } from '../errors.ts';
import type { Command, Terminal } from '../terminal.ts';
import { printLines } from '../terminal.ts';
import {
  type AccountTarget,
  type Changed,
  changeExisting,
  placeName,
  type Report,
  readEntries,
  readLocation,
  reportUsage,
  withAccounts,
} from './command.ts';

/** The options of a command line. */
export interface GivenFlags {
  readonly flags: ReadonlyMap<string, string | true>;
  readonly lists: ReadonlyMap<string, readonly string[]>;
}

/** An account, and what is to be done with it. */
export interface AccountCall<T, Input> extends AccountTarget<T> {
  readonly input: Input;
}

/** An action of a command. */
export interface AccountAction<T, Input> {
  readonly name: NameRule;
  /** Does it. Returns what to print. Throws CommandError. */
  run(call: AccountCall<T, Input>, terminal: Terminal): Promise<Report>;
}

/** Whether a name is required, generated if it is missing, optional, or not allowed. */
type NameRule = 'required' | 'generated' | 'optional' | 'none';

/** The actions of a command, and how its arguments are read. */
interface ActionTable<Action extends { readonly name: NameRule }> {
  /** The words of the command: `countersign user key`. */
  readonly command: string;
  /** What a name is, in messages: `name`, `ID` or `KEY`. */
  readonly label: string;
  /** What an action without names does not take. Default: `name`. */
  readonly noun?: string;
  /** A valid command, for the message about a missing action. */
  readonly example: string;
  readonly flags: readonly CommandFlag[];
  readonly actions: Readonly<Record<string, Action>>;
  /** Returns why a name is not valid, or undefined. Default: all names are. */
  nameFault?(name: string): string | undefined;
  /** Returns a new name. */
  generateName?(): string;
}

/** A command for one kind of accounts. */
interface AccountTable<T, Input> extends ActionTable<AccountAction<T, Input>> {
  readonly accountFile: AccountFile<T>;
  /** Reads the options of an action. Adds a sentence to `faults` for each invalid one. */
  readInput(action: string, given: GivenFlags, faults: string[]): Input;
}

/** Returns the command of a table. */
export function createAccountCommand<T, Input>(table: AccountTable<T, Input>): Command {
  return async (argv, environment, terminal) => {
    const { action, call } = parseCommand(table, argv, environment);
    await withAccounts(call, environment, async (located) => {
      const { shown = {}, lines = [], notes = [], mark } = await action.run(located, terminal);
      const rows = Object.entries(shown).map(([label, text]) => `${label.padEnd(9)} ${text}`);
      printLines([...rows, ...lines], terminal.stdout);
      printLines(notes, terminal.stderr);
      if (mark !== undefined) await reportUsage(located, mark, terminal);
    });
    return 0;
  };
}

/** Returns an action that replaces an account by the one that `change` returns, or removes it if that is undefined. */
export function changing<T, Input>(
  change: (entry: T, call: AccountCall<T, Input>) => Changed<T>,
): AccountAction<T, Input> {
  return { name: 'required', run: (call) => changeExisting(call, (entry) => change(entry, call)) };
}

/** Returns the action that removes an account. */
export function removing<T, Input>(): AccountAction<T, Input> {
  return changing((_, { name }) => ({ entry: undefined, shown: { removed: name } }));
}

/**
 * Returns the action that lists the accounts, those that are declared elsewhere first.
 *
 * @param declared returns their names and descriptions, and the files that declare them
 * @param describe returns the description of a stored account, without secrets
 * @param separator stands between the parts of a description
 */
export function listing<T, Input>(
  declared: (call: AccountTarget<T>) => readonly (readonly [name: string, about: string, file: unknown])[],
  describe: (entry: T) => string,
  separator: string,
): AccountAction<T, Input> {
  return {
    name: 'none',
    async run(call) {
      const others = declared(call);
      const lines = others.map(([name, about, file]) => {
        const parts = [about, `in ${file}`].filter((part) => part !== '');
        return `${name}  ${parts.join(separator)}`;
      });
      for (const [name, entry] of await readEntries(call)) {
        const file = others.find(([each]) => each === name)?.[2];
        const override = file === undefined ? '' : `${separator}overridden by ${file}`;
        lines.push(`${name}  ${describe(entry)}${override}`);
      }
      const none = `there are no ${call.accountFile.name} in ${placeName(call)}`;
      return { lines, notes: lines.length === 0 ? [none] : [] };
    },
  };
}

function parseCommand<T, Input>(
  table: AccountTable<T, Input>,
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
): { readonly action: AccountAction<T, Input>; readonly call: AccountCall<T, Input> } {
  const { accountFile } = table;
  const { word, action, name, given, faults } = parseAction(table, argv);
  const input = table.readInput(word, given, faults);
  if (faults.length > 0) throw new CommandError(faults);
  return { action, call: { accountFile, name, input, ...readLocation(given.flags, environment) } };
}

/** The action that a command line names. */
interface ParsedAction<Action> {
  /** The word of the action: `add`. */
  readonly word: string;
  readonly action: Action;
  /** The name; empty if none is given. */
  readonly name: string;
  readonly given: GivenFlags;
  /** The errors in the name and the options, one sentence each. */
  readonly faults: string[];
}

/** Parses the arguments of a command with actions. Throws CommandError for an unknown action and for malformed options. */
export function parseAction<Action extends { readonly name: NameRule }>(
  table: ActionTable<Action>,
  argv: readonly string[],
): ParsedAction<Action> {
  const { flags: own, actions, example } = table;
  const { flags, lists, words } = readCommandLine(table, argv);
  const [word = '', name = table.generateName?.() ?? ''] = words;
  const action = Object.hasOwn(actions, word) ? actions[word] : undefined;
  if (action === undefined) throw new CommandError([unknownAction(word, Object.keys(actions), example)]);
  const faults = [
    ...findNameFaults(table, word, action.name, words),
    ...findFlagFaults(own, word, { flags, lists }),
  ];
  return { word, action, name, given: { flags, lists }, faults };
}

/** Returns the error for a missing or unknown action. `example` is a valid command. */
function unknownAction(word: string, actions: readonly string[], example: string): string {
  const expected = `expected one of ${actions.join(', ')}`;
  if (word === '') return `missing action; ${expected}: ${example}`;
  return `unknown action ${toPrintable(JSON.stringify(word))}; ${expected}${hint(word, actions)}`;
}

function findNameFaults(
  {
    command,
    label,
    noun = 'name',
    nameFault,
  }: Pick<ActionTable<never>, 'command' | 'label' | 'noun' | 'nameFault'>,
  action: string,
  needed: NameRule,
  words: readonly string[],
): readonly string[] {
  if (needed === 'none') return words.length === 1 ? [] : [`${action} takes no ${noun}`];
  const [, name] = words;
  if (words.length > 2 || (name === undefined && needed === 'required'))
    return [`${action} requires one ${label}: ${command} ${action} ${label.toUpperCase()}`];
  const fault = name === undefined ? undefined : nameFault?.(name);
  return fault === undefined ? [] : [fault];
}

function findFlagFaults(
  known: readonly CommandFlag[],
  action: string,
  { flags, lists }: GivenFlags,
): readonly string[] {
  return known.flatMap(({ name, value, actions }) => {
    if (actions === undefined || !(flags.has(name) || lists.has(name))) return [];
    if (!actions.includes(action)) return [`${name} is an option of ${actions.join(' and ')} only`];
    return value === undefined && flags.get(name) !== true ? [`${name} takes no value`] : [];
  });
}
