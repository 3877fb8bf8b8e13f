// Signatures of the right signature base that clients compute or encode by mistake.
import { createHash, createHmac } from 'node:crypto';
import { decodedSecret } from '../decoded-secret.ts';
import { publicKeyMistake } from '../explain/public-key.ts';
import type { VerifyingKey } from './keys.ts';

/**
 * Returns the hint for a signature that a key produces in another way; undefined if it does not. The work depends on nothing but
 * the algorithm of the key and the lengths.
 */
export function computationMistake(key: VerifyingKey, text: string, signature: string): string | undefined {
  const data = Buffer.from(text, 'latin1');
  if (key.algorithm !== 'hmac-sha256')
    return publicKeyMistake(key.algorithm, key.publicKey, data, Buffer.from(signature, 'base64'));
  const found = hmacMistakes.filter(([, compute]) =>
    key.secret.makes(signature, (secret) => compute(secret, data)),
  );
  return found[0]?.[0];
}

type Compute = (secret: Buffer, data: Buffer) => string;

function hmac(hash: string, secret: string | Buffer, data: string | Buffer): string {
  return createHmac(hash, secret).update(data).digest('base64');
}

const sha256 = (data: Buffer): Buffer => createHash('sha256').update(data).digest();
const utf8 = (secret: Buffer): string => secret.toString('utf8');

/** Signs with the decoded secret. If it must not be tried, it does the same work. */
function decoded(encoding: 'base64' | 'hex'): Compute {
  return (secret, data) => {
    const bytes = decodedSecret(utf8(secret), encoding);
    const digest = hmac('sha256', bytes ?? secret, data);
    return bytes === undefined ? '' : digest;
  };
}

const hmacMistakes: readonly (readonly [hint: string, compute: Compute])[] = [
  ['the secret was decoded from base64; use its characters as the key', decoded('base64')],
  ['the secret was decoded from hexadecimal; use its characters as the key', decoded('hex')],
  [
    'the secret was used with a trailing line feed',
    (secret, data) => hmac('sha256', `${utf8(secret)}\n`, data),
  ],
  ['the secret was encoded in base64', (secret, data) => hmac('sha256', secret.toString('base64'), data)],
  ['the secret was encoded in hexadecimal', (secret, data) => hmac('sha256', secret.toString('hex'), data)],
  [
    'the secret was hashed before it was used as the key',
    (secret, data) => hmac('sha256', sha256(secret), data),
  ],
  ['HMAC with SHA-512 was used; SHA-256 is expected', (secret, data) => hmac('sha512', secret, data)],
  ['HMAC with SHA-384 was used; SHA-256 is expected', (secret, data) => hmac('sha384', secret, data)],
  ['HMAC with SHA-1 was used; SHA-256 is expected', (secret, data) => hmac('sha1', secret, data)],
  ['truncated HMAC with SHA-512 was used; SHA-256 is expected', truncated('sha512')],
  [
    'the signature base was hashed before it was signed',
    (secret, data) => hmac('sha256', secret, sha256(data)),
  ],
  [
    'the signature base was hashed before it was signed',
    (secret, data) => hmac('sha256', secret, sha256(data).toString('hex')),
  ],
];

function truncated(hash: string): Compute {
  return (secret, data) => createHmac(hash, secret).update(data).digest().subarray(0, 32).toString('base64');
}
