import crypto from 'node:crypto';
import { bytesOf, octetsOf } from '../../http/syntax/octets.ts';
import { SigningKey } from '../hmac-sha256.ts';
import type { Piece } from '../message.ts';
import { describeForm } from '../signature-form.ts';
import type { Declaration, Encoding, HashName } from './declaration.ts';
import { secretPiece } from './message.ts';

/** The lengths of the digests in bytes. */
const digestLengths: Readonly<Record<HashName, number>> = {
  md5: 16,
  sha1: 20,
  sha256: 32,
  sha384: 48,
  sha512: 64,
};

/** A key of a declared HMAC. */
interface DeclaredKey {
  /** Returns the digest of a message in base64. */
  digest(pieces: readonly Piece[]): string;
  /** Returns whether one of the digests, in base64, is that of the message. The time does not depend on where they differ. */
  signs(pieces: readonly Piece[], digests: readonly string[]): boolean;
}

/** The longest message, in bytes, that is hashed in one call. Longer ones are not copied. */
const maxCopied = 16_384;

/** Prepares a key of HMAC, or of plain digests, from its bytes. */
export function createDeclaredKey(
  bytes: Uint8Array,
  hash: HashName,
  algorithm: 'hmac' | 'digest' = 'hmac',
): DeclaredKey {
  const digest = algorithm === 'digest' ? createPlainDigest(bytes, hash) : createDigest(bytes, hash);
  const isAmong = (expected: string, digests: readonly string[]): boolean =>
    digests.filter((given) => isSameDigest(expected, given)).length > 0;
  const signs = (pieces: readonly Piece[], digests: readonly string[]): boolean =>
    isAmong(digest(pieces), digests);
  if (hash !== 'sha256' || algorithm === 'digest') return { digest, signs };
  const key = new SigningKey(bytes);
  return {
    digest: (pieces) => (isShort(pieces) ? key.digest(toOctetTexts(pieces)) : digest(pieces)),
    signs(pieces, digests) {
      if (!isShort(pieces)) return signs(pieces, digests);
      const message = toOctetTexts(pieces);
      const [only = ''] = digests;
      return digests.length === 1 ? key.signs(message, only) : isAmong(key.digest(message), digests);
    },
  };
}

function createDigest(bytes: Uint8Array, hash: HashName): DeclaredKey['digest'] {
  const key = crypto.createSecretKey(bytes);
  return (pieces) => {
    const hmac = crypto.createHmac(hash, key);
    for (const piece of pieces) {
      if (typeof piece === 'string') hmac.update(piece, 'latin1');
      else hmac.update(piece);
    }
    return hmac.digest('base64');
  };
}

/** Returns the function that computes a digest of the message with the secret in its place. */
function createPlainDigest(bytes: Uint8Array, name: HashName): DeclaredKey['digest'] {
  return (pieces) => {
    const hash = crypto.createHash(name);
    for (const piece of pieces) {
      if (typeof piece === 'string') hash.update(piece, 'latin1');
      else hash.update(piece === secretPiece ? bytes : piece);
    }
    return hash.digest('base64');
  };
}

/**
 * Returns the digest of a message with a key in the place of the secret. Only explanations compute it so: a client can send the piece
 * that marks the place.
 */
export function digestWithSecret(message: Buffer, key: Uint8Array, hash: HashName): Buffer {
  const at = message.indexOf(secretPiece);
  const pieces =
    at < 0 ? [message] : [message.subarray(0, at), key, message.subarray(at + secretPiece.length)];
  return crypto.createHash(hash).update(Buffer.concat(pieces)).digest();
}

function isShort(pieces: readonly Piece[]): boolean {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  return length <= maxCopied;
}

/** Returns pieces of which each character is one octet. */
function toOctetTexts(pieces: readonly Piece[]): string[] {
  const octets: string[] = [];
  for (const piece of pieces) octets.push(typeof piece === 'string' ? piece : octetsOf(piece));
  return octets;
}

/** Returns the bytes of the key that a secret contains; undefined if the secret is not in the declared encoding, or is empty. */
export function keyBytes(
  secret: Buffer,
  { key, keyPrefix = '' }: Pick<Declaration, 'key' | 'keyPrefix'>,
): Buffer | undefined {
  const prefix = Buffer.from(keyPrefix, 'utf8');
  const hasPrefix = prefix.length > 0 && secret.subarray(0, prefix.length).equals(prefix);
  const encoded = hasPrefix ? secret.subarray(prefix.length) : secret;
  const bytes = key === 'utf8' ? encoded : decodeKey(octetsOf(encoded), key);
  return bytes === undefined || bytes.length === 0 ? undefined : bytes;
}

/** Decodes hexadecimal, or base64 or base64url (RFC 4648 §4, §5) with or without padding. Returns undefined if it is malformed. */
export function decodeKey(text: string, encoding: 'hex' | 'base64'): Buffer | undefined {
  if (encoding === 'hex') return /^(?:[0-9A-Fa-f]{2})+$/.test(text) ? Buffer.from(text, 'hex') : undefined;
  const unpadded = text.replace(/={1,2}$/, '');
  const bytes = Buffer.from(unpadded, 'base64');
  const forms = [bytes.toString('base64').replace(/={1,2}$/, ''), bytes.toString('base64url')];
  return forms.includes(unpadded) ? bytes : undefined;
}

/** Returns a digest, given in base64, in another encoding. */
export function encodeSignature(digest: string, encoding: Encoding): string {
  return encoding === 'base64' ? digest : Buffer.from(digest, 'base64').toString(encoding);
}

/**
 * Returns a signature in canonical base64 (RFC 4648 §3.5); undefined if it is not the digest of a hash in this encoding.
 * Hexadecimal must be in lower case. base64url may be padded.
 */
export function decodeSignature(text: string, encoding: Encoding, hash: HashName): string | undefined {
  if (!forms[encoding][hash].test(text)) return undefined;
  return encoding === 'base64' ? text : Buffer.from(text, encoding).toString('base64');
}

// The last character before the padding has 4 bits of data (20, 32 bytes) or 2 (16, 64 bytes); the others are zero.
const forms: Readonly<Record<Encoding, Readonly<Record<HashName, RegExp>>>> = {
  hex: {
    md5: /^[0-9a-f]{32}$/,
    sha1: /^[0-9a-f]{40}$/,
    sha256: /^[0-9a-f]{64}$/,
    sha384: /^[0-9a-f]{96}$/,
    sha512: /^[0-9a-f]{128}$/,
  },
  base64: {
    md5: /^[A-Za-z0-9+/]{21}[AQgw]==$/,
    sha1: /^[A-Za-z0-9+/]{26}[AEIMQUYcgkosw048]=$/,
    sha256: /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/,
    sha384: /^[A-Za-z0-9+/]{64}$/,
    sha512: /^[A-Za-z0-9+/]{85}[AQgw]==$/,
  },
  base64url: {
    md5: /^[\w-]{21}[AQgw](?:==)?$/,
    sha1: /^[\w-]{26}[AEIMQUYcgkosw048]=?$/,
    sha256: /^[\w-]{42}[AEIMQUYcgkosw048]=?$/,
    sha384: /^[\w-]{64}$/,
    sha512: /^[\w-]{85}[AQgw](?:==)?$/,
  },
};

/** Returns whether two digests in base64 are equal. The time does not depend on where they differ. */
export function isSameDigest(expected: string, given: string): boolean {
  const [one, other] = [bytesOf(expected), bytesOf(given)];
  return one.length === other.length && crypto.timingSafeEqual(one, other);
}

/** Returns why a signature is malformed, with a likely cause if its form suggests one. Needs no secret. */
export function signatureFault(text: string, encoding: Encoding, hash: HashName): string {
  const fault = `the signature is not the ${encodingNames[encoding]} of ${digestLengths[hash]} bytes`;
  const cause = text.length > 256 ? 'it is too long' : likelyCause(text, encoding, hash);
  return cause === undefined ? fault : `${fault}: ${cause}`;
}

const encodingNames: Readonly<Record<Encoding, string>> = {
  hex: 'hexadecimal, in lower case,',
  base64: 'canonical base64',
  base64url: 'base64url',
};

function likelyCause(text: string, encoding: Encoding, hash: HashName): string | undefined {
  if (/%[0-9A-F]{2}/i.test(text)) return 'it is percent-encoded';
  if (/^"[^"]*"$/.test(text)) return 'it is in quotes';
  if (/(?:\\[nr]|[\r\n])$/.test(text)) return 'it ends with a line feed';
  const form = describeForm(text);
  if (form !== undefined) return form;
  if (/^[A-Za-z0-9-]+[=,:](?=..)/.test(text) && !/^[A-Za-z0-9]+={1,2}$/.test(text))
    return 'it has a prefix that is not expected here';
  // Before base64url, which such a text is, too.
  if (
    encoding === 'base64' &&
    findHash(`${text}${'='.repeat((4 - (text.length % 4)) % 4)}`, 'base64') === hash
  )
    return 'the padding "=" is missing';
  for (const other of ['hex', 'base64', 'base64url'] as const) {
    const found = findHash(other === encoding ? text : toLowerHexadecimal(text), other);
    if (found === hash && other !== encoding) return `it is ${otherNames[other]}`;
    if (found !== undefined && found !== hash && other === encoding)
      return `it has the length of ${found}; ${hash} is expected`;
  }
  if (encoding === 'hex' && findHash(text.toLowerCase(), 'hex') === hash) return 'it is in upper case';
  const inner = octetsOf(Buffer.from(text, 'base64'));
  return findHash(inner.toLowerCase(), 'hex') === hash
    ? 'it is hexadecimal, encoded in base64 again'
    : undefined;
}

/** Returns hexadecimal in lower case, and any other text unchanged. */
function toLowerHexadecimal(text: string): string {
  return /^[0-9A-F]+$/i.test(text) ? text.toLowerCase() : text;
}

const otherNames: Readonly<Record<Encoding, string>> = {
  hex: 'hexadecimal',
  base64: 'base64',
  base64url: 'base64url',
};

/** Returns the hash whose digest a text is in an encoding. */
function findHash(text: string, encoding: Encoding): HashName | undefined {
  const hashes: readonly HashName[] = ['md5', 'sha1', 'sha256', 'sha384', 'sha512'];
  return hashes.find((hash) => decodeSignature(text, encoding, hash) !== undefined);
}
