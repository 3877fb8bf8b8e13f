import { closestMatch, didYouMean } from '../did-you-mean.ts';

/** A command line, read. */
export interface Arguments {
  /** Flags by their name with its dashes; `true` when a flag that needs no value came without one. */
  readonly flags: ReadonlyMap<string, string | true>;
  /** The values of flags that may come more than once, in order. */
  readonly lists: ReadonlyMap<string, readonly string[]>;
  /** The arguments that are no flags, in order. */
  readonly words: readonly string[];
  /** What is wrong, one sentence each. */
  readonly faults: readonly string[];
}

/** Whether a flag needs a value, once or as often as it comes, or is on by being there (and may still have `=true` or `=false`). */
export type Arity = 'value' | 'values' | 'toggle';

/**
 * Reads a command line: `--port 8080`, `--port=8080`, `--memory`; after `--` nothing is a flag. A flag that is
 * not known, that comes twice or lacks its value is a fault.
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

/** What has been read of a command line so far. */
interface ArgumentsRead {
  readonly flags: Map<string, string | true>;
  readonly lists: Map<string, string[]>;
  readonly words: string[];
  readonly faults: string[];
}

/** Reads a flag, and the argument behind it where that is its value. Gives how many arguments that was. */
function readFlag(
  argument: string,
  next: string | undefined,
  known: ReadonlyMap<string, Arity>,
  { flags, lists, faults }: ArgumentsRead,
): number {
  const [name, attached] = split(argument);
  const arity = known.get(name);
  // What follows an unknown flag is most likely its value. What looks like a flag is no value, though `--data=--odd` has one.
  const mayFollow = arity !== 'toggle' && attached === undefined && next?.startsWith('--') !== true;
  const following = mayFollow ? next : undefined;
  const value = attached ?? following;
  if (arity === undefined) faults.push(unknownFlag(name, known));
  else if (arity !== 'toggle' && value === undefined) faults.push(`${name} needs a value`);
  else if (arity === 'values') lists.set(name, [...(lists.get(name) ?? []), value ?? '']);
  else if (flags.has(name)) faults.push(`${name} is given twice`);
  else flags.set(name, value ?? true);
  return following === undefined ? 1 : 2;
}

function split(argument: string): [name: string, value: string | undefined] {
  const equals = argument.indexOf('=');
  return equals < 0 ? [argument, undefined] : [argument.slice(0, equals), argument.slice(equals + 1)];
}

function unknownFlag(name: string, known: ReadonlyMap<string, Arity>): string {
  return `${printable(name)} is not an option${hint(name, [...known.keys()])}`;
}

/** The end of a sentence that names the nearest known word; nothing when none is near. */
export function hint(word: string, known: readonly string[]): string {
  return closestMatch(word, known) === undefined ? '' : didYouMean(word, known);
}

/** Untrusted text for one line of a terminal: control characters escaped, cut at 80 characters. */
export function printable(name: string): string {
  const cut = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return cut.replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
