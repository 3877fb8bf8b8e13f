// What clients make of the right secret and the right message by mistake.
import { createHash, createHmac } from 'node:crypto';

type Compute = (secret: Buffer, message: string) => string;

/** Signs with what `read` makes of the secret. */
function misread(read: (secret: Buffer) => string | Buffer): Compute {
  return (secret, message) => hmac('sha256', read(secret), message);
}

/** The least bytes of a key that somebody who does not know the secret cannot guess. */
const leastKey = 16;

/**
 * Signs with what `decode` makes of the secret, where that is the whole of it and no easier to guess: else a hint would
 * confirm a guess at the part that was decoded. Where it is not, the work is the same and no digest is returned, so
 * that the time does not depend on the secret.
 *
 * @param decode Returns undefined if it does not consume the whole secret.
 */
function decoded(decode: (text: string) => Buffer | undefined): Compute {
  return (secret, message) => {
    const key = decode(text(secret));
    if (key !== undefined && key.length >= leastKey) return hmac('sha256', key, message);
    hmac('sha256', secret, message);
    return '';
  };
}

function fromHex(digits: string): Buffer | undefined {
  return /^(?:[0-9a-f]{2})*$/i.test(digits) ? Buffer.from(digits, 'hex') : undefined;
}

/** Decodes base64 or base64url (RFC 4648 §4, §5), with or without padding. */
function fromBase64(characters: string): Buffer | undefined {
  const bytes = Buffer.from(characters, 'base64');
  const bare = characters.replace(/={0,2}$/, '');
  const isWhole = [bytes.toString('base64').replace(/={0,2}$/, ''), bytes.toString('base64url')].includes(
    bare,
  );
  return isWhole && (bare === characters || characters.length % 4 === 0) ? bytes : undefined;
}

function fromLatin1(characters: string): Buffer | undefined {
  const bytes = Buffer.from(characters, 'latin1');
  return bytes.toString('latin1') === characters ? bytes : undefined;
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

/** A hint, and how the mistaken digest is computed. */
export type SecretMistake = readonly [hint: string, compute: Compute];

/** Each mistake, and the digest as base64 that comes of it. */
export const secretMistakes: readonly SecretMistake[] = [
  ['the secret was decoded as base64; its characters are the key', decoded(fromBase64)],
  ['the secret was decoded as hexadecimal; its characters are the key', decoded(fromHex)],
  ['the secret was taken with a line feed at its end', misread((secret) => `${text(secret)}\n`)],
  ['the secret was taken with a line end (CR LF) at its end', misread((secret) => `${text(secret)}\r\n`)],
  ['the secret was taken with quotes around it', misread((secret) => `"${text(secret)}"`)],
  ['the secret was taken with quotes around it', misread((secret) => `'${text(secret)}'`)],
  ['the secret was taken with a space before or after it', misread((secret) => ` ${text(secret)}`)],
  ['the secret was taken with a space before or after it', misread((secret) => `${text(secret)} `)],
  ['the white space around the secret was cut off', decoded((characters) => Buffer.from(characters.trim()))],
  ['the secret was encoded as base64', misread((secret) => secret.toString('base64'))],
  ['the secret was encoded as hexadecimal', misread((secret) => secret.toString('hex'))],
  ['the secret was encoded as UTF-16', misread((secret) => Buffer.from(text(secret), 'utf16le'))],
  ['the secret was encoded as Latin-1; UTF-8 is expected', decoded(fromLatin1)],
  ['the secret was hashed before it was used as the key', misread((secret) => sha256(secret))],
  [
    'the secret was hashed before it was used as the key',
    misread((secret) => sha256(secret).toString('hex')),
  ],
  [
    'key and message were exchanged',
    (secret, message) => hmac('sha256', octets(message), secret.toString('latin1')),
  ],
  ['SHA-512, cut off, was used; SHA-256 is expected', (secret, message) => hmac('sha512', secret, message)],
  ['SHA-512/256 was used; SHA-256 is expected', (secret, message) => hmac('sha512-256', secret, message)],
  ['SHA-384, cut off, was used; SHA-256 is expected', (secret, message) => hmac('sha384', secret, message)],
  ['SHA3-256 was used; SHA-256 is expected', (secret, message) => hmac('sha3-256', secret, message)],
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

/** Returns whether the digest is that of the message alone, which anybody can make. */
export function isHashedAlone(digest: string, message: string): boolean {
  return digest === sha256(octets(message)).toString('base64');
}

function hashedFirst(secret: Buffer, message: string, encoding: 'latin1' | 'hex'): string {
  return hmac('sha256', secret, sha256(octets(message)).toString(encoding));
}
