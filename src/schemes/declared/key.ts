import { createHash, createHmac, createSecretKey } from 'node:crypto';
import type { HashName } from '../../algorithms.ts';
import { SigningKey } from '../../hmac-sha256.ts';
import { octetsOf } from '../../http/syntax/octets.ts';
import { octetsOfPiece, type Piece } from '../message.ts';
import { isSameSignature } from '../signature-form.ts';
import type { Declaration } from './declaration.ts';
import { secretPiece } from './message.ts';

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
  const digest = createDigest(bytes, hash, algorithm);
  const isAmong = (expected: string, digests: readonly string[]): boolean =>
    digests.filter((given) => isSameSignature(expected, given)).length > 0;
  const signs = (pieces: readonly Piece[], digests: readonly string[]): boolean =>
    isAmong(digest(pieces), digests);
  if (hash !== 'sha256' || algorithm === 'digest') return { digest, signs };
  const key = new SigningKey(bytes);
  return {
    digest: (pieces) => (isShort(pieces) ? key.digest(pieces.map(octetsOfPiece)) : digest(pieces)),
    signs(pieces, digests) {
      if (!isShort(pieces)) return signs(pieces, digests);
      const message = pieces.map(octetsOfPiece);
      const [only = ''] = digests;
      return digests.length === 1 ? key.signs(message, only) : isAmong(key.digest(message), digests);
    },
  };
}

/** Returns the function that computes an HMAC, or a digest of the message with the secret in its place. */
function createDigest(
  bytes: Uint8Array,
  name: HashName,
  algorithm: 'hmac' | 'digest',
): DeclaredKey['digest'] {
  const key = algorithm === 'hmac' ? createSecretKey(bytes) : undefined;
  return (pieces) => {
    const hash = key === undefined ? createHash(name) : createHmac(name, key);
    for (const piece of pieces) {
      if (typeof piece === 'string') hash.update(piece, 'latin1');
      else hash.update(key === undefined && piece === secretPiece ? bytes : piece);
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
  return createHash(hash).update(Buffer.concat(pieces)).digest();
}

function isShort(pieces: readonly Piece[]): boolean {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  return length <= maxCopied;
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
