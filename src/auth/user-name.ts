import { hasControlCharacter, hasLoneSurrogate } from '../http/syntax/control-character.ts';

/** The maximum length of a user name, in bytes of UTF-8. */
export const maxUserNameLength = 128;

/** Returns why a name is invalid, or undefined. A user name has 1 to 128 bytes of UTF-8, no colon and no control characters. */
export function userNameFault(name: string): string | undefined {
  const bytes = Buffer.byteLength(name);
  if (bytes < 1 || bytes > maxUserNameLength) return `a user name must have 1 to ${maxUserNameLength} bytes`;
  if (name.includes(':')) return 'a user name must have no colon';
  if (hasControlCharacter(name) || hasLoneSurrogate(name))
    return 'a user name must have no control characters';
  return undefined;
}
