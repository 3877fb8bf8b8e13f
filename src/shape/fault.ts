import { didYouMean } from '../did-you-mean.ts';

/** The name of a member, an index, or a named one of several: the key "key-1", which is at `keys.key-1`. */
type ShapeStep = string | number | { readonly one: string; readonly name: string };

/** The steps that lead from the value that was read to a part of it. */
export type ShapePath = readonly ShapeStep[];

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
      /** The value is a wrong secret, of which a message shows nothing. */
      readonly kind: 'secret';
      readonly expected: string;
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
      /** What a known one is, if the object has a word for it: `a key of a collection`. */
      readonly member?: string | undefined;
    }
  | {
      /** The value breaks another rule. */
      readonly kind: 'rule';
      /** Returns the sentence, in which `what` names the value. It contains no secret. */
      says(what: string): string;
      /** The code of the error, if the border has codes. */
      readonly code?: string | undefined;
    }
);

/** Returns a fault whose message is the name of the value and a predicate: `contains a control character`. */
export function createFault(path: ShapePath, predicate: string, code?: string): ShapeFault {
  return { path, kind: 'rule', says: (what) => `${what} ${predicate}`, code };
}

/**
 * Returns the fault that `check` finds, if any.
 *
 * @param check throws RangeError with a message in which `what` names the value
 */
export function findFault(path: ShapePath, check: (what: string) => unknown): readonly ShapeFault[] {
  const explain = (what: string): string | undefined => {
    try {
      check(what);
      return undefined;
    } catch (error) {
      if (error instanceof RangeError) return error.message;
      throw error;
    }
  };
  return explain('it') === undefined ? [] : [{ path, kind: 'rule', says: (what) => explain(what) ?? what }];
}

/** Formats a path: `request.headers[0]`. */
export function formatPath(path: ShapePath): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    const name = typeof step === 'string' ? step : step.name;
    return text === '' ? name : `${text}.${name}`;
  }, '');
}

/**
 * Formats a fault as a sentence about an argument or option: `body of limits must be a number from 0, is a string`. The
 * sentence contains no value but a number or a word, since others can be secrets.
 *
 * @param owner names the value that was read; empty for the options of a function, whose members need no owner
 */
export function formatOwned(fault: ShapeFault, owner: string): string {
  const what = formatOwnedName(fault.path, owner);
  switch (fault.kind) {
    case 'word':
      if (typeof fault.value === 'string')
        return `${JSON.stringify(fault.value)} is not a value of ${what}${didYouMean(fault.value, fault.known)}`;
      return `${what} must be ${fault.expected}, is ${formatKind(fault.value)}`;
    case 'type':
      return `${what} must be ${formatExample(fault.expected)}, is ${formatKind(fault.value)}`;
    case 'secret':
      return `the ${what} is not ${fault.expected}`;
    case 'missing':
      return `${formatOwnedName(fault.path.slice(0, -1), owner)} has no ${formatLast(fault.path)}`;
    case 'unknown': {
      const name = formatLast(fault.path);
      return `${name} is not a member of ${formatOwnedName(fault.path.slice(0, -1), owner)}${didYouMean(name, fault.known)}`;
    }
    case 'rule':
      return fault.says(what);
  }
}

/** Formats the last step of a path. */
export function formatLast(path: ShapePath): string {
  return formatPath(path.slice(-1));
}

/** Formats the name of a part: `body of limits`, `secret of the key "key-1" of the user "ann"`. */
function formatOwnedName(path: ShapePath, owner: string): string {
  const names: string[] = [];
  for (const step of path)
    if (typeof step === 'number') names.push(`${names.pop() ?? ''}[${step}]`);
    else if (typeof step === 'string') names.push(step);
    else names.splice(-1, 1, `the ${step.one} ${JSON.stringify(step.name)}`);
  return [...names.reverse(), ...(owner === '' ? [] : [owner])].join(' of ');
}

/** Formats an example in JSON as code: `{ secret: … }` for `{ "secret": "…" }`. */
function formatExample(expected: string): string {
  return expected.replace(/"(\w+)":/g, '$1:').replaceAll('"…"', '…');
}

function formatKind(value: unknown): string {
  return typeof value === 'number' ? String(value) : describeKind(value);
}

/** Describes a value: `a number`, `a string`, `null`, `an array`. */
export function describeKind(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (value === '') return 'empty';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  return `a ${typeof value}`;
}
