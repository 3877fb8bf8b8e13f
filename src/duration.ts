/**
 * A duration: text such as `250ms`, `90s`, `11m`, `24h` or `7d`, or a number: seconds where HTTP or OAuth counts them, as in `window`
 * and `lifetimes`, otherwise milliseconds.
 */
export type Duration = number | string;

/** A duration as text, unless it is `0`. */
export const durationForm = /^([0-9]{1,6})(ms|[smhd])$/;

const unitLengths: ReadonlyMap<string | undefined, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/**
 * Reads a duration as milliseconds. Undefined if it is malformed or negative.
 * @param unit the length in ms of what a number counts: 1000 where HTTP or OAuth counts seconds, otherwise 1
 */
export function readDuration(value: unknown, unit: 1 | 1000): number | undefined {
  if (typeof value === 'string') return parseDuration(value);
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value * unit : undefined;
}

/** Reads a duration that may be negative, such as `-24h`, as milliseconds. A number is in ms. Undefined if it is malformed. */
export function readSignedDuration(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string') return undefined;
  const length = parseDuration(value.replace(/^[+-]/, ''));
  return length !== undefined && value.startsWith('-') ? -length : length;
}

/** Parses a duration such as `250ms`, `90s`, `15m`, `24h`, `7d` or `0`. Returns milliseconds; undefined if malformed. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  const [, digits, unit] = durationForm.exec(text) ?? [];
  const length = unitLengths.get(unit);
  return length === undefined ? undefined : Number(digits) * length;
}

/**
 * Returns the milliseconds of a duration, whose numbers are milliseconds.
 * @throws RangeError if it is neither a number from 0 nor text such as `10s`
 */
export function requireDuration(duration: Duration, name: string): number {
  const length = readDuration(duration, 1);
  if (length !== undefined) return length;
  throw new RangeError(`${name} is not a number of milliseconds or a duration such as '10s'`);
}

/**
 * Returns the milliseconds of a duration, whose numbers are seconds.
 * @param min the shortest duration, in seconds
 * @param max the longest duration, in seconds
 * @throws RangeError if it is neither a number in this range nor text such as `10m`
 */
export function requireSeconds(duration: unknown, name: string, min: number, max: number): number {
  const length = readDuration(duration, 1000);
  if (length !== undefined && length >= min * 1000 && length <= max * 1000) return length;
  throw new RangeError(`${name} is not a number of seconds from ${min} to ${max}, or text such as '10m'`);
}
