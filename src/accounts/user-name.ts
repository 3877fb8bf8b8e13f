import type { HttpHeaders } from '../http/fields.ts';
import { hasControlCharacter, hasLoneSurrogate } from '../http/syntax/control-character.ts';
import { decodeName, maxNameLength } from '../http/syntax/octets.ts';

/** Returns why a name is invalid, or undefined. A user name has 1 to 128 bytes of UTF-8, no colon and no control characters. */
export function userNameFault(name: string): string | undefined {
  const bytes = Buffer.byteLength(name);
  if (bytes < 1 || bytes > maxNameLength) return `a user name must have 1 to ${maxNameLength} bytes`;
  if (name.includes(':')) return 'a user name must have no colon';
  if (hasControlCharacter(name) || hasLoneSurrogate(name))
    return 'a user name must have no control characters';
  return undefined;
}

/**
 * Returns the user that a request names, or the only user. Undefined if the field is absent, sent twice, or not 1 to 128 bytes of
 * UTF-8 without control characters.
 */
export function readUser(user: { readonly field: string } | string, fields: HttpHeaders): string | undefined {
  if (typeof user === 'string') return user;
  const name = user.field.toLowerCase();
  const value = fields.get(name);
  if (value === undefined || (fields.repeated && fields.getAll(name).length > 1)) return undefined;
  return decodeName(value);
}
