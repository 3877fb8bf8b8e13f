/** The simple field types: what a value must look like as text, and which of its rules a text breaks. */

import { firstUnrepresentable, lengthOf, printable } from './characters.ts';
import { currencies } from './currency.ts';
import { compareDates, compareDateTimes, isDate, isDateTime } from './date.ts';
import { compareDecimals, fractionDigitsOf } from './decimal.ts';
import type { Pattern } from './pattern/match.ts';

/** The types of fields that hold a single value. */
export const simpleTypes = ['text', 'decimal', 'integer', 'boolean', 'date', 'dateTime', 'currency'] as const;
/** One of them. */
export type SimpleTypeName = (typeof simpleTypes)[number];

/** A simple type with the rules that a declaration adds to it. */
export interface Simple {
  readonly kind: 'simple';
  readonly type: SimpleTypeName;
  /** Of a decimal; 0 for the other types. */
  readonly fractionDigits: number;
  /** In characters (code points). */
  readonly maxLength: number | undefined;
  readonly pattern: Pattern | undefined;
  readonly oneOf: ReadonlySet<string> | undefined;
  readonly min: string | undefined;
  readonly max: string | undefined;
}

/** A rule that a value breaks, by the name of the option or type, and how, for a person. */
export interface Violation {
  readonly rule: string;
  readonly detail: string;
}

/** Every rule that the text breaks; when it is not of its type at all, that alone. */
export function violationsOf(simple: Simple, text: string): readonly Violation[] {
  const form = formBreach(simple, text);
  if (form !== undefined) return [form];
  if (simple.maxLength === undefined && simple.oneOf === undefined && simple.pattern === undefined) {
    if (simple.min === undefined && simple.max === undefined) return none;
  }
  return [...lengthAndPattern(simple, text), ...choiceAndRange(simple, text)];
}

const none: readonly Violation[] = [];

/** The value that is kept of a text without breaches. */
export function storedValue(simple: Simple, text: string): string | number | boolean {
  if (simple.type === 'integer') return Number(text);
  if (simple.type === 'boolean') return text === 'true';
  return text;
}

/** Negative when the first of two texts of the type is less, positive when it is greater, else 0. */
export function compare(type: SimpleTypeName, one: string, other: string): number {
  if (type === 'decimal') return compareDecimals(one, other);
  if (type === 'date') return compareDates(one, other);
  if (type === 'dateTime') return compareDateTimes(one, other);
  return Number(one) - Number(other);
}

function formBreach(simple: Simple, text: string): Violation | undefined {
  switch (simple.type) {
    case 'text':
      return textBreach(text);
    case 'decimal':
      return decimalBreach(text, simple.fractionDigits);
    case 'integer':
      return integerBreach(text);
    case 'boolean':
      return unless(text === 'true' || text === 'false', 'boolean', 'must be true or false', text);
    case 'date':
      return unless(isDate(text), 'date', 'must be a day of the calendar written YYYY-MM-DD', text);
    case 'dateTime':
      return unless(
        isDateTime(text),
        'dateTime',
        `must be a date and time with its offset ${dateTimeForm}`,
        text,
      );
    case 'currency':
      return unless(currencies.has(text), 'currency', 'must be an ISO 4217 code in upper case', text);
  }
}

const dateTimeForm = '(RFC 3339), such as 2013-04-20T12:59:24Z';

function unless(holds: boolean, rule: string, must: string, text: string): Violation | undefined {
  return holds ? undefined : { rule, detail: `${must}, is ${quoted(text)}` };
}

function textBreach(text: string): Violation | undefined {
  const character = firstUnrepresentable(text);
  if (character === undefined) return undefined;
  return { rule: 'character', detail: `must have no character that XML cannot carry, has ${character}` };
}

function decimalBreach(text: string, expected: number): Violation | undefined {
  const actual = fractionDigitsOf(text);
  if (actual === undefined) {
    const must =
      'must be digits, perhaps with a leading minus and a point; no plus, exponent or leading zeros';
    return { rule: 'decimal', detail: `${must}; is ${quoted(text)}` };
  }
  if (actual === expected) return undefined;
  const digits = expected === 1 ? 'digit' : 'digits';
  return {
    rule: 'fractionDigits',
    detail: `must have exactly ${expected} fraction ${digits}, has ${actual}`,
  };
}

function integerBreach(text: string): Violation | undefined {
  if (!/^(?:0|-?[1-9][0-9]*)$/.test(text)) {
    const must = 'must be a whole number: digits, perhaps with a leading minus, no leading zeros';
    return { rule: 'integer', detail: `${must}; is ${quoted(text)}` };
  }
  if (Number.isSafeInteger(Number(text))) return undefined;
  const most = Number.MAX_SAFE_INTEGER;
  return { rule: 'integer', detail: `must lie between -${most} and ${most}, is ${quoted(text)}` };
}

function lengthAndPattern(simple: Simple, text: string): Violation[] {
  const { maxLength, pattern } = simple;
  const length = maxLength === undefined ? 0 : lengthOf(text);
  // A text that is too long is not matched: the time that a pattern may take is reckoned with its length.
  if (maxLength !== undefined && length > maxLength) {
    return [{ rule: 'maxLength', detail: `must have at most ${maxLength} characters, has ${length}` }];
  }
  if (pattern === undefined || pattern.matches(text)) return [];
  return [{ rule: 'pattern', detail: `must match ${pattern.source}, is ${quoted(text)}` }];
}

function choiceAndRange(simple: Simple, text: string): Violation[] {
  const { type, oneOf, min, max } = simple;
  const breaches: Violation[] = [];
  if (oneOf !== undefined && !oneOf.has(text)) {
    breaches.push({ rule: 'enum', detail: `must be one of ${[...oneOf].join(', ')}; is ${quoted(text)}` });
  }
  if (min !== undefined && compare(type, text, min) < 0) {
    breaches.push({ rule: 'min', detail: `must be at least ${min}, is ${quoted(text)}` });
  }
  if (max !== undefined && compare(type, text, max) > 0) {
    breaches.push({ rule: 'max', detail: `must be at most ${max}, is ${quoted(text)}` });
  }
  return breaches;
}

function quoted(text: string): string {
  return text === '' ? 'empty' : `“${printable(text)}”`;
}
