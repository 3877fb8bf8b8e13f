// Signatures of OAuth 1.0a (RFC 5849 §3.4). Each character of a string is one octet, unless it says otherwise.
import { createHmac, type KeyObject, timingSafeEqual, verify } from 'node:crypto';
import { encodeOctets, octetsOf, type Parameter } from './oauth1-parameters.ts';

/** How a request may be signed. HMAC-SHA256 is made like HMAC-SHA1 with the other hash. */
export type OAuth1Method = 'HMAC-SHA256' | 'HMAC-SHA1' | 'PLAINTEXT' | 'RSA-SHA1';

/** What a signature covers. */
export interface OAuth1Request {
  /** `GET` */
  readonly method: string;
  /** Scheme and authority, in any case, with or without a port that is the default: `https://example.com:8443`. */
  readonly origin: string;
  /** Exactly as received, with its escapes and without the query. */
  readonly path: string;
  /** Those of header, query and form, decoded, in any order; `oauth_signature` is passed over. */
  readonly parameters: readonly Parameter[];
}

/** The signature base string (RFC 5849 §3.4.1.1). */
export function baseStringOf({ method, origin, path, parameters }: OAuth1Request): string {
  const uri = normalizedOrigin(origin) + (path === '' ? '/' : path);
  return [method.toUpperCase(), uri, normalizedParameters(parameters)].map(encodeOctets).join('&');
}

/** RFC 5849 §3.4.1.2: in lower case, and a port only where it is not the default. */
function normalizedOrigin(origin: string): string {
  const lower = origin.toLowerCase();
  return lower.replace(lower.startsWith('https:') ? /:(?:443)?$/ : /:(?:80)?$/, '');
}

/** RFC 5849 §3.4.1.3.2: encoded first and sorted then, by name and by value. */
function normalizedParameters(parameters: readonly Parameter[]): string {
  return parameters
    .filter(([name]) => name !== 'oauth_signature')
    .map(([name, value]): Parameter => [encodeOctets(name), encodeOctets(value)])
    .sort(([name, value], [otherName, otherValue]) => compare(name, otherName) || compare(value, otherValue))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** What is encoded is ASCII, so the order of characters is that of octets. */
function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

/** The key of HMAC, and all of a PLAINTEXT signature (RFC 5849 §3.4.2, §3.4.4). Secrets are text; '' where there is none. */
export function keyTextOf(consumerSecret: string, tokenSecret: string): string {
  return `${encodeOctets(octetsOf(consumerSecret))}&${encodeOctets(octetsOf(tokenSecret))}`;
}

/** The signature by a method with shared secrets. */
export function signatureOf(
  method: Exclude<OAuth1Method, 'RSA-SHA1'>,
  baseString: string,
  keyText: string,
): string {
  if (method === 'PLAINTEXT') return keyText;
  const hash = method === 'HMAC-SHA1' ? 'sha1' : 'sha256';
  return createHmac(hash, keyText).update(baseString, 'latin1').digest('base64');
}

/** Whether a signature is this one, letter for letter; the time that it takes does not depend on where they differ. */
export function isSameSignature(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected, 'utf8'), Buffer.from(given, 'utf8')];
  const alike = one.length === other.length;
  return timingSafeEqual(one, alike ? other : one) && alike;
}

/** Says whether a signature, in base64, is that of a base string. */
export type SignatureCheck = (baseString: string, signature: string) => boolean;

/** Makes what checks signatures by an RSA key (RFC 5849 §3.4.3). */
export function createKeyCheck(key: KeyObject): SignatureCheck {
  const modulus = Buffer.from(key.export({ format: 'jwk' }).n ?? '', 'base64url');
  // RFC 8017 §8.2.2: what is no number below the modulus is refused at once. This is one that is, and costs what others do.
  const decoy = Buffer.from(modulus);
  decoy[0] = 0x7f & (decoy[0] ?? 0);
  return (baseString, signature) => {
    const bytes = Buffer.from(signature, 'base64');
    const fits = bytes.length === modulus.length && Buffer.compare(bytes, modulus) < 0;
    const good = verify('RSA-SHA1', Buffer.from(baseString, 'latin1'), key, fits ? bytes : decoy);
    return good && fits && bytes.toString('base64') === signature;
  };
}
