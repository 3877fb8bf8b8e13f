import type { KeyObject } from 'node:crypto';
import { decodeUtf8, octetsOf } from '../http/syntax/octets.ts';
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
  if (at >= 0) return `its ${partNames[at]} is not base64url without padding and white space`;
  const [header, claims] = [readObject(decoded[0]), readObject(decoded[1])];
  if (header === undefined) return 'its header is not a JSON object in UTF-8';
  if (claims === undefined) return 'its claims are not a JSON object in UTF-8';
  return { header, claims, signed: `${first}.${second}`, signature: decoded[2] ?? new Uint8Array() };
}

const partNames = ['header', 'claims', 'signature'];

/** Decodes base64url (RFC 7515 §2). Undefined if another text has the same octets. */
function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

function readObject(bytes: Uint8Array | undefined): JwtMembers | undefined {
  const text = bytes && decodeUtf8(octetsOf(bytes));
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isMembers(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether a value is an object of JSON. */
export function isMembers(value: unknown): value is JwtMembers {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
