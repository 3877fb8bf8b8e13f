import { parseIsoDate } from './iso-date.ts';

/** Returns whether a parsed value is an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns whether a parsed value is a safe integer of at least 0. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Returns the time (ms) of a date; undefined if the parsed value is not a date as `formatIsoDate` formats it. */
export function timeOf(value: unknown): number | undefined {
  return typeof value === 'string' ? parseIsoDate(value) : undefined;
}
