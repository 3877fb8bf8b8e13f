import type { KeyObject } from 'node:crypto';
import { JsonError, parseJson } from '../../http/json.ts';
import { decodeUtf8, octetsOf } from '../../http/syntax/octets.ts';
import { type JwtAlgorithm, signJws } from './algorithms.ts';

/** The members of a header or of the claims. */
export type JwtMembers = Readonly<Record<string, unknown>>;

/** A JWT in the compact form that was read, and not verified. */
export interface ParsedJwt {
  readonly header: JwtMembers;
  readonly claims: JwtMembers;
  /** The octets that are signed (RFC 7515 §5.1). */
  readonly signed: string;
  readonly signature: Uint8Array;
}

/** The maximum length of a token: that of all header fields by default. */
const maxLength = 16_384;

/** The maximum nesting of objects and arrays. */
const maxDepth = 64;

/** Returns whether a text begins as a JWT does: with the base64url of `{"`. */
export function looksLikeJwt(text: string): boolean {
  return /^eyJ[\w-]*\./.test(text);
}

/** Reads a JWT in the compact form (RFC 7519 §7.2), of which every text has one encoding only. Returns why it is none. */
export function parseJwt(text: string): ParsedJwt | string {
  if (text.length > maxLength) return `it has more than ${maxLength} characters`;
  const parts = text.split('.');
  const [first, second, third] = parts;
  if (parts.length === 5) return 'it is encrypted (JWE), and a signed JWT is required';
  if (first === undefined || second === undefined || third === undefined || parts.length > 3)
    return `a JWT has three parts, separated by dots, and it has ${parts.length}`;
  const decoded = [first, second, third].map(decodeBase64url);
  const at = decoded.indexOf(undefined);
  if (at >= 0)
    return `its ${partNames[at]} is not base64url without padding and white space, or was truncated`;
  const [header, claims] = [readObject(decoded[0]), readObject(decoded[1])];
  if (typeof header === 'string') return `its header ${header}`;
  if (typeof claims === 'string')
    return looksLikeJwt(String(decoded[1])) ? 'it contains another JWT (nested)' : `its content ${claims}`;
  return { header, claims, signed: `${first}.${second}`, signature: decoded[2] ?? new Uint8Array() };
}

const partNames = ['header', 'claims', 'signature'];

/** Decodes base64url (RFC 7515 §2). Undefined if another text has the same octets. */
function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/** Reads an object of JSON. Returns the predicate of the message if it is none. */
function readObject(bytes: Uint8Array | undefined): JwtMembers | string {
  const fault = 'is not a JSON object in UTF-8';
  const text = bytes && decodeUtf8(octetsOf(bytes));
  if (text === undefined) return fault;
  try {
    const value = parseJson(text, maxDepth);
    return isMembers(value) ? value : fault;
  } catch (error) {
    // Verifiers differ in which of the members they read (RFC 7515 §4).
    const repeated = error instanceof JsonError ? error.repeated : undefined;
    return repeated === undefined
      ? fault
      : `has the member ${repeated.replace(/[^\x21-\x7e]/g, '?').slice(0, 100)} more than once`;
  }
}

/** Returns whether a value is an object of JSON. */
export function isMembers(value: unknown): value is JwtMembers {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the thumbprint of the key to which claims bind a token (RFC 9449 §6.1); undefined if they bind it to none. */
export function boundKey({ cnf }: JwtMembers): string | undefined {
  const key = isMembers(cnf) ? cnf['jkt'] : undefined;
  return typeof key === 'string' ? key : undefined;
}

/** Creates a signed JWT in the compact form. */
export function createJwt(
  claims: JwtMembers,
  { privateKey }: { readonly privateKey: KeyObject },
  header: JwtMembers & { readonly alg: JwtAlgorithm; readonly typ: string },
): string {
  const signed = `${encodeMembers(header)}.${encodeMembers(claims)}`;
  return `${signed}.${signJws(header.alg, privateKey, Buffer.from(signed)).toString('base64url')}`;
}

/** Encodes a header or claims as a part of a JWT. */
export function encodeMembers(members: JwtMembers): string {
  return Buffer.from(JSON.stringify(members)).toString('base64url');
}
