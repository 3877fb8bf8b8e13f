import { didYouMean, findClosestMatch } from '../did-you-mean.ts';

/** The names of members and the indexes that lead from the value that was read to a part of it. */
export type ShapePath = readonly (string | number)[];

/** Names the value that is read: by a noun phrase (`a stub`), by its path, or as the options of a function or thing. */
export type Where = string | ShapePath | { readonly optionsOf: string };

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
    return text === '' ? step : `${text}.${step}`;
  }, '');
}

/**
 * Formats a fault as a sentence: `limits.body of a service must be a number from 0, is a string`. The sentence contains no value but a
 * number or a word, since others can be secrets.
 */
export function formatFault(fault: ShapeFault, where: Where): string {
  if (fault.kind !== 'unknown') return formatPredicate(fault, formatName(fault.path, where));
  const name = formatLast(fault.path);
  const isOption = fault.path.length === 1 && typeof where === 'object' && 'optionsOf' in where;
  const member = isOption
    ? `an option of ${where.optionsOf}`
    : `${fault.member ?? 'a member'} of ${formatName(fault.path.slice(0, -1), where)}`;
  return `${name} is not ${member}${didYouMean(name, fault.known)}`;
}

/** Describes a fault without the name of the value: `must be a number from 0, is a string`. */
export function describeFault(fault: ShapeFault): string {
  if (fault.kind !== 'unknown') return formatPredicate(fault, '').trimStart();
  return `is not ${fault.member ?? 'known'}${didYouMean(formatLast(fault.path), fault.known)}`;
}

/** Formats the last step of a path. */
function formatLast(path: ShapePath): string {
  return formatPath(path.slice(-1));
}

/** Formats the name of a part: `limits.body of a service`. */
function formatName(path: ShapePath, where: Where): string {
  if (typeof where === 'string') return path.length === 0 ? where : `${formatPath(path)} of ${where}`;
  if (!('optionsOf' in where)) return formatPath([...where, ...path]) || 'the value';
  return path.length === 0 ? `the options of ${where.optionsOf}` : formatPath(path);
}

function formatPredicate(fault: Exclude<ShapeFault, { kind: 'unknown' }>, what: string): string {
  switch (fault.kind) {
    case 'word':
      return `${what} must be ${fault.expected}, is ${formatWord(fault)}`;
    case 'type':
      return `${what} must be ${fault.expected}, is ${formatKind(fault.value)}`;
    case 'missing':
      return `${what} must be ${fault.expected}, is missing`;
    case 'secret':
      return `${what} must be ${fault.expected}`;
    case 'rule':
      return fault.says(what);
  }
}

/** Formats a value that is not a known word, with the word that was probably meant. */
function formatWord({ value, known, expected }: Extract<ShapeFault, { kind: 'word' }>): string {
  if (typeof value !== 'string') return formatKind(value);
  const isClear =
    known.every((word) => expected.includes(word)) && findClosestMatch(value, known) === undefined;
  return `${JSON.stringify(value)}${isClear ? '' : didYouMean(value, known)}`;
}

/** Formats a value for a message about it: text in quotes, `5`, `null`, `an object`. It must not be a secret. */
export function formatValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  return typeof value === 'object' && value !== null ? describeKind(value) : String(value);
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
