import { isUtf8 } from 'node:buffer';
import { hasControlCharacter } from '../syntax/control-character.ts';
import { decodeCanonicalBase64 } from './content-digest.ts';

/** The credentials of Basic, normalized for comparison. */
export interface BasicCredentials {
  /** 1 to 128 bytes of UTF-8 as sent; in Normalization Form C. */
  readonly user: string;
  /** As `preparePassword` returns it; may be empty. */
  readonly password: string;
}

const maxUserLength = 128;

/** The highest number of consecutive combining marks (UAX #15 §13, Stream-Safe Text Format). */
const maxMarks = 30;

/**
 * Parses the credentials of Basic (RFC 7617 §2): user and password, separated by a colon, in UTF-8 (§2.1) and canonical base64. The
 * password may contain colons. The user must not be empty, because RFC 7617 §2.1 refers to RFC 7613 §3.3. If they are malformed,
 * returns an error message, which contains nothing of what was sent.
 */
export function parseBasicCredentials(text: string): BasicCredentials | string {
  const bytes = decodeCanonicalBase64(text);
  if (bytes === undefined) return 'canonical base64 is expected (RFC 4648 §4), with its padding';
  if (!isUtf8(bytes)) return 'user and password are not in UTF-8';
  const pair = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  const colon = pair.indexOf(':');
  if (colon < 0) return 'USER:PASSWORD in base64 is expected';
  if (hasControlCharacter(pair)) return 'control characters are not allowed in user and password';
  if (hasLongMarks(pair)) return `there are more than ${maxMarks} consecutive combining marks`;
  const user = pair.slice(0, colon);
  if (user === '' || Buffer.byteLength(user) > maxUserLength)
    return 'the user is not 1 to 128 bytes of UTF-8';
  return { user: user.normalize('NFC'), password: preparePassword(pair.slice(colon + 1)) };
}

/** Returns the likely cause of credentials that cannot be read. It contains nothing of what was sent. */
export function describeMalformedBasic(text: string): string | undefined {
  if (text === '') return 'nothing follows Basic';
  if (text.includes(':')) return 'user and password were sent as they are; encode USER:PASSWORD in base64';
  if (/^["'].*["']$/s.test(text)) return 'the base64 was sent in quotes';
  if (/[-_]/.test(text)) return 'the alphabet of base64url was used; base64 with "+" and "/" is expected';
  const sent = Buffer.from(text, 'base64').toString('latin1');
  if (sent.includes(':'))
    return /[\r\n]$/.test(sent) ? 'a line feed was encoded after the password (echo without -n?)' : undefined;
  if (Buffer.from(sent, 'base64').includes(':')) return 'user and password were encoded in base64 twice';
  return 'there is no colon between user and password: encode USER:PASSWORD in base64';
}

/**
 * Normalizes a password for comparison: every kind of space becomes U+0020, and all is in Normalization Form C (OpaqueString,
 * RFC 8265 §4.2.1). So the result does not depend on the keyboard.
 */
export function preparePassword(password: string): string {
  return password.replace(/\p{Zs}/gu, ' ').normalize('NFC');
}

/**
 * Returns whether there are more than 30 consecutive combining marks. Normalization sorts such a sequence in quadratic time.
 */
function hasLongMarks(text: string): boolean {
  return /[^\0-\u02ff]/.test(text) && new RegExp(`\\p{M}{${maxMarks}}\\p{M}`, 'u').test(text);
}
