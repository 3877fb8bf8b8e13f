// How programs percent-encode. Each character is one octet.

import { replaceInvalidUtf8 } from '../../http/syntax/octets.ts';
import { escapeOctet } from '../../http/syntax/percent.ts';

/** How a program percent-encodes. */
interface Encoder {
  /** The program, as hints name it. */
  readonly name: string;
  /** Returns octets as the program encodes them. */
  readonly encode: (octets: string) => string;
}

/** Programs, most frequent first: the characters that each leaves as they are beside letters and digits, and how it writes a space. */
const programs: readonly (readonly [name: string, kept: string, space?: '+'])[] = [
  // ECMA-262 §19.2.6.4; Uri.EscapeDataString of .NET.
  ['encodeURIComponent', "-_.!~*'()"],
  // URL standard §1.3; URI.encode_www_form of Ruby.
  ['URLSearchParams and URLEncoder of Java', '*-._', '+'],
  // RFC 3986 §2.3; quote of Python with safe="", PathEscape of Go with most texts.
  ['rawurlencode of PHP', '-_.~'],
  // url.Values of Go.
  ['urlencode of Python', '-_.~', '+'],
  ['urlencode of PHP', '-_.', '+'],
  ['urlencode of PHP with %20 for a space', '-_.'],
  ['URLEncoder of Java with %20 for a space', '*-._'],
  ['quote of Python', '-_.~/'],
  ['quote_plus of Python with safe="/"', '-_.~/', '+'],
  ['qs of JavaScript with RFC1738', "-_.!~*'()", '+'],
  ['WebUtility.UrlEncode of .NET', '-_.!*()', '+'],
  ['an encoder of all characters but letters and digits', ''],
  // Libraries of OAuth 1.0a and of AWS that correct encodeURIComponent in part.
  ...['*', '!', "'", '()', "'()", "!'()", "*'()", ':', ','].map(
    (left) => [`an encoder that leaves "${left}" without encoding`, `-_.~${left}`] as const,
  ),
];

/** The encoders that programs use, most frequent first. */
export const encoders: readonly Encoder[] = [
  ...programs.map(([name, kept, space]) => createEncoder(name, kept, space)),
  createEncoder('HttpUtility.UrlEncode of .NET', '-_.!*()', '+', true),
  createEncoder('an encoder with escapes in lower case', '-_.~', '%20', true),
  { name: 'an encoder of Latin-1', encode: encodeLatin1 },
];

function createEncoder(name: string, kept: string, space = '%20', isLower = false): Encoder {
  const table = Array.from({ length: 256 }, (_, code) => {
    const octet = String.fromCharCode(code);
    if (/[A-Za-z0-9]/.test(octet) || kept.includes(octet)) return octet;
    if (octet === ' ') return space;
    return isLower ? escapeOctet(octet).toLowerCase() : escapeOctet(octet);
  });
  return {
    name,
    encode(octets) {
      if (/^[A-Za-z0-9]*$/.test(octets)) return octets;
      let encoded = '';
      for (let at = 0; at < octets.length; at += 1) encoded += table[octets.charCodeAt(at)] ?? '';
      return encoded;
    },
  };
}

/** Encodes the characters of Latin-1 as one octet each, and others as a question mark. */
function encodeLatin1(octets: string): string {
  return replaceInvalidUtf8(octets).replace(/[^A-Za-z0-9._~-]/gu, (one) =>
    escapeOctet(one.charCodeAt(0) > 0xff ? '?' : one),
  );
}
