// Mistakes in the percent-encoding of a path, a query, a target or a URL. Each character is one octet.
import { encodePath, encodeQuery } from './encoders.ts';
import type { Mistake } from './mistake.ts';

/** The beginning of hints at an encoding that differs from the one that was sent. */
const changed = 'the percent-encoding was changed in transit, or by the client after signing';

/** The mistakes. */
export const escapeMistakes: readonly Mistake[] = [
  ['{part} was percent-decoded before it was signed', (text) => decodeEscapes(text)],
  [
    '{part} was percent-encoded again, or only after signing',
    (text) => [encodeURI(text), text.replaceAll('%', '%25')],
  ],
  ['{part} was percent-encoded as a whole before it was signed', (text) => encodeURIComponent(text)],
  [
    `${changed}: an unreserved character was escaped`,
    (text) => [text.replaceAll('~', '%7E'), text.replaceAll('~', '%7e')],
  ],
  [`${changed}: an unreserved character was not escaped`, (text) => mapEscapes(text, decodeUnreserved)],
  [`${changed}: escapes were in upper case`, (text) => mapEscapes(text, (octet) => octet.toUpperCase())],
  [`${changed}: escapes were in lower case`, (text) => mapEscapes(text, (octet) => octet.toLowerCase())],
  [`${changed}: a slash was escaped as %2F`, (text) => text.replace(/%2f/gi, '/')],
  [
    `${changed}: reserved characters were not escaped`,
    (text) => [mapEscapes(text, decodeReserved), text.replace(/%2[1789A]/gi, decodeEscapes)],
  ],
];

/** Returns the confusions of a space and a plus sign: as they are only in forms, and their escapes. */
function confuseSpaces(part: string): readonly Mistake[] {
  return [
    [`${changed}: a space in the ${part} was "+"`, (text) => text.replaceAll('%20', '+')],
    [`${changed}: a space in the ${part} was "%20"`, (text) => text.replaceAll('+', '%20')],
    [`${changed}: "+" in the ${part} was "%2B"`, (text) => text.replaceAll('+', '%2B')],
    [`${changed}: "%2B" in the ${part} was "+"`, (text) => text.replace(/%2b/gi, '+')],
    [`${changed}: "%2B" in the ${part} was a space, "%20"`, (text) => text.replace(/%2b/gi, '%20')],
    [`${changed}: a space in the ${part} was "%2B"`, (text) => text.replaceAll('%20', '%2B')],
  ];
}

/** The mistakes in a path, beside those in its percent-encoding. */
export const escapedPathMistakes: readonly Mistake[] = [
  ...confuseSpaces('path'),
  [`${changed}: reserved characters were escaped`, (path) => path.replace(/[:@!$&'()*+,;=]/g, escapeOctet)],
  [`${changed}: the segments of the path were encoded by another rule`, (path) => encodePath(path)],
];

/** The mistakes in a query without its question mark, beside those in its percent-encoding. */
export const escapedQueryMistakes: readonly Mistake[] = [
  ...confuseSpaces('query'),
  [
    `${changed}: reserved characters were escaped`,
    (query) => [query.replace(/[[\]{}|^`:@!$'()*,;/]/g, escapeOctet), query.replaceAll('/', '%2F')],
  ],
  [
    'the query was written again as a form before it was signed',
    (query) => new URLSearchParams(query).toString(),
  ],
  [`${changed}: the parameters of the query were encoded by another rule`, (query) => encodeQuery(query)],
];

/** Decodes all escapes. */
export function decodeEscapes(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Percent-encodes a character of one octet. */
export function escapeOctet(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

function mapEscapes(text: string, change: (octet: string) => string): string {
  return text.replace(/%[0-9a-f]{2}/gi, change);
}

// RFC 3986 §2.3 and §2.2.
function decodeUnreserved(octet: string): string {
  const character = decodeEscapes(octet);
  return /[A-Za-z0-9._~-]/.test(character) ? character : octet;
}

function decodeReserved(octet: string): string {
  const character = decodeEscapes(octet);
  return /[!$&'()*+,;=:@[\]{}|^`]/.test(character) ? character : octet;
}
