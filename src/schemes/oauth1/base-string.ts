// Signatures of OAuth 1.0a (RFC 5849 §3.4). Each character of a string is one octet, unless noted otherwise.

import { createHmac, type KeyObject } from 'node:crypto';
import { type RsaMethod, type SecretMethod, secretMethods } from '../../accounts/oauth1-methods.ts';
import { type PublicKeyKind, signWith, verifyWith } from '../../algorithms.ts';
import type { Parameter } from '../../http/form.ts';
import { removeDefaultPort } from '../../http/host.ts';
import { bytesOf, toOctets } from '../../http/syntax/octets.ts';
import { encodeOctets } from '../../http/syntax/percent.ts';

/** The algorithms of the methods with RSA. A key of a consumer is one of each kind. */
export const rsaKinds = {
  'RSA-SHA256': 'rsa-v1_5-sha256',
  'RSA-SHA1': 'rsa-v1_5-sha1',
  'RSA-SHA512': 'rsa-v1_5-sha512',
} as const satisfies Readonly<Record<RsaMethod, PublicKeyKind>>;

/** The request data that a signature covers. */
export interface OAuth1Request {
  /** `GET` */
  readonly method: string;
  /** Scheme and authority, in any case, with or without a default port: `https://example.com:8443`. */
  readonly origin: string;
  /** The path as received, still percent-encoded, without the query. */
  readonly path: string;
  /** The decoded parameters of header, query and form, in any order. `oauth_signature` is ignored. */
  readonly parameters: readonly Parameter[];
}

/** Returns the signature base string (RFC 5849 §3.4.1.1). */
export function formatBaseString({ method, origin, path, parameters }: OAuth1Request): string {
  const pairs = parameters.filter(([name]) => name !== 'oauth_signature').map(encodePair);
  return [method.toUpperCase(), formatBaseUri(origin, path), normalizePairs(pairs)]
    .map(encodeOctets)
    .join('&');
}

/** Returns the base string URI: the origin in lower case, without a default port, and the path (RFC 5849 §3.4.1.2). */
export function formatBaseUri(origin: string, path: string): string {
  const lower = origin.toLowerCase();
  return removeDefaultPort(lower, lower.startsWith('https:')) + (path === '' ? '/' : path);
}

/** Returns a parameter as `NAME=VALUE`, both percent-encoded. */
export function encodePair([name, value]: Parameter): string {
  return `${encodeOctets(name)}=${encodeOctets(value)}`;
}

/** Sorts encoded pairs by name and value, and joins them (RFC 5849 §3.4.1.3.2). */
export function normalizePairs(pairs: readonly string[]): string {
  // A space is before all characters of names, and `=` is not: `a=2` comes before `a-b=1`.
  const sorted = pairs.join('&').replaceAll('=', ' ').split('&').sort();
  return sorted.join('&').replaceAll(' ', '=');
}

/**
 * Returns the key of HMAC, which is also the whole PLAINTEXT signature (RFC 5849 §3.4.2, §3.4.4). The secrets are text; a missing
 * one is ''.
 */
export function formatKeyText(consumerSecret: string, tokenSecret: string): string {
  return `${encodeOctets(toOctets(consumerSecret))}&${encodeOctets(toOctets(tokenSecret))}`;
}

/** Returns the signature of a base string by a method with shared secrets. */
export function computeSignature(method: SecretMethod, baseString: string, keyText: string): string {
  const hash = secretMethods[method];
  if (hash === undefined) return keyText;
  return createHmac(hash, keyText).update(baseString, 'latin1').digest('base64');
}

/** Returns the signature of a base string by a method with an RSA key (RFC 5849 §3.4.3). */
export function computeRsaSignature(method: RsaMethod, baseString: string, key: KeyObject): string {
  return signWith(rsaKinds[method], key, bytesOf(baseString)).toString('base64');
}

/** Returns whether a signature, in base64, is that of a base string. */
export type SignatureCheck = (method: RsaMethod, baseString: string, signature: string) => boolean;

/** Creates a function that verifies signatures with an RSA key (RFC 5849 §3.4.3). */
export function createKeyCheck(key: KeyObject): SignatureCheck {
  const modulus = Buffer.from(key.export({ format: 'jwk' }).n ?? '', 'base64url');
  // A signature that is not below the modulus is rejected at once (RFC 8017 §8.2.2). Verifying this one takes the usual time.
  const decoy = Buffer.from(modulus);
  decoy[0] = 0x7f & (decoy[0] ?? 0);
  return (method, baseString, signature) => {
    const bytes = Buffer.from(signature, 'base64');
    const fits = bytes.length === modulus.length && Buffer.compare(bytes, modulus) < 0;
    const good = verifyWith(rsaKinds[method], key, bytesOf(baseString), fits ? bytes : decoy);
    return good && fits && bytes.toString('base64') === signature;
  };
}
