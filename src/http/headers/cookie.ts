import type { HttpHeaders } from '../fields.ts';

/** Returns the values of the cookies of a name, in the order sent (RFC 6265 §4.2.1). Names are compared as sent. */
export function cookiesIn(fields: HttpHeaders, name: string): readonly string[] {
  return fields
    .getAll('cookie')
    .flatMap(cookiePairs)
    .flatMap(([each, value]) => (each === name ? [value] : []));
}

/** Returns the names and values of the cookies in a field line, in the order sent. */
export function cookiePairs(line: string): readonly (readonly [name: string, value: string])[] {
  return line.split(';').flatMap((pair) => {
    const trimmed = pair.trim();
    const at = trimmed.indexOf('=');
    return at < 0 ? [] : [[trimmed.slice(0, at), trimmed.slice(at + 1)] as const];
  });
}
