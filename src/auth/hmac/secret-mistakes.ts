// Digests that clients compute by mistake from the right secret and the right message.
import { createHash, createHmac } from 'node:crypto';
import { decodedSecret, unguessable } from '../decoded-secret.ts';

type Compute = (secret: Buffer, message: string) => string;

/** Signs with the secret as converted by `read`. */
function misread(read: (secret: Buffer) => string | Buffer): Compute {
  return (secret, message) => hmac('sha256', read(secret), message);
}

/**
 * Signs with the decoded secret. If it must not be tried, it does the same work and returns no digest, so that the time does not
 * depend on the secret.
 */
function decoded(decode: (text: string) => Buffer | undefined): Compute {
  return (secret, message) => {
    const key = decode(text(secret));
    const digest = hmac('sha256', key ?? secret, message);
    return key === undefined ? '' : digest;
  };
}

function hmac(algorithm: string, key: string | Buffer, message: string): string {
  return createHmac(algorithm, key).update(message, 'latin1').digest().subarray(0, 32).toString('base64');
}

function sha256(...parts: readonly Buffer[]): Buffer {
  return createHash('sha256').update(Buffer.concat(parts)).digest();
}

function octets(message: string): Buffer {
  return Buffer.from(message, 'latin1');
}

const text = (secret: Buffer): string => secret.toString('utf8');

/** A hint, and the function that computes the mistaken digest in base64. */
export type SecretMistake = readonly [hint: string, compute: Compute];

/** The mistakes that are tried. */
export const secretMistakes: readonly SecretMistake[] = [
  [
    'the secret was decoded from base64; use its characters as the key',
    decoded((characters) => decodedSecret(characters, 'base64')),
  ],
  [
    'the secret was decoded from hexadecimal; use its characters as the key',
    decoded((characters) => decodedSecret(characters, 'hex')),
  ],
  ['the secret was used with a trailing line feed', misread((secret) => `${text(secret)}\n`)],
  ['the secret was used with a trailing line ending (CR LF)', misread((secret) => `${text(secret)}\r\n`)],
  ['the secret was used with quotes around it', misread((secret) => `"${text(secret)}"`)],
  ['the secret was used with quotes around it', misread((secret) => `'${text(secret)}'`)],
  ['the secret was used with a leading or trailing space', misread((secret) => ` ${text(secret)}`)],
  ['the secret was used with a leading or trailing space', misread((secret) => `${text(secret)} `)],
  [
    'the white space around the secret was removed',
    decoded((characters) => unguessable(Buffer.from(characters.trim()))),
  ],
  ['the secret was encoded in base64', misread((secret) => secret.toString('base64'))],
  ['the secret was encoded in hexadecimal', misread((secret) => secret.toString('hex'))],
  [
    'the secret was encoded in UTF-16 instead of UTF-8',
    misread((secret) => Buffer.from(text(secret), 'utf16le')),
  ],
  [
    'the secret was encoded in Latin-1 instead of UTF-8',
    decoded((characters) => decodedSecret(characters, 'latin1')),
  ],
  ['the secret was hashed before it was used as the key', misread((secret) => sha256(secret))],
  [
    'the secret was hashed before it was used as the key',
    misread((secret) => sha256(secret).toString('hex')),
  ],
  [
    'key and message were swapped',
    (secret, message) => hmac('sha256', octets(message), secret.toString('latin1')),
  ],
  ['truncated SHA-512 was used instead of SHA-256', (secret, message) => hmac('sha512', secret, message)],
  ['SHA-512/256 was used instead of SHA-256', (secret, message) => hmac('sha512-256', secret, message)],
  ['truncated SHA-384 was used instead of SHA-256', (secret, message) => hmac('sha384', secret, message)],
  ['SHA3-256 was used instead of SHA-256', (secret, message) => hmac('sha3-256', secret, message)],
  [
    'secret and message were hashed without HMAC',
    (secret, message) => sha256(secret, octets(message)).toString('base64'),
  ],
  [
    'secret and message were hashed without HMAC',
    (secret, message) => sha256(octets(message), secret).toString('base64'),
  ],
  [
    'the message was hashed before it was signed',
    (secret, message) => hashedFirst(secret, message, 'latin1'),
  ],
  ['the message was hashed before it was signed', (secret, message) => hashedFirst(secret, message, 'hex')],
];

/** Returns whether the digest is the hash of the message without a key, which needs no secret. */
export function isHashedAlone(digest: string, message: string): boolean {
  return digest === sha256(octets(message)).toString('base64');
}

function hashedFirst(secret: Buffer, message: string, encoding: 'latin1' | 'hex'): string {
  return hmac('sha256', secret, sha256(octets(message)).toString(encoding));
}
