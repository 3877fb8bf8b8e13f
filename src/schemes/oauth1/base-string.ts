// Signatures of OAuth 1.0a (RFC 5849 §3.4). Each character of a string is one octet, unless noted otherwise.

import { createHmac, type KeyObject } from 'node:crypto';
import { type RsaMethod, type SecretMethod, secretMethods } from '../../accounts/oauth1-methods.ts';
import { type PublicKeyKind, signWith, verifyWith } from '../../algorithms.ts';
import type { Parameter } from '../../http/form.ts';
import { removeDefaultPort } from '../../http/host.ts';
import { bytesOf, toOctets } from '../../http/syntax/octets.ts';
import { encodeOctets } from '../../http/syntax/percent.ts';
import { octetsOfPiece, type Part, type PartKind } from '../message.ts';
import { isProtocol } from './parameters.ts';

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
  /** The decoded parameters of header and query, in any order. `oauth_signature` is ignored. */
  readonly parameters: readonly Parameter[];
  /** Those of the form. Default: none. */
  readonly form?: readonly Parameter[] | undefined;
}

/** Returns the signature base string (RFC 5849 §3.4.1.1). */
export function formatBaseString(request: OAuth1Request): string {
  return assemble(baseStringParts(request)).join('');
}

/** Returns the base string URI: the origin in lower case, without a default port, and the path (RFC 5849 §3.4.1.2). */
function formatBaseUri(origin: string, path: string): string {
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

const ampersand: Part = { kind: 'text', name: '', value: '&' };
const afterScheme: Part = { kind: 'text', name: '', value: '://' };

/** The kinds of the protocol parameters that have mistakes of their own, with their names in explanations. */
const kinds: ReadonlyMap<string, Pick<Part, 'kind' | 'name'>> = new Map([
  ['oauth_consumer_key', { kind: 'user', name: 'consumer key' }],
  ['oauth_token', { kind: 'id', name: 'token' }],
  ['oauth_timestamp', { kind: 'time', name: 'timestamp' }],
  ['oauth_nonce', { kind: 'nonce', name: 'nonce' }],
]);

const parameterNames: ReadonlyMap<PartKind, string> = new Map(
  [...kinds].map(([name, { kind }]) => [kind, name]),
);

/**
 * Returns the parts: method; scheme, host and path of the base string URI; each protocol parameter; and the other parameters of
 * query and form, encoded once.
 */
export function baseStringParts({ method, origin, path, parameters, form = [] }: OAuth1Request): Part[] {
  const uri = formatBaseUri(origin, path);
  const colon = uri.indexOf(':');
  const slash = uri.indexOf('/', colon + 3);
  const parts: Part[] = [
    { kind: 'method', name: 'method', value: method.toUpperCase() },
    ampersand,
    { kind: 'other', name: 'scheme', value: uri.slice(0, colon) },
    afterScheme,
    { kind: 'host', name: 'host', value: uri.slice(colon + 3, slash) },
    { kind: 'path', name: 'path', value: uri.slice(slash) },
    ampersand,
  ];
  const query = addParameters(parameters, parts);
  const content = addParameters(form, parts);
  if (query !== '') parts.push({ kind: 'query', name: 'query parameters', value: query });
  if (content !== '') parts.push({ kind: 'other', name: 'form parameters', value: content });
  return parts;
}

/**
 * Returns the parts of the base string with `oauth_body_hash` as it is, not percent-encoded; undefined without this parameter. The
 * signers of Mastercard make it so. The digits of base64 contain no `&`, so it stays clear where each parameter ends.
 */
export function withPlainBodyHash(parts: readonly Part[]): Part[] | undefined {
  const at = parts.findIndex(({ name }) => name === bodyHashName);
  const hash = octetsOfPiece(parts[at]?.value ?? '');
  if (!/^[A-Za-z0-9+/]{2,}={0,2}$/.test(hash)) return undefined;
  return parts.with(at, { kind: 'other', name: 'body hash parameters', value: `${bodyHashName}=${hash}` });
}

const bodyHashName = 'oauth_body_hash';

/** Adds the protocol parameters to the parts, and returns the others, encoded and joined. */
function addParameters(parameters: readonly Parameter[], parts: Part[]): string {
  let others = '';
  for (const parameter of parameters) {
    const [name, value] = parameter;
    if (!isProtocol(parameter)) others += `${others === '' ? '' : '&'}${encodePair(parameter)}`;
    else if (name !== 'oauth_signature') {
      const { kind, name: label } = kinds.get(name) ?? { kind: 'other', name };
      parts.push({ kind, name: label, value });
    }
  }
  return others;
}

/** Returns the base string of parts. Some may be missing; the parameters stand where the first one is, sorted. */
export function assemble(parts: readonly Part[]): readonly string[] {
  const pairs = pairsIn(parts);
  let text = '';
  let areAdded = false;
  for (const part of parts) {
    const { kind, value } = part;
    if (isParameter(part)) {
      if (!areAdded) text += encodeOctets(normalizePairs(pairs));
      areAdded = true;
    } else if (kind !== 'text' || value === afterScheme.value) text += encodeOctets(octetsOfPiece(value));
    else if (!areAdded) text += octetsOfPiece(value);
  }
  return [text];
}

function isParameter(part: Part): boolean {
  return part.name.endsWith(' parameters') || protocolName(part) !== undefined;
}

/** Returns the name of the protocol parameter that a part is; undefined if it is none. */
function protocolName({ kind, name }: Part): string | undefined {
  return parameterNames.get(kind) ?? (name.startsWith('oauth_') ? name : undefined);
}

/** Returns the parameters among the parts as encoded pairs, in the order of the parts. */
export function pairsIn(parts: readonly Part[]): string[] {
  const pairs: string[] = [];
  for (const part of parts) {
    const name = protocolName(part);
    if (name !== undefined) pairs.push(`${name}=${encodeOctets(octetsOfPiece(part.value))}`);
    else if (part.name.endsWith(' parameters') && part.value !== '')
      pairs.push(...octetsOfPiece(part.value).split('&'));
  }
  return pairs;
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
