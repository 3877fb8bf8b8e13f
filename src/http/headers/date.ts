// HTTP dates (RFC 9110 §5.6.7) and the date that a signature covers. Both are parsed and formatted in UTC, digit by digit, so the
// host's time zone and the engine's date parser have no effect.

const dayMs = 86_400_000;
/** The Gregorian calendar repeats after 400 years. */
const cycleMs = 146_097 * dayMs;

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const longWeekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const monthCodes = months.map((name) =>
  packLowerCase(name.charCodeAt(0), name.charCodeAt(1), name.charCodeAt(2)),
);
const monthLengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const earliest = -62_167_219_200_000;
const latest = 253_402_300_799_999;

/** Formats a time (ms since 1970-01-01T00:00:00Z) as an IMF-fixdate. Throws RangeError outside the years 0000 to 9999. */
export function formatDate(ms: number): string {
  if (!(ms >= earliest && ms <= latest)) throw new RangeError(`${ms} is outside the range of HTTP dates`);
  // Does not use toUTCString, whose first call takes a quarter of a millisecond.
  const date = new Date(ms);
  const iso = date.toISOString();
  const [weekday = '', month = ''] = [weekdays[date.getUTCDay()], months[date.getUTCMonth()]];
  return `${weekday}, ${iso.slice(8, 10)} ${month} ${iso.slice(0, 4)} ${iso.slice(11, 19)} GMT`;
}

/** The number of cached seconds; a power of 2. */
const cachedSeconds = 256;

/** Creates a `formatDate` that caches recent results: the present second, and modification times of items that are read often. */
export function createDateCache(): (ms: number) => string {
  const seconds = new Float64Array(cachedSeconds).fill(Number.NaN);
  const texts: string[] = new Array<string>(cachedSeconds).fill('');
  return (ms) => {
    const second = Math.floor(ms / 1000);
    const place = second & (cachedSeconds - 1);
    if (seconds[place] !== second) {
      texts[place] = formatDate(ms);
      seconds[place] = second;
    }
    return texts[place] ?? '';
  };
}

/**
 * Parses an HTTP-date in any of its three formats. Returns ms since 1970-01-01T00:00:00Z; undefined if it is malformed. `now` (ms)
 * determines the century of a two-digit year. A leap second (:60) is rejected.
 */
export function parseDate(value: string, now: number): number | undefined {
  if (value.charCodeAt(3) === 0x2c) return parseFixdate(value);
  return value.charCodeAt(3) === 0x20 ? parseAsctime(value) : parseRfc850(value, now);
}

/** Parses `Sun, 06 Nov 1994 08:49:37 GMT`; the day name must be correct. */
function parseFixdate(value: string): number | undefined {
  if (value.length !== 29 || !value.startsWith(', ', 3) || !value.endsWith(' GMT')) return undefined;
  if (!isSpace(value, 7) || !isSpace(value, 11) || !isSpace(value, 16)) return undefined;
  const month = months.indexOf(value.slice(8, 11));
  const ms = instant(digits(value, 12, 4), month, digits(value, 5, 2), timeOfDay(value, 17));
  return ms !== undefined && weekdays[computeWeekday(ms)] === value.slice(0, 3) ? ms : undefined;
}

/** Parses `Sun Nov  6 08:49:37 1994`. */
function parseAsctime(value: string): number | undefined {
  if (value.length !== 24 || !weekdays.includes(value.slice(0, 3))) return undefined;
  if (!isSpace(value, 7) || !isSpace(value, 10) || !isSpace(value, 19)) return undefined;
  const month = months.indexOf(value.slice(4, 7));
  const day = isSpace(value, 8) ? digits(value, 9, 1) : digits(value, 8, 2);
  return instant(digits(value, 20, 4), month, day, timeOfDay(value, 11));
}

/** Parses `Sunday, 06-Nov-94 08:49:37 GMT`. */
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

/** Returns the instant of a two-digit year. More than 50 years ahead means a hundred years earlier (RFC 9110 §5.6.7). */
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
 * Parses the date that a signature covers: `20 apr 2013 12:59:24` (one or two digits of day, English month in any case, UTC), or an
 * IMF-fixdate. Returns ms since 1970-01-01T00:00:00Z; undefined if it deviates in any character.
 */
export function parseSignedDate(value: string): number | undefined {
  const dayLength = isSpace(value, 1) ? 1 : 2;
  if (value.length !== dayLength + 18) return parseFixdate(value);
  const at = dayLength + 1;
  if (!isSpace(value, dayLength) || !isSpace(value, at + 3) || !isSpace(value, at + 8)) return undefined;
  const month = monthInAnyCase(value, at);
  return instant(digits(value, at + 4, 4), month, digits(value, 0, dayLength), timeOfDay(value, at + 9));
}

/** Returns the month (from 0) of three letters in any case; -1 if there is none. */
function monthInAnyCase(value: string, at: number): number {
  const [first, second, third] = [value.charCodeAt(at), value.charCodeAt(at + 1), value.charCodeAt(at + 2)];
  // ASCII only: the upper case of the long s (U+017F) is S, but it is not valid in `sep`.
  return (first | second | third) < 0x80 ? monthCodes.indexOf(packLowerCase(first, second, third)) : -1;
}

/** Packs three letters into a number. The bit 0x20 makes ASCII capitals lower-case; no other character becomes a letter. */
function packLowerCase(first: number, second: number, third: number): number {
  return (first << 16) | (second << 8) | third | 0x202020;
}

function isSpace(value: string, at: number): boolean {
  return value.charCodeAt(at) === 0x20;
}

/** Returns the number of exactly `count` digits; -1 if a character is not a digit. */
function digits(value: string, at: number, count: number): number {
  let number = 0;
  for (let place = at; place < at + count; place += 1) {
    const digit = value.charCodeAt(place) - 0x30;
    if (!(digit >= 0 && digit <= 9)) return -1;
    number = number * 10 + digit;
  }
  return number;
}

/** Parses `hh:mm:ss`. Returns ms since midnight; -1 if malformed. */
function timeOfDay(value: string, at: number): number {
  const hour = digits(value, at, 2);
  const minute = digits(value, at + 3, 2);
  const second = digits(value, at + 6, 2);
  if (value[at + 2] !== ':' || value[at + 5] !== ':') return -1;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return -1;
  return ((hour * 60 + minute) * 60 + second) * 1000;
}

/** Returns the ms since 1970-01-01T00:00:00Z of a day (month from 0) and a time of day; undefined if one is invalid. */
function instant(year: number, month: number, day: number, time: number): number | undefined {
  if (year < 0 || month < 0 || time < 0 || day < 1 || day > daysIn(year, month)) return undefined;
  // Date.UTC maps the years 0 to 99 to 1900 to 1999, so it gets the same day of a later cycle.
  return Date.UTC(year + 400, month, day) - cycleMs + time;
}

function daysIn(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 1 && leap ? 29 : (monthLengths[month] ?? 0);
}

/** Returns the day of the week; 0 is Sunday. 1 January 1970 was a Thursday. */
function computeWeekday(ms: number): number {
  return (((Math.floor(ms / dayMs) + 4) % 7) + 7) % 7;
}
