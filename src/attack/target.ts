import { readDuration } from '../duration.ts';
import { findQuery } from '../http/target.ts';

/** Returns path and query of an absolute URL as written: `URL` would remove dot segments. */
export function targetOf(url: string): string {
  return url.replace(/^[a-z]+:\/\/[^/?]*/, '');
}

/** Returns the position of the first match in the last segment of a path; -1 if there is none. */
export function findInLastSegment(path: string, form: RegExp): number {
  const start = path.lastIndexOf('/') + 1;
  const at = path.slice(start).search(form);
  return at < 0 ? at : start + at;
}

/** Returns a URL with parameters appended to its query. */
export function appendParameters(url: string, parameters: string): string {
  if (parameters === '') return url;
  return `${url}${url.includes('?') ? '&' : '?'}${parameters}`;
}

/** Returns the URL with a parameter of the query replaced, as written. The value is not encoded. */
export function replaceParameter(url: string, name: string, value: string): string {
  const query = findQuery(url);
  const pairs = query.split('&').map((pair) => (pair.startsWith(`${name}=`) ? `${name}=${value}` : pair));
  return url.slice(0, url.length - query.length) + pairs.join('&');
}

/** Returns the timeout of a response in ms. Throws RangeError if it is malformed. */
export function readTimeout(timeout: unknown, where: string): number {
  const ms = timeout === undefined ? 10_000 : readDuration(timeout, 1);
  if (ms !== undefined) return ms;
  throw new RangeError(`${where}.timeout must be a number of ms or text such as "5s"`);
}

/** Returns content as bytes. */
export function contentBytes(body: string | Uint8Array): Buffer {
  return typeof body === 'string' ? Buffer.from(body, 'utf8') : Buffer.from(body);
}

/** Changes the last digit, or else the first byte, so that the content keeps its length and probably its validity. */
export function alterContent(body: string | Uint8Array): Uint8Array {
  const bytes = contentBytes(body);
  const position = Math.max(lastDigitIn(bytes), 0);
  bytes[position] = (bytes[position] ?? 0) ^ 1;
  return bytes;
}

/**
 * Returns up to nine variants of the content that differ from it and from each other in their last digit. Returns none if the
 * content has no digit.
 */
export function contentVariants(body: string | Uint8Array, count: number): Uint8Array[] {
  const original = contentBytes(body);
  const position = lastDigitIn(original);
  if (position < 0) return [];
  const digits = [...'0123456789'].map((digit) => digit.charCodeAt(0));
  return digits
    .filter((digit) => digit !== original[position])
    .slice(0, count)
    .map((digit) => {
      const bytes = Buffer.from(original);
      bytes[position] = digit;
      return bytes;
    });
}

function lastDigitIn(bytes: Uint8Array): number {
  return bytes.findLastIndex((byte) => byte >= 0x30 && byte <= 0x39);
}
