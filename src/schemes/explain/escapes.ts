// Mistakes in the percent-encoding of a path, a query, a target or a URL. Each character is one octet.
import {
  decodeEscapes,
  decodeSome,
  escapeOctet,
  isWellEscaped,
  mapEscapes,
} from '../../http/syntax/percent.ts';
import { encoders } from './encoders.ts';
import type { Mistake } from './mistake.ts';

/** The beginning of hints at an encoding that differs from the one that was sent. */
const changed = 'the percent-encoding was changed in transit, or by the client after signing';

/** The mistakes. */
export const escapeMistakes: readonly Mistake[] = [
  [
    '{part} was percent-decoded before it was signed',
    (text) => [decodeEscapes(text), decodeEscapes(text.replaceAll('+', ' '))],
  ],
  [
    '{part} was percent-encoded again, or only after signing',
    (text) => [encodeURI(text), text.replaceAll('%', '%25')],
  ],
  ['{part} was percent-encoded as a whole before it was signed', (text) => encodeURIComponent(text)],
  [
    `${changed}: an unreserved character was escaped`,
    (text) => [text.replaceAll('~', '%7E'), text.replaceAll('~', '%7e')],
  ],
  [
    `${changed}: an unreserved character was not escaped`,
    (text) => decodeSome(text, (character) => /[A-Za-z0-9._~-]/.test(character)),
  ],
  [`${changed}: escapes were in upper case`, (text) => mapEscapes(text, (octet) => octet.toUpperCase())],
  [`${changed}: escapes were in lower case`, (text) => mapEscapes(text, (octet) => octet.toLowerCase())],
  [
    '{part} was percent-encoded in Latin-1 before it was signed; UTF-8 is expected',
    (text) => encodeInLatin1(text),
  ],
  [`${changed}: a slash was escaped as %2F`, (text) => text.replace(/%2f/gi, '/')],
  [
    `${changed}: reserved characters were not escaped`,
    (text) => [
      decodeSome(text, (character) => /[!$&'()*+,;=:@[\]{}|^`]/.test(character)),
      decodeSome(text, (character) => "!'()*".includes(character)),
    ],
  ],
];

/** A mistake that is made in paths, queries, targets and URLs, but not by encoding. */
export const inLowerCase: Mistake = ['{part} was signed in lower case', (text) => text.toLowerCase()];

/** Returns a text whose escapes of UTF-8 are those of Latin-1, and of `escape` of JavaScript (ECMA-262 §B.2.1.1). */
export function encodeInLatin1(text: string): string[] {
  const write = (format: (code: number) => string): string =>
    text.replace(/(?:%[89A-F][0-9A-F])+/gi, (octets) => {
      const characters = Buffer.from(decodeEscapes(octets), 'latin1').toString('utf8');
      return Array.from(characters, (one) => format(one.charCodeAt(0))).join('');
    });
  const octet = (code: number): string => (code > 0xff ? '%3F' : escapeOctet(String.fromCharCode(code)));
  return [
    write(octet),
    write((code) => (code > 0xff ? `%u${code.toString(16).toUpperCase()}` : octet(code))),
  ];
}

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
  ...encoders.map(
    ({ name, encode }): Mistake => [
      `${changed}: the segments of the path were encoded as by ${name}: {instead}`,
      (path) => decodeSegments(path)?.map(encode).join('/'),
    ],
  ),
];

/** The mistakes in a query without its question mark, beside those in its percent-encoding. */
export const escapedQueryMistakes: readonly Mistake[] = [
  ...confuseSpaces('query'),
  [
    `${changed}: reserved characters were escaped`,
    (query) => [query.replace(/[[\]{}|^`:@!$'()*,;/]/g, escapeOctet), query.replaceAll('/', '%2F')],
  ],
];

/** Returns the decoded segments of a path; undefined if an escape is malformed. */
function decodeSegments(path: string): string[] | undefined {
  return isWellEscaped(path) ? path.split('/').map(decodeEscapes) : undefined;
}
