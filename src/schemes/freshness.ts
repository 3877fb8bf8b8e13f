// Describes the times of requests: how far they are off, why, and in which form they were sent.
import { formatCount } from '../counted.ts';
import { findRepeated } from '../http/syntax/token.ts';
import { parseTimestamp, type TimestampUnit, timestampUnits } from './declared/timestamp.ts';

/** Rounds a time (ms) down to whole seconds: fractions of a second are ignored. */
export function wholeSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

/** Describes a time outside the window, in seconds: `The date is 700 s behind the server's clock; the maximum is 600 s.` */
export function describeDistance(subject: string, off: number, max: number): string {
  const direction = off < 0 ? 'behind' : 'ahead of';
  return `${subject} is ${Math.abs(off)} s ${direction} the server's clock; the maximum is ${max} s.`;
}

/** The hint at the cause of a wrong date, if there is no better one. */
const wrongClock = "the client's clock is wrong, or the request was delayed";

/** Tolerance (s, in either direction) for a time zone offset, because of the transmission time. */
const tolerance = 30;

/**
 * Returns the hours by which a time zone could explain a wrong date; undefined if none could. Time zone offsets are multiples of a
 * quarter of an hour, up to 14 hours. Below one hour a wrong clock is more likely.
 *
 * @param off The difference between the date and the clock (s).
 */
function computeZoneHours(off: number): number | undefined {
  const distance = Math.abs(off);
  const quarters = Math.round(distance / 900);
  const isZone = quarters >= 4 && quarters <= 56 && Math.abs(distance - quarters * 900) <= tolerance;
  return isZone ? quarters / 4 : undefined;
}

/** Returns the likely cause of a time that differs from the clock by `off` seconds. */
export function describeTimeError(subject: string, off: number): string {
  const hours = computeZoneHours(off);
  if (hours === undefined) return wrongClock;
  const exactly = Math.abs(off) === hours * 3600 ? 'exactly' : 'nearly';
  const distance = `${exactly} ${formatCount(hours, 'hour')}`;
  const what = subject.charAt(0).toLowerCase() + subject.slice(1);
  return `off by ${distance}: probably a time zone; ${what} must be in UTC`;
}

/** Tolerance (ms, in either direction) for the time between signing and verification. */
const transmission = 60_000;

/**
 * Returns the hint at a date that is right by the clock of the host, from which the clock of the service was moved away; undefined
 * if it is none. Both in ms.
 */
export function describeMovedClock(off: number, ahead = 0): string | undefined {
  if (Math.abs(ahead) < transmission || Math.abs(off + ahead) > transmission) return undefined;
  const direction = ahead > 0 ? 'ahead of' : 'behind';
  return `the client uses the time of the host; the clock of this service was moved, and is ${Math.round(Math.abs(ahead) / 1000)} s ${direction} it`;
}

/** Tolerance (ms, in either direction) for another unit, because of the transmission time and the clock. */
const unitTolerance = 3_600_000;

/** Returns the hint at a time (ms) that was sent in seconds in place of milliseconds, or the reverse; undefined if it is none. */
export function describeOtherUnit(subject: string, time: number, now: number): string | undefined {
  const what = subject.charAt(0).toLowerCase() + subject.slice(1);
  if (Math.abs(time / 1000 - now) <= unitTolerance) return `${what} is in milliseconds; seconds are expected`;
  if (Math.abs(time * 1000 - now) <= unitTolerance) return `${what} is in seconds; milliseconds are expected`;
  return undefined;
}

/** How the unit of a timestamp is named in errors. */
export const unitNames: Readonly<Record<TimestampUnit, string>> = {
  s: 'a number of seconds since 1970',
  'fractional-s': 'a number of seconds since 1970, with or without a fraction',
  ms: 'a number of milliseconds since 1970',
  rfc3339: 'a date and time of RFC 3339',
  'http-date': 'an IMF-fixdate',
};

const joinedValues = 'two values that were joined by a comma';

/** Forms of a time that no unit has, as they follow "it is". */
const wrongTimeForms: readonly (readonly [form: RegExp, description: string])[] = [
  [/^\s*$/, 'empty'],
  [/^"/, 'in quotes'],
  [/^1\d{15}$/, 'a number of microseconds since 1970'],
  [/^1\d{18}$/, 'a number of nanoseconds since 1970'],
  [/^(?:undefined|null|none|nan)$/i, 'a word for no value'],
  [/^[A-Z][a-z]+, \d\d-[A-Z][a-z]{2}-\d\d /, 'a date in the obsolete form of RFC 850'],
  [/^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d /, 'a date in the form of asctime'],
  [/^\d{8,}(?:T\d+Z)?, ?\d|^(?:[A-Z][a-z]{2}, )?\d[^,]{1,30}, [A-Z\d]/, joinedValues],
  [/ UTC$/, 'a date with the zone UTC in place of GMT'],
  [/^(?:[A-Z][a-z]{2}, |\d\d? [A-Za-z]).*[+-]\d\d:?\d\d$/, 'a date with an offset in place of GMT'],
  [/^(?:[A-Z][a-z]+, )?\d\d? [A-Za-z]{4,} /, 'a date whose month is written out'],
  [/^[A-Z][a-z]{2}, .* GMT$/, 'a date whose weekday is wrong, or that does not exist'],
  [/^\d\d? [A-Za-z]{3} \d{4} \d\d:\d\d:\d\d$/, 'a date that does not exist'],
];

/** Describes the form of a time that was sent in another one: `an IMF-fixdate`. Undefined if it is not known. */
export function describeTimeForm(text: string): string | undefined {
  if (text.length > 64) return undefined;
  const unit = timestampUnits.find((other) => parseTimestamp(text, other) !== undefined);
  if (unit === 's') return 'a number';
  if (unit === 'fractional-s' || /^\d+\.\d+$/.test(text)) return 'a number with a fraction';
  if (unit !== undefined) return unitNames[unit];
  if ((findRepeated(text)?.length ?? 0) >= 9) return joinedValues;
  const wrong = wrongTimeForms.find(([form]) => form.test(text));
  if (wrong !== undefined) return wrong[1];
  return /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(text) ? 'a date and time without an offset' : undefined;
}

/** Returns a hint for a malformed date, from its form. */
export function explainDateForm(date: string): string | undefined {
  if (/^\d{1,2}[A-Za-z]{3}\d{4}/.test(date))
    return 'the spaces must be removed only in the message, not in the field';
  const form = describeTimeForm(date);
  return form && `it is ${form}`;
}

/** Returns a hint for a timestamp that is not a number of seconds, from its form. */
export function explainSecondsForm(text: string): string | undefined {
  if (/^[1-9]\d{12,15}$/.test(text)) return 'the timestamp is in milliseconds; seconds are expected';
  const form = describeTimeForm(text);
  if (form === 'a number' || text.length > 64) return undefined;
  if (form !== undefined) return `the timestamp is ${form}; a number of seconds is expected`;
  return /[A-Za-z]{3}/.test(text) ? 'the timestamp is a date; a number of seconds is expected' : undefined;
}
