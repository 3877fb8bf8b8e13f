import { escapeInvisible } from '../http/syntax/control-character.ts';
import { formatFault, type ShapeFault } from '../shape/fault.ts';
import { type Arguments, type Arity, findArity, hint, readArguments, toPrintable } from './flags.ts';
import type { Option } from './option.ts';
import {
  formatFlag,
  formatVariable,
  type OptionValues,
  optionSpecs,
  optionTable,
  otherVariables,
} from './table.ts';

/** The value of an option from one source. */
export interface Setting {
  readonly key: string;
  /** The name of the option in its source: `--port`, `COUNTERSIGN_PORT`, `lifetimes.access`. */
  readonly name: string;
  /** The path of the configuration file; undefined for a flag or a variable. */
  readonly file?: string;
  readonly value: unknown;
}

/**
 * Reads the options of a command line. Adds errors to `faults`.
 * @param own the flags of the command itself
 */
export function readFlags(
  argv: readonly string[],
  faults: string[],
  own: ReadonlyMap<string, Arity>,
): { readonly settings: Setting[]; readonly flags: Arguments['flags'] } {
  const arities = [...optionSpecs].map(([key, option]) => [formatFlag(key), findArity(option)] as const);
  const { flags, lists, words, faults: found } = readArguments(argv, new Map([...arities, ...own]));
  faults.push(...found, ...words.map((word) => `unexpected argument ${toPrintable(JSON.stringify(word))}`));
  const settings = [...optionSpecs].flatMap(([key, option]) => {
    const name = formatFlag(key);
    const value = lists.get(name)?.join(',') ?? flags.get(name);
    return value === undefined ? [] : [{ key, name, value: parseText(option, value) }];
  });
  return { settings, flags };
}

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the options of the environment. Adds a warning for each unknown variable. */
export function readVariables(environment: Environment, warnings: string[]): Setting[] {
  const names = Object.keys(environment).filter((name) => name.startsWith('COUNTERSIGN_'));
  if (names.length === 0) return [];
  const known = new Map([...optionSpecs].map(([key, option]) => [formatVariable(key), { key, option }]));
  const settings: Setting[] = [];
  for (const name of names) {
    const [found, value] = [known.get(name), environment[name]];
    if (value === undefined || otherVariables.includes(name)) continue;
    if (found !== undefined) settings.push({ key: found.key, name, value: parseText(found.option, value) });
    else
      warnings.push(
        `unknown environment variable ${toPrintable(name)} is ignored${hint(name, [...known.keys()])}`,
      );
  }
  return settings;
}

function parseText({ parse = (text) => text }: Option<unknown>, value: string | true): unknown {
  return value === true ? true : parse(value);
}

/** Reads the value of one source. Adds errors to `faults`. */
export function readSetting({ key, name, file, value }: Setting, faults: string[]): unknown {
  const read = optionSpecs.get(key)?.shape.read(value, [name]);
  if (read === undefined || 'value' in read) return read?.value;
  faults.push(...read.faults.map((fault) => explainFault(showText(fault), file)));
  return undefined;
}

/** Reads the values of all options, and validates the value of every source. The first source of an option takes precedence. */
export function readValues(settings: readonly Setting[], faults: string[]): OptionValues {
  const entries = [...optionSpecs].map(([key, { fallback }]) => {
    const given = settings.filter((setting) => setting.key === key);
    const values = given.map((setting) => readSetting(setting, faults));
    return [key, values.find((value) => value !== undefined) ?? fallback];
  });
  const values: unknown = Object.fromEntries(entries);
  if (!isComplete(values)) throw new TypeError('an option has no value');
  return values;
}

function isComplete(values: unknown): values is OptionValues {
  return Object.keys(optionTable).every((key) => Object.hasOwn(Object(values), key));
}

/** Returns the members of a JSON object by name; undefined if the value is not an object. */
export function toMembers(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return new Map(Object.entries(value));
}

/** Formats a fault of an option or a part of the file at `file`. */
export function explainFault(fault: ShapeFault, file?: string): string {
  const path = fault.path.map((step) => (typeof step === 'number' ? step : toPrintable(step)));
  const sentence = escapeInvisible(formatFault({ ...fault, path }, []));
  return file === undefined ? sentence : `${file}: ${sentence}`;
}

/** Returns the fault of an option so that its message shows a text, which is no secret. */
function showText(fault: ShapeFault): ShapeFault {
  if ((fault.kind !== 'type' && fault.kind !== 'word') || typeof fault.value !== 'string') return fault;
  if (fault.value === '') return fault;
  const value = toPrintable(fault.value);
  return fault.kind === 'word' ? { ...fault, value } : { ...fault, value, kind: 'word', known: [] };
}
