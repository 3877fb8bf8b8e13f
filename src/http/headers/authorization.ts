import { quote } from '../syntax/quoted-string.ts';
import { isToken, tokenEnd } from '../syntax/token.ts';

const space = 0x20;

/** Credentials, not yet parsed by their scheme (RFC 9110 §11.4). */
export interface Credentials {
  /** The scheme in lower case; schemes are case-insensitive (RFC 9110 §11.1). */
  readonly scheme: string;
  /** Everything after the spaces; may be empty. */
  readonly rest: string;
}

/** Parses the value of Authorization: a scheme, spaces, and the scheme's own syntax. Returns undefined if it is malformed. */
export function parseCredentials(value: string): Credentials | undefined {
  const end = tokenEnd(value, 0);
  if (end === 0) return undefined;
  const scheme = value.slice(0, end).toLowerCase();
  if (end === value.length) return { scheme, rest: '' };
  let start = end;
  while (value.charCodeAt(start) === space) start += 1;
  return start === end ? undefined : { scheme, rest: value.slice(start) };
}

/** The form of the names of schemes (RFC 9110 §16.4.1, and those of partners). Keys have other characters, or are longer. */
const schemeForm = /^[a-z][a-z0-9]{0,19}(?:-[a-z0-9]{1,12}){0,4}$/;

/** Returns the scheme of credentials that no known scheme reads; undefined if it may be a key that was sent without a scheme. */
export function findForeignName({ scheme, rest }: Credentials): string | undefined {
  return rest !== '' && schemeForm.test(scheme) ? scheme : undefined;
}

/**
 * Formats a challenge for WWW-Authenticate (RFC 9110 §11.3), with every value as a quoted string. Throws RangeError if the scheme or
 * a name is not a token, or a value cannot be quoted.
 */
export function formatChallenge(
  scheme: string,
  parameters: readonly (readonly [name: string, value: string])[],
): string {
  if (!isToken(scheme)) throw new RangeError('The scheme of a challenge must be a token');
  const written = parameters.map(([name, value]) => {
    if (!isToken(name)) throw new RangeError('The name of a challenge parameter must be a token');
    return `${name}=${quote(value)}`;
  });
  return written.length === 0 ? scheme : `${scheme} ${written.join(', ')}`;
}
