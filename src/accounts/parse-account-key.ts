import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { isKeyFor, isSignatureAlgorithm, nameKey, signatureAlgorithms } from '../algorithms.ts';
import { didYouMean } from '../did-you-mean.ts';
import { createKey } from '../hmac-sha256.ts';
import { hasControlCharacter, hasLoneSurrogate } from '../http/syntax/control-character.ts';
import {
  grammar,
  leaf,
  number,
  object,
  optional,
  read,
  type Shape,
  text,
  variants,
  word,
} from '../shape/shape.ts';
import type { AccountKey, KeyDeclaration } from './account-key.ts';
import { keyWeakness } from './key-weakness.ts';

/** The algorithms of keys with a shared secret. */
const sharedAlgorithms = ['hmac-sha256', 'aws4'] as const;
/** The names of all algorithms of keys. */
export const keyAlgorithms: readonly string[] = [...signatureAlgorithms, ...sharedAlgorithms];

/** The maximum length of the id of a key. */
export const maxKeyIdLength = 256;

/** Returns why an id of a key is invalid, or undefined: 1 to 256 characters, without quotes, commas, slashes and white space. */
export function keyIdFault(id: string): string | undefined {
  if (id.length < 1 || id.length > maxKeyIdLength)
    return `the id of a key must have 1 to ${maxKeyIdLength} characters`;
  if (hasControlCharacter(id) || hasLoneSurrogate(id) || /[\s"\\,]/.test(id))
    return 'the id of a key must have no white space, quotes, backslashes, commas and control characters';
  return undefined;
}

const until = optional(number({ whole: false }, 'expiry time in milliseconds since 1970-01-01T00:00:00Z'));

const example = 'an object such as { "algorithm": "ed25519", "publicKey": "…" }';

const publicKeyShape: Shape<KeyDeclaration> = object(
  {
    algorithm: word(signatureAlgorithms),
    publicKey: leaf(
      {
        description: 'PEM (SPKI), or a JWK (RFC 7517)',
        anyOf: [
          { type: 'string', minLength: 1 },
          { type: 'object', required: ['kty'] },
        ],
      },
      'PEM text or a JWK',
      isPublicKey,
    ),
    until,
  },
  undefined,
  { expected: example },
);

const sharedKeyShape: Shape<KeyDeclaration> = object(
  {
    algorithm: word(sharedAlgorithms),
    secret: text('the shared secret', { min: 1, isSecret: true }),
    passphrase: optional(
      text('a second secret, which is sent beside the signature', { min: 1, isSecret: true }),
    ),
    until,
  },
  undefined,
  { expected: example },
);

/** Describes a key of a user. `parseAccountKey` checks the key itself. */
export const keyShape: Shape<KeyDeclaration> = variants([publicKeyShape, sharedKeyShape], (value) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return publicKeyShape;
  const algorithm: unknown = Reflect.get(value, 'algorithm');
  if (typeof algorithm !== 'string' || !keyAlgorithms.includes(algorithm)) return unknownKeyShape;
  return isSignatureAlgorithm(algorithm) ? publicKeyShape : sharedKeyShape;
});

/** Explains why the algorithm of a key is not known. */
const unknownKeyShape: Shape<KeyDeclaration> = grammar({}, example, (value, what): never => {
  const algorithm: unknown = typeof value === 'object' && value !== null && Reflect.get(value, 'algorithm');
  throw new RangeError(`${what} has no algorithm ${algorithmNamed(algorithm, what)}`);
});

/**
 * Parses a declared key. The message of an error contains nothing of the key.
 * @param what names the key in messages: `the key "key-1" of the user "ann"`
 * @throws RangeError on an unknown algorithm or member, an empty secret, a private key, or a key of another type
 */
export function parseAccountKey(id: string, declared: unknown, what: string): AccountKey {
  const fault = keyIdFault(id);
  if (fault !== undefined) throw new RangeError(`${what}: ${fault}`);
  const key = read(keyShape, declared, what);
  const expiry = key.until === undefined ? {} : { until: key.until };
  if ('secret' in key) {
    const { algorithm, secret, passphrase } = key;
    const second =
      passphrase === undefined ? {} : { passphrase: createHash('sha256').update(passphrase).digest() };
    return { id, algorithm, secret: createKey(secret), ...expiry, ...second };
  }
  const { algorithm } = key;
  const publicKey = parsePublicKey(key.publicKey, what);
  if (!isKeyFor(algorithm, publicKey))
    throw new RangeError(`${what} is not ${nameKey(algorithm)}, which ${algorithm} requires`);
  const weakness = keyWeakness(publicKey);
  if (weakness !== undefined) throw new RangeError(`${what} ${weakness}`);
  return { id, algorithm, publicKey, ...expiry };
}

/**
 * Parses a public key: PEM (SPKI), or a JWK as an object or as JSON text. The message of an error contains nothing of the key.
 * @throws RangeError on a private key, or on anything else that is not a public key
 */
export function parsePublicKey(source: unknown, what: string): KeyObject {
  const jwk = readJwk(source);
  if (jwk === undefined && typeof source !== 'string')
    throw new RangeError(`publicKey of ${what} must be PEM text or a JWK`);
  const isPrivate =
    jwk === undefined
      ? /PRIVATE KEY/.test(String(source))
      : Object.hasOwn(jwk, 'd') || Object.hasOwn(jwk, 'k');
  if (isPrivate)
    throw new RangeError(`${what} is a private key or a secret; only the public key belongs here`);
  try {
    return jwk === undefined ? createPublicKey(String(source)) : createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    throw new RangeError(`${what} is not a public key in PEM (SPKI) or JWK format`);
  }
}

function readJwk(source: unknown): Record<string, string> | undefined {
  const value: unknown = typeof source === 'string' && /^\s*\{/.test(source) ? parseJson(source) : source;
  if (typeof value !== 'object' || value === null) return undefined;
  // Further members, such as key_ops, are lists. A key consists of text only.
  const members = Object.entries(value).filter((member): member is [string, string] => isText(member[1]));
  return Object.fromEntries(members);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the algorithm of a name. Throws RangeError with the nearest known name. */
export function algorithmNamed(name: unknown, what: string): KeyDeclaration['algorithm'] {
  if (typeof name !== 'string') throw new RangeError(`${what} has no algorithm`);
  if (isSignatureAlgorithm(name) || name === 'hmac-sha256' || name === 'aws4') return name;
  throw new RangeError(
    `${JSON.stringify(name)} is not an algorithm of ${what}${didYouMean(name, keyAlgorithms)}`,
  );
}

function isPublicKey(value: unknown): value is string | Readonly<Record<string, unknown>> {
  return typeof value === 'string' || (typeof value === 'object' && value !== null && !Array.isArray(value));
}
