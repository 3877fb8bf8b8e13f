// Compares values of JSON, whatever the order of their members.
import { isObject } from './located.ts';

/** The nesting of values that are compared, at most. */
const maxDepth = 500;

/** Returns a value as JSON with sorted members, so that equal values have equal texts. Throws RangeError if it is nested too deeply. */
export function canonical(value: unknown, depth = 0): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  if (depth > maxDepth) throw new RangeError('is nested too deeply to be compared');
  if (Array.isArray(value)) return `[${value.map((each) => canonical(each, depth + 1)).join()}]`;
  const members = Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, each]) => `${JSON.stringify(name)}:${canonical(each, depth + 1)}`);
  return `{${members.join()}}`;
}

/** Returns whether two values are equal JSON. */
export function isEqual(one: unknown, other: unknown): boolean {
  return one === other || (isStructured(one) && isStructured(other) && canonical(one) === canonical(other));
}

function isStructured(value: unknown): value is object {
  return isObject(value) || Array.isArray(value);
}

/** The values that `enum` or `const` permits. */
interface PermittedValues {
  /** Returns whether a value is one of them. `textOf` returns the canonical text of an object or a list. */
  has(value: unknown, textOf: (value: object) => string): boolean;
  /** The values in a message. */
  readonly text: string;
}

/** The values in a message, at most. */
const maxShown = 50;

const permitted = new WeakMap<object, PermittedValues>();

/** Returns the values of a keyword. They are read once for each owner: the list of `enum`, or the schema that has `const`. */
export function permittedBy(owner: object, values: readonly unknown[]): PermittedValues {
  const known = permitted.get(owner) ?? readPermitted(values);
  permitted.set(owner, known);
  return known;
}

function readPermitted(values: readonly unknown[]): PermittedValues {
  const plain = new Set(values.filter((each) => !isStructured(each)));
  const structured = new Set(values.filter(isStructured).map((each) => canonical(each)));
  const shown = values.slice(0, maxShown).map(shorten).join(', ');
  return {
    has: (value, textOf) =>
      isStructured(value) ? structured.size > 0 && structured.has(textOf(value)) : plain.has(value),
    text: values.length > maxShown ? `${shown} and ${values.length - maxShown} more` : shown,
  };
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
