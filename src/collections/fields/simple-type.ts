/** The simple field types: the texts that are their values, and the order of these. */

import { countCharacters, firstUnrepresentable, toPrintable } from '../../http/syntax/characters.ts';
import type { StoredValue } from '../../store/store.ts';
import { copyString } from '../../xml/copy-string.ts';
import { isJsonText, maxJsonDepth } from './any-json.ts';
import type { Pattern } from './pattern/match.ts';
import { type FieldFormat, fieldFormats, instantKey, isDate, isDateTime, isOfFormat } from './text-format.ts';

/** The types of fields with a single value. */
export const simpleTypes = [
  'text',
  'decimal',
  'integer',
  'boolean',
  'date',
  'dateTime',
  'currency',
  'json',
  'reference',
] as const;
/** The name of a simple type. */
export type SimpleTypeName = (typeof simpleTypes)[number];

/** What happens to an item if the item to which it refers is deleted, in the order of documents. */
export const deletionRules = ['restrict', 'cascade', 'clear'] as const;

/** What a field refers to. */
export interface ReferenceTo {
  /** The path of the collection. */
  readonly to: string;
  /** Whether an item is not deleted to which the field refers, or the item with the field is deleted too, or the field is removed. */
  readonly onDelete: (typeof deletionRules)[number];
}

/** The bounds of a range in words, and whether they exclude a value: negative if it is less than the bound. */
export const bounds = {
  min: { words: 'at least', excludes: (order: number) => order < 0 },
  max: { words: 'at most', excludes: (order: number) => order > 0 },
  exclusiveMin: { words: 'more than', excludes: (order: number) => order <= 0 },
  exclusiveMax: { words: 'less than', excludes: (order: number) => order >= 0 },
};

/** The names of the bounds, in the order of messages. */
export const boundNames = ['min', 'max', 'exclusiveMin', 'exclusiveMax'] as const;

/** A simple type with the rules of a declaration. */
export interface Simple extends Readonly<Record<(typeof boundNames)[number], string | undefined>> {
  readonly kind: 'simple';
  /** Whether there are rules beside the type. */
  readonly hasRules: boolean;
  readonly type: SimpleTypeName;
  /** The number of fraction digits of a decimal; 0 for other types. */
  readonly fractionDigits: number;
  /** The minimum and maximum length in characters (code points). */
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly format: FieldFormat | undefined;
  readonly pattern: Pattern | undefined;
  readonly oneOf: ReadonlySet<string> | undefined;
  /** What it refers to, if it is a reference. */
  readonly reference: ReferenceTo | undefined;
}

/** A violation of a rule: the name of the option or type, and a message. */
export interface Violation {
  readonly rule: string;
  readonly detail: string;
}

/** Returns all rules that the text violates. If it violates its type, only that is returned. */
export function listViolations(simple: Simple, text: string): readonly Violation[] {
  const form = types[simple.type].findViolation(text, simple.fractionDigits);
  if (form !== undefined) return [form];
  if (!simple.hasRules) return none;
  return [...lengthAndPattern(simple, text), ...choiceAndRange(simple, text)];
}

const none: readonly Violation[] = [];

/**
 * Returns the value of a text as it is stored, which does not retain the document. Returns undefined if it violates a rule.
 * @param report called with each violation
 */
export function readSimple(
  simple: Simple,
  text: string,
  report: (violation: Violation) => void,
): string | number | boolean | undefined {
  const violations = listViolations(simple, text);
  for (const violation of violations) report(violation);
  if (violations.length > 0) return undefined;
  const value = toStoredValue(simple, text);
  return typeof value === 'string' ? copyString(value) : value;
}

/** Returns the stored value of a valid text. */
export function toStoredValue(simple: Pick<Simple, 'type'>, text: string): string | number | boolean {
  if (simple.type === 'integer') return Number(text);
  if (simple.type === 'boolean') return text === 'true';
  return text;
}

/** Returns whether a text is a value of a type. A decimal may have any number of fraction digits. */
export function isOfType(type: SimpleTypeName, text: string): boolean {
  return types[type].findViolation(text, countFractionDigits(text) ?? 0) === undefined;
}

/** Compares two texts of a type: negative if the first is less, positive if it is greater, else 0. */
export function compare(type: SimpleTypeName, one: string, other: string): number {
  const { computeKey, compare } = selectOrder(type);
  const [first, second] = [one, other].map((text) => computeKey(toStoredValue({ type }, text)));
  return first === undefined || second === undefined ? Number.NaN : compare(first, second);
}

/** A value in a form that can be compared with others of its type. */
export type Key = string | number;

/** The order of the values of a simple type. */
export interface TypeOrder {
  /** Returns the key of a stored value; undefined if it is not of this type. */
  computeKey(value: StoredValue): Key | undefined;
  /** Parses a key that was written as text; undefined if it is malformed. */
  parseKey(text: string): Key | undefined;
  /** Compares two keys: negative if the first is less, positive if it is greater, else 0. */
  compare(one: Key, other: Key): number;
}

/** Returns the order of a type. Text is compared by its UTF-16 code units, decimals, dates and times by their value. */
export function selectOrder(type: SimpleTypeName): TypeOrder {
  return types[type].order;
}

const textOrder: TypeOrder = {
  computeKey: (value) => (typeof value === 'string' ? value : undefined),
  parseKey: (text) => text,
  compare: compareKeys,
};

const decimalOrder: TypeOrder = {
  computeKey: (value) => (typeof value === 'string' ? decimalKey(value) : undefined),
  parseKey: decimalKey,
  compare: (one, other) => compareDecimals(String(one), String(other)),
};

const instantOrder: TypeOrder = {
  ...textOrder,
  computeKey: (value) => (typeof value === 'string' ? instantKey(value) : undefined),
};

/** The order of integers. */
export const numberOrder: TypeOrder = {
  computeKey: (value) => (typeof value === 'number' ? value : undefined),
  parseKey: (text) => (/^-?[0-9]{1,16}$/.test(text) ? Number(text) : undefined),
  compare: compareKeys,
};

const booleanOrder: TypeOrder = {
  ...numberOrder,
  computeKey: (value) => (typeof value === 'boolean' ? Number(value) : undefined),
};

function decimalKey(text: string): string | undefined {
  return countFractionDigits(text) === undefined ? undefined : text;
}

function compareKeys(one: Key, other: Key): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** What a simple type is. */
interface SimpleType {
  readonly order: TypeOrder;
  /** Returns the rule that a text violates; undefined if it is a value of the type. */
  findViolation(text: string, fractionDigits: number): Violation | undefined;
}

const types: Readonly<Record<SimpleTypeName, SimpleType>> = {
  text: { order: textOrder, findViolation: textViolation },
  reference: {
    order: textOrder,
    findViolation: (text) =>
      textViolation(text) ?? violationUnless(text !== '', 'reference', 'must be an id or an address', text),
  },
  decimal: { order: decimalOrder, findViolation: decimalViolation },
  integer: { order: numberOrder, findViolation: integerViolation },
  boolean: oneForm(
    booleanOrder,
    (text) => text === 'true' || text === 'false',
    'boolean',
    'must be true or false',
  ),
  date: oneForm(textOrder, isDate, 'date', 'must be a calendar date in the form YYYY-MM-DD'),
  dateTime: oneForm(
    instantOrder,
    isDateTime,
    'dateTime',
    'must be a date and time with an offset (RFC 3339), such as 2013-04-20T12:59:24Z',
  ),
  currency: oneForm(
    textOrder,
    (text) => currencies.has(text),
    'currency',
    'must be an ISO 4217 currency code in upper case',
  ),
  json: oneForm(textOrder, isJsonText, 'json', `must be JSON, at most ${maxJsonDepth} levels deep`),
};

/** Returns a type whose values have one form. */
function oneForm(
  order: TypeOrder,
  isValue: (text: string) => boolean,
  rule: string,
  must: string,
): SimpleType {
  return { order, findViolation: (text) => violationUnless(isValue(text), rule, must, text) };
}

function violationUnless(holds: boolean, rule: string, must: string, text: string): Violation | undefined {
  return holds ? undefined : { rule, detail: `${must}, is ${quote(text)}` };
}

function textViolation(text: string): Violation | undefined {
  const character = firstUnrepresentable(text);
  if (character === undefined) return undefined;
  return {
    rule: 'character',
    detail: `must not contain a character that XML cannot represent, contains ${character}`,
  };
}

function decimalViolation(text: string, expected: number): Violation | undefined {
  const actual = countFractionDigits(text);
  if (actual === undefined) {
    const must =
      'must be digits with an optional leading minus and decimal point; no plus sign, exponent or leading zeros';
    return { rule: 'decimal', detail: `${must}; is ${quote(text)}` };
  }
  if (actual === expected) return undefined;
  const digits = expected === 1 ? 'digit' : 'digits';
  return {
    rule: 'fractionDigits',
    detail: `must have exactly ${expected} fraction ${digits}, has ${actual}`,
  };
}

function integerViolation(text: string): Violation | undefined {
  if (!/^(?:0|-?[1-9][0-9]*)$/.test(text)) {
    const must = 'must be a whole number: digits with an optional leading minus, no leading zeros';
    return { rule: 'integer', detail: `${must}; is ${quote(text)}` };
  }
  if (Number.isSafeInteger(Number(text))) return undefined;
  const max = Number.MAX_SAFE_INTEGER;
  return { rule: 'integer', detail: `must be between -${max} and ${max}, is ${quote(text)}` };
}

function lengthAndPattern(simple: Simple, text: string): Violation[] {
  const { minLength = 0, maxLength, pattern, format } = simple;
  const length = maxLength === undefined && minLength === 0 ? 0 : countCharacters(text);
  // A text that is too long is not matched, because the time limit of patterns assumes its maximum length.
  if (maxLength !== undefined && length > maxLength) {
    return [{ rule: 'maxLength', detail: `must have at most ${maxLength} characters, has ${length}` }];
  }
  if (length < minLength)
    return [{ rule: 'minLength', detail: `must have at least ${minLength} characters, has ${length}` }];
  if (format !== undefined && isOfFormat(text, format) === false)
    return [{ rule: 'format', detail: `${fieldFormats[format]}, is ${quote(text)}` }];
  if (pattern === undefined || pattern.matches(text)) return [];
  return [{ rule: 'pattern', detail: `must match the pattern ${pattern.source}, is ${quote(text)}` }];
}

function choiceAndRange(simple: Simple, text: string): Violation[] {
  const { type, oneOf } = simple;
  const violations: Violation[] = [];
  if (oneOf !== undefined && !oneOf.has(text)) {
    violations.push({ rule: 'enum', detail: `must be one of ${[...oneOf].join(', ')}; is ${quote(text)}` });
  }
  for (const name of boundNames) {
    const bound = simple[name];
    if (bound !== undefined && bounds[name].excludes(compare(type, text, bound)))
      violations.push({ rule: name, detail: `must be ${bounds[name].words} ${bound}, is ${quote(text)}` });
  }
  return violations;
}

function quote(text: string): string {
  return text === '' ? 'empty' : `“${toPrintable(text)}”`;
}

// Decimals are compared as text and never converted to binary fractions.

const decimalForm = /^-?(?:0|[1-9][0-9]*)(?:\.([0-9]+))?$/;

/**
 * Returns the number of fraction digits; undefined if the text is not a decimal. Negative zero is not a
 * decimal.
 */
function countFractionDigits(text: string): number | undefined {
  const parts = decimalForm.exec(text);
  if (parts === null || (text.startsWith('-') && /^-[0.]+$/.test(text))) return undefined;
  return parts[1]?.length ?? 0;
}

/** Compares two decimals: negative if the first is less, positive if it is greater, else 0. */
function compareDecimals(one: string, other: string): number {
  const [minusOne, minusOther] = [one.startsWith('-'), other.startsWith('-')];
  if (minusOne !== minusOther) return minusOne ? -1 : 1;
  const excess = fractionLength(one) - fractionLength(other);
  const order = compareMagnitudes(padFraction(one, -excess), padFraction(other, excess));
  return minusOne ? -order : order;
}

function fractionLength(decimal: string): number {
  const point = decimal.indexOf('.');
  return point < 0 ? 0 : decimal.length - point - 1;
}

/** Appends zeros to the fraction; none for a negative number. */
function padFraction(decimal: string, zeros: number): string {
  if (zeros <= 0) return decimal;
  return (decimal.includes('.') ? decimal : `${decimal}.`) + '0'.repeat(zeros);
}

/**
 * Without leading zeros, a longer number is greater; numbers of the same length are ordered like their
 * digits.
 */
function compareMagnitudes(one: string, other: string): number {
  if (one.length !== other.length) return one.length - other.length;
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/**
 * The active codes of ISO 4217, including funds, precious metals, testing and no currency, as published in
 * list one of 2026-01-01.
 */
export const currencies: ReadonlySet<string> = new Set(
  (
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF ' +
    'CHE CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP ' +
    'GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT ' +
    'LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR ' +
    'NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN ' +
    'SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAD ' +
    'XAF XAG XAU XBA XBB XBC XBD XCD XCG XDR XOF XPD XPF XPT XSU XTS XUA XXX YER ZAR ZMW ZWG'
  ).split(' '),
);
