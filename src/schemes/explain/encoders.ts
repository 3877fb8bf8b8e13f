// How programs percent-encode. Each character is one octet.

import { parseFormOctets } from '../../http/form.ts';
import { decodeEscapes, escapeOctet, isWellEscaped } from '../../http/syntax/percent.ts';

/** Which characters an encoder leaves as they are, beside letters and digits, and how it writes a space and hexadecimal digits. */
interface Encoder {
  readonly kept: string;
  readonly space: '%20' | '+';
  readonly lowerCase?: boolean;
}

/** The encoders that programs use, most frequent first. */
const encoders: readonly Encoder[] = [
  // encodeURIComponent (ECMA-262 §19.2.6.4), and the same with the spaces of a form: qs with RFC 1738, Uri.EscapeDataString.
  { kept: "-_.!~*'()", space: '%20' },
  { kept: "-_.!~*'()", space: '+' },
  // RFC 3986 §2.3: rawurlencode of PHP, quote of Python with safe="", Go's PathEscape of most texts.
  { kept: '-_.~', space: '%20' },
  // urlencode of Python, url.Values of Go, URI.encode_www_form of Ruby.
  { kept: '-_.~', space: '+' },
  // URLSearchParams (URL standard §1.3), java.net.URLEncoder.
  { kept: '*-._', space: '+' },
  { kept: '*-._', space: '%20' },
  // urlencode of PHP.
  { kept: '-_.', space: '+' },
  { kept: '-_.', space: '%20' },
  // quote and urlencode of Python with the default of safe.
  { kept: '-_.~/', space: '%20' },
  { kept: '-_.~/', space: '+' },
  // HttpUtility.UrlEncode and WebUtility.UrlEncode of .NET.
  { kept: '-_.!*()', space: '+', lowerCase: true },
  { kept: '-_.!*()', space: '+' },
  { kept: '-_.~', space: '%20', lowerCase: true },
  { kept: '', space: '%20' },
];

/** Returns what writes each octet as an encoder does. */
function createTable({ kept, space, lowerCase = false }: Encoder): readonly string[] {
  return Array.from({ length: 256 }, (_, code) => {
    const octet = String.fromCharCode(code);
    if (/[A-Za-z0-9]/.test(octet) || kept.includes(octet)) return octet;
    if (octet === ' ') return space;
    return lowerCase ? escapeOctet(octet).toLowerCase() : escapeOctet(octet);
  });
}

/** Returns functions that encode texts with no other octets than these, each in a way of its own. */
function listEncoders(octets: string): readonly ((text: string) => string)[] {
  const codes = [...new Set(octets)].map((octet) => octet.charCodeAt(0));
  const tables = new Map<string, readonly string[]>();
  for (const encoder of encoders) {
    const table = createTable(encoder);
    const key = codes.map((code) => table[code]).join();
    if (!tables.has(key)) tables.set(key, table);
  }
  return Array.from(tables.values(), (table) => (text) => encode(text, table));
}

function encode(text: string, table: readonly string[]): string {
  let encoded = '';
  for (let at = 0; at < text.length; at += 1) encoded += table[text.charCodeAt(at)] ?? '';
  return encoded;
}

/** Returns parameters as each encoder writes them, with the names as they are, too. */
export function encodePairs(pairs: readonly (readonly [name: string, value: string])[]): string[] {
  const isPlain = pairs.every(([name]) => /^[A-Za-z0-9_.-]*$/.test(name));
  return listEncoders(pairs.flat().join('')).flatMap((write) => {
    const encoded = pairs.map(([name, value]) => `${write(name)}=${write(value)}`).join('&');
    if (isPlain) return [encoded];
    return [encoded, pairs.map(([name, value]) => `${name}=${write(value)}`).join('&')];
  });
}

/** Returns a query as each encoder writes its parameters; nothing if an escape is malformed. */
export function encodeQuery(query: string): string[] {
  const pairs = query === '' ? undefined : parseFormOctets(query);
  return pairs === undefined ? [] : encodePairs(pairs);
}

/** Returns a path as each encoder writes its segments; nothing if an escape is malformed. */
export function encodePath(path: string): string[] {
  if (!isWellEscaped(path)) return [];
  const decoded = path.split('/').map(decodeEscapes);
  return listEncoders(decoded.join('')).map((write) => decoded.map(write).join('/'));
}
