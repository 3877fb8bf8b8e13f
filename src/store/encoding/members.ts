import type { StoredRecord } from '../store.ts';
import { isRecordValue } from '../value.ts';
import { parseIsoDate } from './iso-date.ts';

/** Says why a text is not the expected record. The reader of the file adds the position. */
export class RecordFault extends Error {
  override readonly name: string = 'RecordFault';
}

/** How a number is read. */
interface CountRules {
  /** The value of a missing member. Default: the member is required. */
  readonly fallback?: number | undefined;
  /** The highest value. Default: the highest safe integer. */
  readonly max?: number | undefined;
}

/**
 * The members of a parsed object. Each method reads one member, and throws RecordFault if it does not have the expected type. No
 * message contains a value, because it may be a secret.
 */
export class Members {
  readonly #source: { readonly [name: string]: unknown };

  /** @param what the name of the object in messages */
  constructor(source: unknown, what: string) {
    if (!isObject(source)) throw new RecordFault(`${what} is not an object`);
    this.#source = source;
  }

  /** Parses JSON. Throws RecordFault if it is not an object. */
  static parse(text: string, what = 'the line'): Members {
    return new Members(parseJson(text), what);
  }

  has(name: string): boolean {
    return this.#source[name] !== undefined;
  }

  /** Returns a member of any type. */
  get(name: string): unknown {
    return this.#source[name];
  }

  /** Requires that there are no members but these. @param what the name of the object in the message */
  only(names: readonly string[], what: string): this {
    for (const name of Object.keys(this.#source))
      if (!names.includes(name)) throw new RecordFault(`${what} has a member that is not known`);
    return this;
  }

  /** Returns a string. */
  text(name: string): string {
    const value = this.#source[name];
    if (typeof value !== 'string') throw new RecordFault(`${name} is not a text`);
    return value;
  }

  /** Returns a safe integer of at least 0. */
  count(name: string, { fallback, max }: CountRules = {}): number {
    const value = this.#source[name];
    if (value === undefined && fallback !== undefined) return fallback;
    return readCount(value, name, max);
  }

  /** Returns a date in milliseconds since 1970. @param fallback the value of a missing member. Default: it is required. */
  time(name: string, fallback?: number): number {
    const value = this.#source[name];
    if (value === undefined && fallback !== undefined) return fallback;
    return readTime(value, name);
  }

  /** Returns whether a member is `true`. */
  flag(name: string): boolean {
    const value = this.#source[name];
    if (typeof value !== 'boolean') throw new RecordFault(`${name} is not true or false`);
    return value;
  }

  /** Returns an array. */
  list(name: string): readonly unknown[] {
    return readList(this.#source[name], name);
  }

  /** Returns an object. */
  object(name: string): Members {
    return new Members(this.#source[name], name);
  }

  /** Returns the value of an item. */
  value(name: string): StoredRecord {
    const value = this.#source[name];
    if (isRecordValue(value)) return value;
    throw new RecordFault(`its ${name} is not an object of strings, numbers, booleans, arrays and objects`);
  }
}

/** Decodes text that a person may have saved in another encoding. Throws RecordFault if it is not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new RecordFault('it is not UTF-8');
  }
}

/** Parses JSON. Throws RecordFault. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The message of the engine may quote the text.
    const position = /at position ([0-9]+)/.exec(error instanceof Error ? error.message : '')?.[1];
    throw new RecordFault(
      position === undefined ? 'it is not JSON' : `it is not JSON at character ${position}`,
    );
  }
}

/** Returns an array. */
export function readList(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new RecordFault(`${name} is not an array`);
  return value;
}

/** Returns a safe integer of at least 0 and at most `max`. */
export function readCount(value: unknown, name: string, max = Number.MAX_SAFE_INTEGER): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new RecordFault(`${name} is not a whole number`);
  if (value > max) throw new RecordFault(`${name} is above ${max}`);
  return value;
}

/** Returns the time (ms) of a date as `formatIsoDate` formats it. */
export function readTime(value: unknown, name: string): number {
  const time = typeof value === 'string' ? parseIsoDate(value) : undefined;
  if (time === undefined) throw new RecordFault(`${name} is not a date`);
  return time;
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
