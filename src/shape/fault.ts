import { didYouMean } from '../did-you-mean.ts';

/** The names and indexes that lead from the value that was read to a part of it. */
export type ShapePath = readonly (string | number)[];

/** A fault of a value that was read by a shape. Each border turns it into its own error. */
export type ShapeFault = { readonly path: ShapePath } & (
  | {
      /** The value is of another kind or out of range. */
      readonly kind: 'type';
      /** A noun phrase: `an integer from 1 to 5`. */
      readonly expected: string;
      /** The value, which can be a secret. */
      readonly value: unknown;
    }
  | {
      /** The value is not one of several words. */
      readonly kind: 'word';
      readonly expected: string;
      readonly value: unknown;
      readonly known: readonly string[];
    }
  | {
      /** A required member is missing. */
      readonly kind: 'missing';
      readonly expected: string;
    }
  | {
      /** The object has no member of this name. */
      readonly kind: 'unknown';
      readonly known: readonly string[];
    }
  | {
      /** The value breaks another rule. */
      readonly kind: 'rule';
      /** Returns the sentence, in which `what` names the value. It contains no secret. */
      says(what: string): string;
    }
);

/** Returns a fault whose message is the name of the value and a predicate: `contains a control character`. */
export function createFault(path: ShapePath, predicate: string): ShapeFault {
  return { path, kind: 'rule', says: (what) => `${what} ${predicate}` };
}

/** Formats a path: `request.headers[0]`. */
export function formatPath(path: ShapePath): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}

/**
 * Formats a fault as a sentence about an argument or option: `body of limits must be a number from 0, is a string`. The
 * sentence contains no value but a number, since others can be secrets.
 *
 * @param owner names the value that was read; empty for the options of a function, whose members need no owner
 */
export function formatOwned(fault: ShapeFault, owner: string): string {
  const what = formatOwnedName(fault.path, owner);
  switch (fault.kind) {
    case 'type':
    case 'word':
      return `${what} must be ${fault.expected}, is ${formatKind(fault.value)}`;
    case 'missing':
      return `${what} must be ${fault.expected}, is missing`;
    case 'unknown':
      return `${fault.path.at(-1)} is not a member of ${formatOwnedName(fault.path.slice(0, -1), owner)}${didYouMean(String(fault.path.at(-1)), fault.known)}`;
    case 'rule':
      return fault.says(what);
  }
}

/** Formats the name of a part: `body of limits`, `origins[0] of cors of the service`. */
function formatOwnedName(path: ShapePath, owner: string): string {
  const names: string[] = [];
  for (const step of path)
    if (typeof step === 'number') names.push(`${names.pop() ?? ''}[${step}]`);
    else names.push(step);
  return [...names.reverse(), ...(owner === '' ? [] : [owner])].join(' of ');
}

function formatKind(value: unknown): string {
  return typeof value === 'number' ? String(value) : kindOf(value);
}

/** Describes a value: `a number`, `a string`, `null`, `an array`. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (value === '') return 'empty';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  return `a ${typeof value}`;
}
