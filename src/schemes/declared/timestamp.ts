/**
 * The formats of a timestamp: seconds since 1970-01-01T00:00:00Z, the same with an optional fraction, milliseconds, RFC 3339, or an
 * IMF-fixdate (RFC 9110 §5.6.7).
 */
export const timestampUnits = ['s', 'fractional-s', 'ms', 'rfc3339', 'http-date'] as const;
export type TimestampUnit = (typeof timestampUnits)[number];

/** Parses a timestamp. Returns ms since 1970-01-01T00:00:00Z; undefined if it deviates in any character. */
export function parseTimestamp(text: string, unit: TimestampUnit): number | undefined {
  if (unit === 's' || unit === 'ms') {
    const number = digits(text);
    return number === undefined ? undefined : unit === 's' ? number * 1000 : number;
  }
  if (unit === 'fractional-s') return parseFraction(text);
  return unit === 'rfc3339' ? parseRfc3339(text) : parseFixdate(text);
}

/** Parses `1709208000` or `1709208000.123`, with at most 9 digits of a fraction. What is beyond milliseconds is ignored. */
function parseFraction(text: string): number | undefined {
  const [whole = '', fraction, ...more] = text.split('.');
  if (more.length > 0 || (fraction !== undefined && !/^\d{1,9}$/.test(fraction))) return undefined;
  const seconds = digits(whole);
  return seconds === undefined ? undefined : seconds * 1000 + Number(`${fraction ?? ''}000`.slice(0, 3));
}

/** Formats a time (ms since 1970-01-01T00:00:00Z). */
export function formatTimestamp(ms: number, unit: TimestampUnit): string {
  if (unit === 's') return String(Math.floor(ms / 1000));
  if (unit === 'ms') return String(Math.floor(ms));
  if (unit === 'fractional-s') return (Math.floor(ms) / 1000).toFixed(3);
  const whole = new Date(Math.floor(ms / 1000) * 1000);
  return unit === 'rfc3339' ? whole.toISOString().replace('.000Z', 'Z') : whole.toUTCString();
}

/** Returns the number of 1 to 15 digits without a leading zero. */
function digits(text: string): number | undefined {
  if (text.length === 0 || text.length > 15 || (text.charCodeAt(0) === 0x30 && text.length > 1))
    return undefined;
  let number = 0;
  for (let at = 0; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - 0x30;
    if (!(digit >= 0 && digit <= 9)) return undefined;
    number = number * 10 + digit;
  }
  return number;
}

const rfc3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d)(?:\.(\d{1,9}))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/** Parses `2024-02-29T12:00:00Z`, with an optional fraction and any offset (RFC 3339 §5.6). A leap second is rejected. */
function parseRfc3339(text: string): number | undefined {
  const [, local, fraction = '', sign, hours, minutes] = rfc3339.exec(text) ?? [];
  if (local === undefined) return undefined;
  const ms = Date.parse(`${local}Z`);
  // The engine accepts 30 February and 24:00, and moves them to the next day.
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 19) !== local) return undefined;
  const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
  const whole = Number(`${fraction}000`.slice(0, 3));
  return ms + whole - (sign === '-' ? -offset : offset);
}

/** Parses `Thu, 29 Feb 2024 12:00:00 GMT`; the day name must be correct. */
function parseFixdate(text: string): number | undefined {
  if (text.length !== 29) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) || new Date(ms).toUTCString() !== text ? undefined : ms;
}
