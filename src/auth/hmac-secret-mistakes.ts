// What clients make of the right secret and the right message by mistake.
import { createHash, createHmac } from 'node:crypto';

type Compute = (secret: Buffer, message: string) => string;

/** Signs with what `read` makes of the secret. */
function misread(read: (secret: Buffer) => string | Buffer): Compute {
  return (secret, message) => hmac('sha256', read(secret), message);
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

/** Each mistake, and the digest as base64 that comes of it. */
export const secretMistakes: readonly [hint: string, compute: Compute][] = [
  [
    'the secret was decoded as base64; its characters are the key',
    misread((secret) => Buffer.from(text(secret), 'base64')),
  ],
  [
    'the secret was decoded as hexadecimal; its characters are the key',
    misread((secret) => Buffer.from(text(secret), 'hex')),
  ],
  ['the secret was taken with a line feed at its end', misread((secret) => `${text(secret)}\n`)],
  ['the secret was taken with a line end (CR LF) at its end', misread((secret) => `${text(secret)}\r\n`)],
  ['the secret was taken with quotes around it', misread((secret) => `"${text(secret)}"`)],
  ['the secret was taken with quotes around it', misread((secret) => `'${text(secret)}'`)],
  ['the secret was taken with a space before or after it', misread((secret) => ` ${text(secret)}`)],
  ['the secret was taken with a space before or after it', misread((secret) => `${text(secret)} `)],
  ['the white space around the secret was cut off', misread((secret) => text(secret).trim())],
  ['the secret was encoded as base64', misread((secret) => secret.toString('base64'))],
  ['the secret was encoded as hexadecimal', misread((secret) => secret.toString('hex'))],
  ['the secret was encoded as UTF-16', misread((secret) => Buffer.from(text(secret), 'utf16le'))],
  [
    'the secret was encoded as Latin-1; UTF-8 is expected',
    misread((secret) => Buffer.from(text(secret), 'latin1')),
  ],
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
  ['the message was hashed without HMAC', (_, message) => sha256(octets(message)).toString('base64')],
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

function hashedFirst(secret: Buffer, message: string, encoding: 'latin1' | 'hex'): string {
  return hmac('sha256', secret, sha256(octets(message)).toString(encoding));
}
