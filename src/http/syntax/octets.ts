// Octets as text: a string with one character (U+0000 to U+00FF) for each octet, as node:http passes field values. Signatures cover
// octets, which need not be UTF-8, and decoding would change them.
import { isUtf8 } from 'node:buffer';
import { hasControlCharacter } from './control-character.ts';

/** Returns bytes as octets, without a copy of the bytes. */
export function octetsOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
}

/** Returns octets as bytes. */
export function bytesOf(octets: string): Buffer {
  return Buffer.from(octets, 'latin1');
}

/** Returns whether a text is ASCII, so that each character is one octet in UTF-8. */
export function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}

/** Returns the octets of a text in UTF-8. */
export function toOctets(text: string): string {
  return isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** Decodes octets as UTF-8. Returns undefined if they are not valid UTF-8. */
export function decodeUtf8(octets: string): string | undefined {
  if (isAscii(octets)) return octets;
  const bytes = bytesOf(octets);
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/** Decodes octets as UTF-8, with U+FFFD in place of what is not valid. */
export function replaceInvalidUtf8(octets: string): string {
  return bytesOf(octets).toString('utf8');
}

/** Returns octets as text to display: decoded if they are valid UTF-8. Leaves text that has been decoded as it is. */
export function toReadable(octets: string): string {
  const isDecoded = octetsOf(bytesOf(octets)) !== octets;
  return isDecoded ? octets : (decodeUtf8(octets) ?? octets);
}

/** The maximum length of a name, in octets. */
export const maxNameLength = 128;

/** Decodes the name of a user or of a key. Returns undefined if it is not 1 to 128 octets of UTF-8 without control characters. */
export function decodeName(octets: string): string | undefined {
  if (octets.length === 0 || octets.length > maxNameLength) return undefined;
  if (/^[!-~]*$/.test(octets)) return octets;
  const name = decodeUtf8(octets);
  return name === undefined || hasControlCharacter(name) ? undefined : name;
}
