import { isUtf8 } from 'node:buffer';
import { hasControlCharacter } from '../syntax/control-character.ts';
import { decodeCanonicalBase64 } from './content-digest.ts';

/** What stands behind `Basic` in the credentials, in the form in which it is compared. */
export interface BasicCredentials {
  /** 1 to 128 bytes of UTF-8 as sent, in Normalization Form C. */
  readonly user: string;
  /** As `preparePassword` gives it; may be empty. */
  readonly password: string;
}

const longestUser = 128;

/** Combining marks that may follow each other (UAX #15 §13, Stream-Safe Text Format). */
const mostMarks = 30;

/**
 * Reads the credentials of Basic (RFC 7617 §2): user and password with a colon between them, in UTF-8 (§2.1) and in
 * base64, which is taken in its one canonical form. The password may have colons. The name is one that a user can
 * have, so it is not empty: RFC 7617 §2.1 refers to names of RFC 7613 §3.3, which are not. Gives the fault as a
 * sentence when it is neither; nothing of what was sent is in it.
 */
export function parseBasicCredentials(text: string): BasicCredentials | string {
  const bytes = decodeCanonicalBase64(text);
  if (bytes === undefined) return 'canonical base64 is expected (RFC 4648 §4), with its padding';
  if (!isUtf8(bytes)) return 'user and password are not in UTF-8';
  const pair = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  const colon = pair.indexOf(':');
  if (colon < 0) return 'USER:PASSWORD in base64 is expected';
  if (hasControlCharacter(pair)) return 'control characters are not allowed in user and password';
  if (hasLongMarks(pair)) return `more than ${mostMarks} combining marks follow each other`;
  const user = pair.slice(0, colon);
  if (user === '' || Buffer.byteLength(user) > longestUser) return 'the user is not 1 to 128 bytes of UTF-8';
  return { user: user.normalize('NFC'), password: preparePassword(pair.slice(colon + 1)) };
}

/**
 * A password in the form in which passwords are compared: every kind of space is U+0020, and all is in Normalization
 * Form C (OpaqueString, RFC 8265 §4.2.1), so that it does not depend on the keyboard it was typed on.
 */
export function preparePassword(password: string): string {
  return password.replace(/\p{Zs}/gu, ' ').normalize('NFC');
}

/**
 * Returns whether more than 30 combining marks follow each other. Normalization sorts such a run in a time that grows with
 * the square of its length.
 */
function hasLongMarks(text: string): boolean {
  return /[^\0-\u02ff]/.test(text) && new RegExp(`\\p{M}{${mostMarks + 1}}`, 'u').test(text);
}
