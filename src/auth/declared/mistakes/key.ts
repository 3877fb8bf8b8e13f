// Signatures that clients compute by mistake from the right secret and the right message.
import { createHash, createHmac } from 'node:crypto';
import type { HashName } from '../../../signature/declared/declaration.ts';
import { keyBytes } from '../../../signature/declared/key.ts';
import { decodedSecret, unguessable } from '../../decoded-secret.ts';
import type { DeclaredOptions } from '../options.ts';

/** A hint, and the digest in base64 that the mistake produces; '' if it cannot be made with this secret. */
export type KeyMistake = readonly [hint: string, digest: string];

/** Returns the mistakes of a secret. Their number does not depend on the secret. */
export function keyMistakes(secret: Buffer, message: Buffer, options: DeclaredOptions): KeyMistake[] {
  const { hash } = options;
  const mac = (key: Buffer | string): string => createHmac(hash, key).update(message).digest('base64');
  const key = keyBytes(secret, options) ?? secret;
  return [
    // The same number of digests for every secret, so that the time does not depend on it.
    ...misread(secret, options).map(([hint, bytes]): KeyMistake => {
      const digest = mac(bytes ?? secret);
      return [hint, bytes === undefined ? '' : digest];
    }),
    ...otherHashes(hash).map(
      ([name, size]): KeyMistake => [
        `${name} was used instead of ${hash}`,
        createHmac(name, key).update(message).digest().subarray(0, size).toString('base64'),
      ],
    ),
    ['secret and message were hashed without HMAC', hashed(hash, key, message)],
    ['secret and message were hashed without HMAC', hashed(hash, message, key)],
    ['secret and message were hashed without HMAC', hashed(hash, secret, message)],
    ['key and message were exchanged', createHmac(hash, message).update(key).digest('base64')],
  ];
}

/** Returns the keys that a client may have read from the secret by mistake. */
function misread(
  secret: Buffer,
  options: DeclaredOptions,
): (readonly [hint: string, key: Buffer | undefined])[] {
  const text = secret.toString('utf8');
  const { keyPrefix = '', key } = options;
  const own = keyBytes(secret, options);
  const unprefixed = keyPrefix !== '' && text.startsWith(keyPrefix) ? text.slice(keyPrefix.length) : text;
  const written = (value: string): Buffer => Buffer.from(value, 'utf8');
  const notDecoded = `the key was not decoded from ${key === 'hex' ? 'hexadecimal' : key}`;
  const prefixKept = `the prefix ${keyPrefix === '' ? 'of the secret' : keyPrefix} was not removed from the secret`;
  const prefixRemoved = 'the prefix of the secret was removed; the whole secret is the key';
  return [
    [notDecoded, key === 'utf8' ? undefined : written(unprefixed)],
    [keyPrefix === '' ? notDecoded : prefixKept, key === 'utf8' && keyPrefix === '' ? undefined : secret],
    [prefixKept, key === 'utf8' || keyPrefix === '' ? undefined : withPrefix(text, unprefixed, key)],
    [
      'the secret was decoded from base64',
      key === 'base64' ? undefined : decodedSecret(unprefixed, 'base64'),
    ],
    ['the secret was decoded from hexadecimal', key === 'hex' ? undefined : decodedSecret(unprefixed, 'hex')],
    [prefixRemoved, keyPrefix === '' ? afterPrefix(text) : undefined],
    [
      'the prefix of the secret was removed, and the rest decoded from base64',
      keyPrefix === '' ? decodedSecret(afterPrefix(text)?.toString('utf8') ?? '', 'base64') : undefined,
    ],
    ['the secret was used with a trailing line feed', written(`${unprefixed}\n`)],
    ['the secret was used with a trailing line ending (CR LF)', written(`${unprefixed}\r\n`)],
    ['the secret was used with quotes around it', written(`"${unprefixed}"`)],
    ['the secret was used with a leading or trailing space', written(` ${unprefixed}`)],
    ['the secret was used with a leading or trailing space', written(`${unprefixed} `)],
    ['the key was encoded in hexadecimal', own && written(own.toString('hex'))],
    ['the key was encoded in base64', own && written(own.toString('base64'))],
    ['the key was hashed before it was used', own && createHash('sha256').update(own).digest()],
    ['the key was hashed before it was used', own && written(createHash('sha256').update(own).digest('hex'))],
    ['the secret was encoded in UTF-16 instead of UTF-8', Buffer.from(unprefixed, 'utf16le')],
  ];
}

/** Decodes a secret with its prefix, like libraries that ignore characters outside the alphabet. The rest must be well-formed. */
function withPrefix(text: string, unprefixed: string, encoding: 'hex' | 'base64'): Buffer | undefined {
  return decodedSecret(unprefixed, encoding) === undefined
    ? undefined
    : unguessable(Buffer.from(text, encoding));
}

/** Returns the secret after a prefix such as `whsec_`. */
function afterPrefix(text: string): Buffer | undefined {
  const rest = /^[a-z]{2,8}_(?:[a-z]{2,8}_)?(.{16,})$/s.exec(text)?.[1];
  return rest === undefined ? undefined : Buffer.from(rest, 'utf8');
}

/** Other hash functions, whose digests are truncated to the declared length. */
function otherHashes(hash: HashName): (readonly [name: string, size: number])[] {
  const others: Readonly<Record<HashName, readonly string[]>> = {
    sha1: ['sha256', 'ripemd160', 'sha512'],
    sha256: ['sha512', 'sha512-256', 'sha384', 'sha3-256'],
    sha384: ['sha512', 'sha3-384'],
    sha512: ['sha3-512'],
  };
  const sizes: Readonly<Record<HashName, number>> = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 };
  return others[hash].map((name) => [name, sizes[hash]] as const);
}

function hashed(hash: HashName, ...parts: readonly Buffer[]): string {
  return createHash(hash).update(Buffer.concat(parts)).digest('base64');
}
