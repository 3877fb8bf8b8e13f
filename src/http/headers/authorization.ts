import { quote } from '../syntax/quoted-string.ts';
import { isToken, tokenEnd } from '../syntax/token.ts';

const space = 0x20;

/** Credentials before their scheme has looked at them (RFC 9110 §11.4). */
export interface Credentials {
  /** In lower case; schemes are compared without regard to case (RFC 9110 §11.1). */
  readonly scheme: string;
  /** Everything after the spaces, which may be nothing. */
  readonly rest: string;
}

/** Reads the value of Authorization: a scheme, spaces, and what the scheme makes of the rest. Undefined when malformed. */
export function parseCredentials(value: string): Credentials | undefined {
  const end = tokenEnd(value, 0);
  if (end === 0) return undefined;
  const scheme = value.slice(0, end).toLowerCase();
  if (end === value.length) return { scheme, rest: '' };
  let start = end;
  while (value.charCodeAt(start) === space) start += 1;
  return start === end ? undefined : { scheme, rest: value.slice(start) };
}

/**
 * Writes one challenge for WWW-Authenticate (RFC 9110 §11.3), every value as a quoted string. Throws a RangeError
 * for a scheme or name that is no token, and for a value that no quoted string can hold.
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
