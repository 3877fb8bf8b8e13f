// Reads names with brackets, as forms and the style deepObject write objects and lists: `a[b]=1` is `{ a: { b: '1' } }`.
import { toPrintable } from '../../http/syntax/characters.ts';

/** A name whose brackets are not read. */
export class MalformedName {
  /** What is wrong: `has the name a[b, whose bracket is not closed`. */
  readonly detail: string;

  constructor(name: string, what: string) {
    this.detail = `has the name ${toPrintable(name)}, ${what}`;
  }
}

/** The brackets in one name, at most. */
const maxBrackets = 32;

/** What was sent with one name: texts or decoded parts, and members by the names in brackets. */
interface Entry {
  readonly texts: unknown[];
  isList: boolean;
  readonly members: Map<string, Entry>;
}

/**
 * Returns the values of a form or a query by name.
 *
 * @param documented The names whose brackets are a part of them, as documents write `ids[]` and `order[name]`. Default: none
 */
export function readBracketedNames(
  form: Iterable<readonly [string, unknown]>,
  documented: { has(name: string): boolean } = new Set(),
): Readonly<Record<string, unknown>> | MalformedName {
  const root = createEntry();
  for (const [key, value] of form) {
    const names = documented.has(key) ? [key] : splitName(key);
    if (names instanceof MalformedName) return names;
    insert(root, names, value);
  }
  return toMembers(root);
}

/** Splits `a[b][c]` into its names. */
function splitName(key: string): readonly string[] | MalformedName {
  const first = key.indexOf('[');
  if (first === -1) return [key];
  const names = [key.slice(0, first)];
  for (let at = first; at < key.length; ) {
    if (key[at] !== '[') return new MalformedName(key, 'which goes on behind a bracket');
    const end = key.indexOf(']', at);
    if (end === -1) return new MalformedName(key, 'whose bracket is not closed');
    if (names.length > maxBrackets)
      return new MalformedName(key, `which has more than ${maxBrackets} brackets`);
    names.push(key.slice(at + 1, end));
    at = end + 1;
  }
  return names;
}

function createEntry(): Entry {
  return { texts: [], isList: false, members: new Map() };
}

function insert(root: Entry, names: readonly string[], text: unknown): void {
  // `a[]` is an item of the list a.
  const isList = names.length > 1 && names.at(-1) === '';
  let entry = root;
  for (const name of isList ? names.slice(0, -1) : names) {
    const inner = entry.members.get(name) ?? createEntry();
    entry.members.set(name, inner);
    entry = inner;
  }
  entry.texts.push(text);
  entry.isList ||= isList;
}

function toMembers({ members }: Entry): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Array.from(members, ([name, entry]) => [name, toValue(entry)]));
}

function toValue(entry: Entry): unknown {
  const { texts, isList, members } = entry;
  if (members.size > 0) return texts.length === 0 ? toMembers(entry) : [toMembers(entry), ...texts];
  return isList || texts.length > 1 ? texts : texts[0];
}
