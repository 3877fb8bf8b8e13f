import { didYouMean, findClosestMatch } from '../did-you-mean.ts';
import { escapeInvisible } from '../http/syntax/control-character.ts';

/** A parsed command line. */
export interface Arguments {
  /** Values of flags by name, with the dashes; `true` for a toggle without a value. */
  readonly flags: ReadonlyMap<string, string | true>;
  /** The values of repeatable flags, in order. */
  readonly lists: ReadonlyMap<string, readonly string[]>;
  /** The positional arguments, in order. */
  readonly words: readonly string[];
  /** The errors, one sentence each. */
  readonly faults: readonly string[];
}

/**
 * Whether a flag requires a value (`value`), is repeatable with a value each time (`values`), or needs none (`toggle`,
 * which accepts `=true` and `=false`).
 */
export type Arity = 'value' | 'values' | 'toggle';

/** Returns whether an option needs a value. `value` is what its value is; undefined if it needs none. */
export function findArity({
  value,
  repeatable = false,
}: {
  readonly value?: string | undefined;
  readonly repeatable?: boolean | undefined;
}): Arity {
  if (value === undefined) return 'toggle';
  return repeatable ? 'values' : 'value';
}

/**
 * Parses a command line: `--port 8080`, `--port=8080`, `--memory`. All arguments after `--` are positional. Reports flags
 * that are unknown, repeated or lack their value in `faults`.
 */
export function readArguments(argv: readonly string[], known: ReadonlyMap<string, Arity>): Arguments {
  const end = argv.indexOf('--');
  const before = end < 0 ? argv : argv.slice(0, end);
  const read: ArgumentsRead = { flags: new Map(), lists: new Map(), words: [], faults: [] };
  for (let at = 0; at < before.length; ) {
    const argument = before[at] ?? '';
    const isFlag = argument.startsWith('-') && argument !== '-';
    if (!isFlag) read.words.push(argument);
    at += isFlag ? readFlag(argument, before[at + 1], known, read) : 1;
  }
  if (end >= 0) read.words.push(...argv.slice(end + 1));
  return read;
}

/** The part of a command line that was parsed so far. */
interface ArgumentsRead {
  readonly flags: Map<string, string | true>;
  readonly lists: Map<string, string[]>;
  readonly words: string[];
  readonly faults: string[];
}

/** Parses a flag, and the next argument if that is its value. Returns the number of arguments consumed. */
function readFlag(
  argument: string,
  next: string | undefined,
  known: ReadonlyMap<string, Arity>,
  { flags, lists, faults }: ArgumentsRead,
): number {
  const [name, attached] = split(argument);
  const arity = known.get(name);
  // The argument after an unknown flag is probably its value. An argument that looks like a flag is not a value, but
  // `--data=--odd` has one.
  const mayFollow = arity !== 'toggle' && attached === undefined && next?.startsWith('--') !== true;
  const following = mayFollow ? next : undefined;
  const value = attached ?? following;
  if (arity === undefined) faults.push(unknownFlag(name, known));
  else if (arity !== 'toggle' && value === undefined) faults.push(`${name} requires a value`);
  else if (arity === 'values') lists.set(name, [...(lists.get(name) ?? []), value ?? '']);
  else if (flags.has(name)) faults.push(`${name} is given more than once`);
  else flags.set(name, value ?? true);
  return following === undefined ? 1 : 2;
}

function split(argument: string): [name: string, value: string | undefined] {
  const equals = argument.indexOf('=');
  return equals < 0 ? [argument, undefined] : [argument.slice(0, equals), argument.slice(equals + 1)];
}

function unknownFlag(name: string, known: ReadonlyMap<string, Arity>): string {
  const usual = ['--help', '--version'];
  const all = [...known.keys(), ...usual];
  const startingLikeIt = (flags: readonly string[]): readonly string[] =>
    flags.filter((flag) => flag.startsWith(`-${name.toLowerCase()}`));
  // For -v, `hint` would find another short name.
  const beginning = /^-[A-Za-z]$/.test(name)
    ? [startingLikeIt(usual), startingLikeIt(all)].find((flags) => flags.length > 0)
    : undefined;
  const meant = beginning === undefined || beginning.length === 1 ? hint(beginning?.[0] ?? name, all) : '';
  return `unknown option ${toPrintable(name)}${meant}`;
}

/** Returns the end of a sentence that suggests the most similar known word; empty if none is similar. */
export function hint(word: string, known: readonly string[]): string {
  return findClosestMatch(word, known) === undefined ? '' : didYouMean(word, known);
}

/** Makes untrusted text safe for one line of a terminal: escapes invisible characters and truncates to 80 characters. */
export function toPrintable(name: string): string {
  const cut = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return escapeInvisible(cut);
}
