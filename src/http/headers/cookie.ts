import type { HttpHeaders } from '../fields.ts';

/** Returns the values of the cookies of a name, in the order sent (RFC 6265 §4.2.1). Names are compared as sent. */
export function cookiesIn(fields: HttpHeaders, name: string): readonly string[] {
  const values: string[] = [];
  for (const line of fields.getAll('cookie'))
    for (const pair of line.split(';')) {
      const trimmed = pair.trim();
      if (trimmed.startsWith(`${name}=`)) values.push(trimmed.slice(name.length + 1));
    }
  return values;
}
