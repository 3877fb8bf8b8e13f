// Dates of HTTP (RFC 9110 §5.6.7) and the date that a signature covers. All of it is read and written in UTC by
// place and digit, so the host's time zone and the engine's own date parsing have no part in it.

const dayMs = 86_400_000;
/** The Gregorian calendar repeats after 400 years. */
const cycleMs = 146_097 * dayMs;

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const longWeekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const monthCodes = months.map((name) =>
  inLowerCase(name.charCodeAt(0), name.charCodeAt(1), name.charCodeAt(2)),
);
const monthLengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const earliest = -62_167_219_200_000;
const latest = 253_402_300_799_999;

/** Writes ms since 1970 as an IMF-fixdate. Throws a RangeError outside the years 0000 to 9999. */
export function formatDate(ms: number): string {
  if (!(ms >= earliest && ms <= latest)) throw new RangeError(`There is no HTTP date for ${ms}`);
  // Not by toUTCString, of which the first call takes a quarter of a millisecond.
  const date = new Date(ms);
  const iso = date.toISOString();
  const [weekday = '', month = ''] = [weekdays[date.getUTCDay()], months[date.getUTCMonth()]];
  return `${weekday}, ${iso.slice(8, 10)} ${month} ${iso.slice(0, 4)} ${iso.slice(11, 19)} GMT`;
}

/** How many seconds are remembered as text; a power of 2. */
const rememberedSeconds = 256;

/** Makes a `formatDate` that remembers the seconds it wrote lately: now, and when what is read often was changed. */
export function createDateCache(): (ms: number) => string {
  const seconds = new Float64Array(rememberedSeconds).fill(Number.NaN);
  const texts: string[] = new Array<string>(rememberedSeconds).fill('');
  return (ms) => {
    const second = Math.floor(ms / 1000);
    const place = second & (rememberedSeconds - 1);
    if (seconds[place] !== second) {
      texts[place] = formatDate(ms);
      seconds[place] = second;
    }
    return texts[place] ?? '';
  };
}

/**
 * Reads an HTTP-date in any of its three forms as ms since 1970; undefined when it is not one. `now` in ms says
 * which century a two-digit year is of. A leap second (:60) is not taken.
 */
export function parseDate(value: string, now: number): number | undefined {
  if (value.charCodeAt(3) === 0x2c) return parseFixdate(value);
  return value.charCodeAt(3) === 0x20 ? parseAsctime(value) : parseRfc850(value, now);
}

/** `Sun, 06 Nov 1994 08:49:37 GMT`; the name of the day must be the right one. */
function parseFixdate(value: string): number | undefined {
  if (value.length !== 29 || !value.startsWith(', ', 3) || !value.endsWith(' GMT')) return undefined;
  if (!isSpace(value, 7) || !isSpace(value, 11) || !isSpace(value, 16)) return undefined;
  const month = months.indexOf(value.slice(8, 11));
  const ms = instant(digits(value, 12, 4), month, digits(value, 5, 2), timeOfDay(value, 17));
  return ms !== undefined && weekdays[weekdayOf(ms)] === value.slice(0, 3) ? ms : undefined;
}

/** `Sun Nov  6 08:49:37 1994` */
function parseAsctime(value: string): number | undefined {
  if (value.length !== 24 || !weekdays.includes(value.slice(0, 3))) return undefined;
  if (!isSpace(value, 7) || !isSpace(value, 10) || !isSpace(value, 19)) return undefined;
  const month = months.indexOf(value.slice(4, 7));
  const day = isSpace(value, 8) ? digits(value, 9, 1) : digits(value, 8, 2);
  return instant(digits(value, 20, 4), month, day, timeOfDay(value, 11));
}

/** `Sunday, 06-Nov-94 08:49:37 GMT` */
function parseRfc850(value: string, now: number): number | undefined {
  const at = value.indexOf(',') + 1;
  if (!longWeekdays.includes(value.slice(0, Math.max(at - 1, 0)))) return undefined;
  if (value.length !== at + 23 || !isSpace(value, at) || !value.endsWith(' GMT')) return undefined;
  if (value[at + 3] !== '-' || value[at + 7] !== '-' || !isSpace(value, at + 10)) return undefined;
  const month = months.indexOf(value.slice(at + 4, at + 7));
  const day = digits(value, at + 1, 2);
  const time = timeOfDay(value, at + 11);
  const shortYear = digits(value, at + 8, 2);
  return shortYear < 0 ? undefined : instantOfShortYear(shortYear, month, day, time, now);
}

/** What would lie more than 50 years ahead is a hundred years earlier (RFC 9110 §5.6.7). */
function instantOfShortYear(
  shortYear: number,
  month: number,
  day: number,
  time: number,
  now: number,
): number | undefined {
  const limit = new Date(now);
  limit.setUTCFullYear(limit.getUTCFullYear() + 50);
  const lastYear = limit.getUTCFullYear();
  const year = lastYear - ((((lastYear - shortYear) % 100) + 100) % 100);
  const ms = instant(year, month, day, time);
  return ms !== undefined && ms > limit.getTime() ? instant(year - 100, month, day, time) : ms;
}

/**
 * Reads the date that a signature covers as ms since 1970: `20 apr 2013 12:59:24` (a day of one or two digits, an
 * English month in any case, UTC) or an IMF-fixdate. Undefined when it is neither, to the letter.
 */
export function parseSignedDate(value: string): number | undefined {
  const dayLength = isSpace(value, 1) ? 1 : 2;
  if (value.length !== dayLength + 18) return parseFixdate(value);
  const at = dayLength + 1;
  if (!isSpace(value, dayLength) || !isSpace(value, at + 3) || !isSpace(value, at + 8)) return undefined;
  const month = monthInAnyCase(value, at);
  return instant(digits(value, at + 4, 4), month, digits(value, 0, dayLength), timeOfDay(value, at + 9));
}

/** The month (from 0) whose three letters stand here, in any case; -1 where none does. */
function monthInAnyCase(value: string, at: number): number {
  const [first, second, third] = [value.charCodeAt(at), value.charCodeAt(at + 1), value.charCodeAt(at + 2)];
  // Only ASCII letters: the long s (U+017F) has S for its upper case, and September is not spelt with it.
  return (first | second | third) < 0x80 ? monthCodes.indexOf(inLowerCase(first, second, third)) : -1;
}

/** Three letters as one number; the bit 0x20 makes a capital of ASCII small, and no letter of anything else. */
function inLowerCase(first: number, second: number, third: number): number {
  return (first << 16) | (second << 8) | third | 0x202020;
}

function isSpace(value: string, at: number): boolean {
  return value.charCodeAt(at) === 0x20;
}

/** The number that stands in exactly these places, or -1. */
function digits(value: string, at: number, count: number): number {
  let number = 0;
  for (let place = at; place < at + count; place += 1) {
    const digit = value.charCodeAt(place) - 0x30;
    if (!(digit >= 0 && digit <= 9)) return -1;
    number = number * 10 + digit;
  }
  return number;
}

/** `hh:mm:ss` in ms since midnight, or -1. */
function timeOfDay(value: string, at: number): number {
  const hour = digits(value, at, 2);
  const minute = digits(value, at + 3, 2);
  const second = digits(value, at + 6, 2);
  if (value[at + 2] !== ':' || value[at + 5] !== ':') return -1;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return -1;
  return ((hour * 60 + minute) * 60 + second) * 1000;
}

/** The ms since 1970 of a day (month from 0) and its time; undefined when one of them cannot be. */
function instant(year: number, month: number, day: number, time: number): number | undefined {
  if (year < 0 || month < 0 || time < 0 || day < 1 || day > daysIn(year, month)) return undefined;
  // Date.UTC takes the years 0 to 99 for 1900 to 1999, so it is asked for the same day of a later cycle.
  return Date.UTC(year + 400, month, day) - cycleMs + time;
}

function daysIn(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 1 && leap ? 29 : (monthLengths[month] ?? 0);
}

/** 0 is Sunday; 1 January 1970 was a Thursday. */
function weekdayOf(ms: number): number {
  return (((Math.floor(ms / dayMs) + 4) % 7) + 7) % 7;
}
