import { nearest, suggestion } from '../nearest.ts';

/** What a command line said, sorted out. */
export interface Arguments {
  /** Flags by their name with its dashes; `true` when a flag that needs no value came without one. */
  readonly flags: ReadonlyMap<string, string | true>;
  /** What the flags that may come again and again said, in order. */
  readonly lists: ReadonlyMap<string, readonly string[]>;
  /** What is no flag, in order. */
  readonly words: readonly string[];
  /** What is wrong, one sentence each. */
  readonly faults: readonly string[];
}

/** Whether a flag needs a value, once or as often as it comes, or is on by being there (and may still have `=true` or `=false`). */
export type Arity = 'value' | 'values' | 'toggle';

/**
 * Sorts out a command line: `--port 8080`, `--port=8080`, `--memory`; after `--` nothing is a flag. A flag that is
 * not known, that comes twice or lacks its value is a fault.
 */
export function readArguments(argv: readonly string[], known: ReadonlyMap<string, Arity>): Arguments {
  const flags = new Map<string, string | true>();
  const lists = new Map<string, string[]>();
  const words: string[] = [];
  const faults: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const argument = argv[at] ?? '';
    if (argument === '--') {
      words.push(...argv.slice(at + 1));
      break;
    }
    if (!argument.startsWith('-') || argument === '-') {
      words.push(argument);
      continue;
    }
    const [name, attached] = split(argument);
    const arity = known.get(name);
    // What follows a flag that is not known was meant for it, most likely. What looks like a flag is no value,
    // though `--data=--odd` still says it.
    const following = arity === 'toggle' || attached !== undefined ? undefined : argv[at + 1];
    const value = attached ?? (following?.startsWith('--') ? undefined : following);
    if (attached === undefined && value !== undefined) at++;
    if (arity === undefined) faults.push(unknownFlag(name, known));
    else if (arity !== 'toggle' && value === undefined) faults.push(`${name} needs a value`);
    else if (arity === 'values') lists.set(name, [...(lists.get(name) ?? []), value ?? '']);
    else if (flags.has(name)) faults.push(`${name} is given twice`);
    else flags.set(name, value ?? true);
  }
  return { flags, lists, words, faults };
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
  return nearest(word, known) === undefined ? '' : suggestion(word, known);
}

/** A name that somebody else chose, fit for one line of a terminal: control characters escaped, cut at 80. */
export function printable(name: string): string {
  const cut = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return cut.replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
