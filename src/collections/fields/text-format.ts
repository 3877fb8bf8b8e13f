// Checks the formats of JSON Schema and OpenAPI for texts. Every expression takes linear time.

import { findSyntaxFault } from './pattern/ecma-syntax.ts';

// Parses and compares dates and times without the host's clock or time zone.

const dateForm = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/;
const dateTimeForm =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))$/;

/** Returns whether the text is a calendar date in the form YYYY-MM-DD. */
export function isDate(text: string): boolean {
  return dayNumber(text) !== undefined;
}

/** Returns whether the text is a date and time with an offset (RFC 3339 §5.6 and §5.7). */
export function isDateTime(text: string): boolean {
  return parseInstant(text) !== undefined;
}

/**
 * Returns text that orders dates and times: the text of an earlier instant is less than that of a later one. Returns undefined for
 * an invalid date and time.
 */
export function instantKey(text: string): string | undefined {
  const instant = parseInstant(text);
  if (instant === undefined) return undefined;
  return `${instant.seconds + beforeYearZero}`.padStart(12, '0') + instant.fraction;
}

/** Seconds to add so that no instant of the years 0000 to 9999 is negative. */
const beforeYearZero = 100_000_000_000;

/** An instant: seconds since 1970-01-01T00:00:00Z, and the digits of the fraction without trailing zeros. */
interface Instant {
  readonly seconds: number;
  readonly fraction: string;
}

function parseInstant(text: string): Instant | undefined {
  const parts = dateTimeForm.exec(text);
  if (parts === null) return undefined;
  const date = parts[1] ?? '';
  const day = dayNumber(date);
  const [hour, minute, second] = [Number(parts[2]), Number(parts[3]), Number(parts[4])];
  const [offsetHour, offsetMinute] = [Number(parts[7] ?? 0), Number(parts[8] ?? 0)];
  if (day === undefined || hour > 23 || minute > 59 || second > 60) return undefined;
  if (offsetHour > 23 || offsetMinute > 59) return undefined;
  const offset = (offsetHour * 60 + offsetMinute) * (parts[6] === '-' ? -1 : 1);
  const minutes = day * 1440 + hour * 60 + minute - offset;
  if (second === 60 && !beginsMonth(minutes + 1, date)) return undefined;
  return { seconds: minutes * 60 + second, fraction: removeTrailingZeros(parts[5] ?? '') };
}

/**
 * Returns whether a month begins at this minute of UTC. A leap second immediately precedes one (RFC 3339
 * §5.7). The date is local, so the month is its own or the next.
 */
function beginsMonth(minutes: number, date: string): boolean {
  const [year, month] = [Number(date.slice(0, 4)), Number(date.slice(5, 7))];
  const next = month === 12 ? daysTo(year + 1, 1, 1) : daysTo(year, month + 1, 1);
  return minutes === daysTo(year, month, 1) * 1440 || minutes === next * 1440;
}

function removeTrailingZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end--;
  return digits.slice(0, end);
}

/** Returns the number of days since 1970-01-01; undefined for an invalid date. */
function dayNumber(text: string): number | undefined {
  const parts = dateForm.exec(text);
  if (parts === null) return undefined;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  return daysTo(year, month, day);
}

/** Returns the number of days since 1970-01-01 in the proleptic Gregorian calendar (ISO 8601). */
function daysTo(year: number, month: number, day: number): number {
  // Counts years from March, so that the leap day is the last day of a year.
  const years = month > 2 ? year : year - 1;
  const leaps = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  const before = Math.floor((153 * ((month + 9) % 12) + 2) / 5);
  return years * 365 + leaps + before + day - 719_469;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** The formats that a field can require, with what its values must be. An email address is one that browsers accept (HTML, "valid email address"). */
export const fieldFormats = {
  email: 'must be an email address',
  uri: 'must be an absolute URI (RFC 3986)',
  uuid: 'must be a UUID (RFC 9562)',
} as const;

/** The name of a format of fields. */
export type FieldFormat = keyof typeof fieldFormats;

/** The names of the formats of fields, in the order of documents. */
export const fieldFormatNames: readonly FieldFormat[] = ['email', 'uri', 'uuid'];

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const labels = `${label}(?:\\.${label})*`;
const hostnameForm = new RegExp(`^(?=.{1,253}$)${labels}$`, 'i');
const emailForm = new RegExp(`^[a-z0-9.!#$%&'*+/=?^_\`{|}~-]+@${labels}$`, 'i');
const timeForm = /^(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;
const durationForm = /^P(?!$)(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?$/;
const ipv4Form = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;
const uuidForm = /^(?:urn:uuid:)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const absoluteForm = /^[a-z][a-z0-9+.-]*:/i;

/** The length of the longest regular expression that is examined: the time that engines take for nested groups grows faster. */
const maxExpressionLength = 4096;

const formats: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  time: (text) => timeForm.test(text),
  // RFC 3339 §5.6 permits a space in place of the "T".
  'date-time': (text) => isDateTime(text.replace(' ', 'T')),
  duration: (text) => durationForm.test(text),
  email: (text) => emailForm.test(text),
  uuid: (text) => uuidForm.test(text),
  uri: (text) => absoluteForm.test(text) && isReference(text) && URL.canParse(text),
  'uri-reference': isReference,
  hostname: (text) => hostnameForm.test(text),
  ipv4: (text) => ipv4Form.test(text),
  ipv6: (text) => text.includes(':') && URL.canParse(`http://[${text}]/`),
  byte: (text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text),
  'json-pointer': (text) => /^(?:\/(?:[^~/]|~[01])*)*$/.test(text),
  regex: (text) => text.length > maxExpressionLength || findSyntaxFault(text) === undefined,
};

/** Returns whether a text has a format; undefined if the format is not known. */
export function isOfFormat(text: string, format: string): boolean | undefined {
  return Object.hasOwn(formats, format) ? formats[format]?.(text) : undefined;
}

function isReference(text: string): boolean {
  return /^[^\s<>"{}|\\^`]*$/.test(text) && !/%(?![0-9a-f]{2})/i.test(text);
}
