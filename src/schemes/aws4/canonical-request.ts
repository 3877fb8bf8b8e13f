// The canonical request of AWS Signature Version 4 and the string to sign. Each character of a string is one octet.
import crypto from 'node:crypto';
import { type Parameter, splitPairs } from '../../http/form.ts';
import { bytesOf, isAscii } from '../../http/syntax/octets.ts';
import { decodeEscapes, encodeOctets, escapeOctet, normalizeEscapes } from '../../http/syntax/percent.ts';
import { type DigestForm, type NamedPart, octetsOfPiece, type Part } from '../message.ts';

/** The name of the algorithm, in credentials and in the string to sign. */
export const aws4Algorithm = 'AWS4-HMAC-SHA256';

/** The SHA-256 of no content, in hexadecimal. */
export const emptyHash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** The payload hash of a request whose content is not signed. */
export const unsignedPayload = 'UNSIGNED-PAYLOAD';

/** How a service forms the canonical path. Amazon S3 neither normalizes nor encodes it twice. */
export interface PathRules {
  /** Whether dot segments and repeated slashes are removed (RFC 3986 §5.2.4). */
  readonly normalizePath: boolean;
  /** Whether the path is percent-encoded as sent, so that `%20` becomes `%2520`. */
  readonly doubleEncode: boolean;
  /** What a `+` in the path is, sent as it is: a space for Amazon S3, so that it becomes `%20`; otherwise itself. Default: `plus`. */
  readonly plusInPath?: 'space' | 'plus' | undefined;
}

/** A signed header: its name in lower case, and its canonical value. */
export type CanonicalHeader = readonly [name: string, value: string];

/** A path that no rule changes. */
const plainPath = /^(?:\/[\w~-][\w.~-]*)*\/?$/;

/** Returns the canonical path. An empty path is `/`. */
export function canonicalPath(path: string, rules: PathRules): string {
  if (path === '') return '/';
  if (plainPath.test(path)) return path;
  const { normalizePath, doubleEncode, plusInPath } = rules;
  const spaced = plusInPath === 'space' ? path.replaceAll('+', '%20') : path;
  const normalized = normalizePath ? removeDotSegments(spaced) : spaced;
  return doubleEncode ? encodePath(normalized) : encodeEscaped(normalized);
}

/** Returns whether a path is normalized: without dot segments and repeated slashes, which the canonical path does not show. */
export function isNormalized(path: string): boolean {
  return path === '' || plainPath.test(path) || removeDotSegments(path) === path;
}

/** Removes dot segments and repeated slashes. A slash at the end stays, but none is added after a dot segment. */
function removeDotSegments(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  const end = segments.length > 0 && path.endsWith('/') ? '/' : '';
  return `/${segments.join('/')}${end}`;
}

/** Percent-encodes all octets but unreserved ones and slashes. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeOctets).join('/');
}

/** Encodes what must be encoded, and decodes the other escapes, so that equivalent paths become equal. `%2F` stays different from a slash. */
function encodeEscaped(path: string): string {
  return normalizeEscapes(path.replace(/[^\w.~/%-]|%(?![0-9A-Fa-f]{2})/g, escapeOctet));
}

/** A query that is canonical if it is sorted. */
const plainQuery = /^[\w.~-]+=[\w.~-]*(?:&[\w.~-]+=[\w.~-]*)*$/;

/** Returns whether the parameters of a plain query are sorted by name, and no name is repeated. */
function isSorted(query: string): boolean {
  let last = '';
  for (let start = 0; start < query.length; ) {
    const name = query.slice(start, query.indexOf('=', start));
    if (name <= last) return false;
    last = name;
    const next = query.indexOf('&', start);
    start = next < 0 ? query.length : next + 1;
  }
  return true;
}

/** Returns the canonical query: all parameters but `omitted`, encoded again and sorted by name, then by value. `+` is a space. */
export function canonicalQuery(query: string, omitted?: string): string {
  if (query === '' || (omitted === undefined && plainQuery.test(query) && isSorted(query))) return query;
  const pairs = canonicalPairs(query).filter(([name]) => name !== omitted);
  return joinPairs(pairs.sort(comparePairs));
}

/** Returns encoded parameters as a query. */
export function joinPairs(pairs: readonly Parameter[]): string {
  return pairs.map(([name, value]) => `${name}=${value}`).join('&');
}

/** Returns the parameters in the order sent, each encoded as in the canonical query. */
function canonicalPairs(query: string): Parameter[] {
  return splitPairs(query).map(([name, value]) => [encodeAgain(name), encodeAgain(value)]);
}

/** Encodes a name or value of a query again. A percent sign that begins no escape stands for itself. */
function encodeAgain(sent: string): string {
  return /^[\w.~-]*$/.test(sent) ? sent : encodeOctets(decodeParameter(sent));
}

/** Decodes a name or value of a query: `+` is a space. A percent sign that begins no escape stands for itself. */
export function decodeParameter(sent: string): string {
  return decodeEscapes(sent.replaceAll('+', ' '));
}

/** Compares by name, then by value. Both are ASCII. */
function comparePairs(one: Parameter, other: Parameter): number {
  const at = one[0] === other[0] ? 1 : 0;
  return one[at] === other[at] ? 0 : one[at] < other[at] ? -1 : 1;
}

/** Returns the canonical value of a header: without white space at its ends, each run of white space as one space. */
export function canonicalValue(value: string): string {
  return /^[\t\r\n ]|[\t\r\n]| {2}| $/.test(value)
    ? value.replace(/[\t\r\n ]+/g, ' ').replace(/^ | $/g, '')
    : value;
}

/** The parts of a canonical request and of the string to sign. */
export interface Aws4Message {
  readonly method: string;
  /** The canonical path. */
  readonly path: string;
  /** The canonical query. */
  readonly query: string;
  /** The signed headers, in the order in which they are named. */
  readonly headers: readonly CanonicalHeader[];
  /** The names of the signed headers. */
  readonly signedHeaders: readonly string[];
  /** The SHA-256 of the content in hexadecimal, or `UNSIGNED-PAYLOAD`. */
  readonly payloadHash: string;
  /** The time of the request: `20150830T123600Z`. */
  readonly stamp: string;
  /** `20150830/us-east-1/service/aws4_request` */
  readonly scope: string;
}

/** The beginning of the names of the parts that are headers. */
export const headerPrefix = 'header ';
const payloadDigest: DigestForm = { hash: 'sha256', format: (digest) => digest.toString('hex') };

/** Returns the named parts of a message. */
export function messageParts(message: Aws4Message): Part[] {
  const { method, path, query, headers, signedHeaders, payloadHash, stamp, scope } = message;
  return [
    { kind: 'method', name: 'method', value: method },
    { kind: 'path', name: 'canonical path', value: path },
    { kind: 'query', name: 'canonical query', value: query },
    ...headers.map(
      ([name, value]): Part => ({
        kind: name === 'host' ? 'host' : 'header',
        name: headerPrefix + name,
        value,
      }),
    ),
    { kind: 'other', name: 'signed headers', value: signedHeaders.join(';') },
    { kind: 'digest', name: 'payload hash', value: payloadHash, digest: payloadDigest },
    { kind: 'time', name: 'timestamp', value: stamp },
    { kind: 'other', name: 'scope', value: scope },
  ];
}

/** Returns the value of a part; '' if it was left out. */
function findText(parts: readonly NamedPart[], name: string): string {
  for (const part of parts) if (part.name === name) return octetsOfPiece(part.value);
  return '';
}

/** Returns the canonical request that parts make. */
export function formatCanonicalRequest(parts: readonly NamedPart[]): string {
  let headers = '';
  for (const { name, value } of parts)
    if (name.startsWith(headerPrefix))
      headers += `${name.slice(headerPrefix.length)}:${octetsOfPiece(value)}\n`;
  const request = `${findText(parts, 'method')}\n${findText(parts, 'canonical path')}\n${findText(parts, 'canonical query')}`;
  return `${request}\n${headers}\n${findText(parts, 'signed headers')}\n${findText(parts, 'payload hash')}`;
}

/** Returns the string to sign that parts make. */
export function formatStringToSign(parts: readonly NamedPart[]): string {
  return stringToSign(findText(parts, 'timestamp'), findText(parts, 'scope'), formatCanonicalRequest(parts));
}

/**
 * Returns the string to sign.
 *
 * @param stamp The time of the request: `20150830T123600Z`.
 * @param scope `20150830/us-east-1/service/aws4_request`
 */
export function stringToSign(stamp: string, scope: string, canonical: string): string {
  return `${aws4Algorithm}\n${stamp}\n${scope}\n${hashOctets(canonical)}`;
}

/** Returns the SHA-256 of octets in hexadecimal. */
export function hashOctets(octets: string): string {
  // ASCII has the same octets in UTF-8, in which `hash` encodes a string faster than a buffer can be filled.
  return crypto.hash('sha256', isAscii(octets) ? octets : bytesOf(octets), 'hex');
}

/** Returns the SHA-256 of content in hexadecimal. */
export function hashContent(content: Uint8Array): string {
  return content.length === 0 ? emptyHash : crypto.hash('sha256', content, 'hex');
}
