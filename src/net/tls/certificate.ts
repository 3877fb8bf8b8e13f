import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { generateKeys } from '../../algorithms.ts';

// Encoders of the Distinguished Encoding Rules (X.690), as far as certificates need them. Each returns one element.

const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Encodes an element. The content is given in parts. */
function element(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.of(tag), lengthOctets(body.length), body]);
}

/** Encodes a length in as few octets as possible (X.690 §8.1.3, §10.1). */
function lengthOctets(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return Buffer.of(0x80 + octets.length, ...octets);
}

/** Encodes a SEQUENCE. */
export function sequence(...elements: readonly Uint8Array[]): Buffer {
  return element(tags.sequence, ...elements);
}

/** Encodes a SET of one element; several would have to be sorted (X.690 §11.6). */
function encodeSet(only: Uint8Array): Buffer {
  return element(tags.set, only);
}

/** Tags an element with `[number]` EXPLICIT. */
function tagExplicitly(number: number, inner: Uint8Array): Buffer {
  return element(0xa0 + number, inner);
}

/** Encodes a primitive element with the tag `[number]` IMPLICIT. */
function tagImplicitly(number: number, content: Uint8Array): Buffer {
  return element(0x80 + number, content);
}

/** Encodes BOOLEAN TRUE (X.690 §11.1). FALSE is always a default in certificates, and defaults are omitted (§11.5). */
function booleanTrue(): Buffer {
  return element(tags.boolean, Buffer.of(0xff));
}

/** Encodes an unsigned INTEGER, given in big-endian octets, in as few octets as possible (X.690 §8.3.2). */
function integer(octets: Uint8Array): Buffer {
  let from = 0;
  while (from < octets.length - 1 && octets[from] === 0) from += 1;
  const shortest = octets.subarray(from);
  // The first bit is the sign.
  const positive = (shortest[0] ?? 0x80) < 0x80 ? shortest : Buffer.concat([Buffer.of(0), shortest]);
  return element(tags.integer, positive);
}

/** Encodes a BIT STRING of octets, of which the last `unused` bits are unused and 0 (X.690 §8.6, §11.2). */
function bitString(octets: Uint8Array, unused = 0): Buffer {
  return element(tags.bitString, Buffer.of(unused), octets);
}

/** Encodes an OCTET STRING. */
function octetString(octets: Uint8Array): Buffer {
  return element(tags.octetString, octets);
}

/** Encodes an OBJECT IDENTIFIER in dotted notation: `2.5.4.3`. */
function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split('.').map(Number);
  return element(tags.objectIdentifier, Buffer.from([first * 40 + second, ...others].flatMap(encodeBase128)));
}

/** Encodes a number with seven bits an octet; the eighth bit is set in all but the last octet (X.690 §8.19.2). */
function encodeBase128(number: number): number[] {
  const octets = [number % 128];
  for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128))
    octets.unshift(0x80 + (rest % 128));
  return octets;
}

/** Encodes a UTF8String. */
function encodeUtf8String(text: string): Buffer {
  return element(tags.utf8String, Buffer.from(text, 'utf8'));
}

/**
 * Encodes a time (milliseconds since 1970-01-01T00:00:00Z), rounded down to a second: as UTCTime through the year 2049, as
 * GeneralizedTime from 2050 on (RFC 5280 §4.1.2.5). Throws RangeError for a year outside 1950 to 9999.
 */
function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().replace(/\.[0-9]+/, '');
  const digits = text.replace(/[-:T]/g, '');
  if (!/^(19[5-9]|[2-9][0-9]{2})/.test(digits))
    throw new RangeError(`${text} is outside the years 1950 to 9999 of a certificate`);
  const short = digits < '2050';
  return element(short ? tags.utcTime : tags.generalizedTime, Buffer.from(short ? digits.slice(2) : digits));
}

/** The contents of a certificate. */
export interface CertificateParts {
  /** The common name of the subject. */
  readonly subject: string;
  /** The subject's private key (EC, P-256). The certificate contains the public key. */
  readonly key: KeyObject;
  /** The issuer: a common name and a private key (EC, P-256). Default: the subject. */
  readonly issuer?: { readonly name: string; readonly key: KeyObject };
  /** The DNS names and IP addresses of a server. `authority` for a certificate authority. */
  readonly names: readonly string[] | 'authority';
  /** The first and the last moment of validity, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly from: number;
  readonly until: number;
  /** Returns `size` random bytes. */
  readonly random: (size: number) => Uint8Array;
}

/** Generates a private key (EC, P-256). */
export function makeKey(): KeyObject {
  return generateKeys('ecdsa-p256-sha256').privateKey;
}

/** Returns whether a private key is of the kind that `makeCertificate` accepts. */
export function canCertify(key: KeyObject): boolean {
  return key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
}

/**
 * Creates an X.509 certificate, version 3 (RFC 5280), signed with ECDSA and SHA-256, in PEM. Throws RangeError for a key of another
 * kind, a name that is neither a DNS name nor an IP address, and a year outside 1950 to 9999.
 */
export function makeCertificate(parts: CertificateParts): string {
  const { subject, key, issuer = { name: subject, key }, names, from, until, random } = parts;
  const subjectKey = encodePublicKey(key);
  const toBeSigned = sequence(
    tagExplicitly(0, integer(Buffer.of(2))), // version 3 is encoded as 2
    integer(serialNumber(random)),
    ecdsaWithSha256,
    encodeCommonName(issuer.name),
    sequence(time(from), time(until)),
    encodeCommonName(subject),
    subjectKey,
    tagExplicitly(
      3,
      sequence(
        ...(names === 'authority' ? authorityExtensions() : serverExtensions(names)),
        extension(oids.subjectKeyIdentifier, octetString(keyIdentifier(subjectKey))),
        extension(
          oids.authorityKeyIdentifier,
          sequence(tagImplicitly(0, keyIdentifier(encodePublicKey(issuer.key)))),
        ),
      ),
    ),
  );
  const signature = sign('sha256', toBeSigned, { key: issuer.key, dsaEncoding: 'der' });
  return pem(sequence(toBeSigned, ecdsaWithSha256, bitString(signature)));
}

/** Returns a private key in PEM (PKCS #8), unencrypted. */
export function pemOfKey(key: KeyObject): string {
  return String(key.export({ type: 'pkcs8', format: 'pem' }));
}

const oids = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuthentication: '1.3.6.1.5.5.7.3.1',
} as const;

/** AlgorithmIdentifier (RFC 5758 §3.2). */
const ecdsaWithSha256 = sequence(objectIdentifier(oids.ecdsaWithSha256));

/** Bits of KeyUsage (§4.2.1.3): the octet that contains them, and the number of its unused bits. */
const digitalSignature = [Buffer.of(0x80), 7] as const;
const keyCertSignAndCrlSign = [Buffer.of(0x06), 1] as const;

/** Encodes SubjectPublicKeyInfo (§4.1.2.7). */
function encodePublicKey(key: KeyObject): Buffer {
  if (!canCertify(key)) throw new RangeError('the key of a certificate must be on the curve P-256');
  return createPublicKey(key).export({ type: 'spki', format: 'der' });
}

/** Returns a serial number (§4.1.2.2): positive, at most 20 octets. The bit that is set keeps it at 20. */
function serialNumber(random: (size: number) => Uint8Array): Uint8Array {
  const octets = Uint8Array.from(random(20));
  octets[0] = ((octets[0] ?? 0) & 0x7f) | 0x40;
  return octets;
}

/** Encodes a Name (§4.1.2.4) with only a common name. */
function encodeCommonName(name: string): Buffer {
  return sequence(encodeSet(sequence(objectIdentifier(oids.commonName), encodeUtf8String(name))));
}

/** Returns 160 bits of the SHA-256 of the public key's BIT STRING, which is an uncompressed point (RFC 7093 §2, method 1). */
function keyIdentifier(subjectPublicKeyInfo: Buffer): Buffer {
  const point = subjectPublicKeyInfo.subarray(-65);
  return createHash('sha256').update(point).digest().subarray(0, 20);
}

/** Encodes an Extension (§4.1). */
function extension(oid: string, value: Uint8Array, critical?: 'critical'): Buffer {
  const flag = critical === undefined ? [] : [booleanTrue()];
  return sequence(objectIdentifier(oid), ...flag, octetString(value));
}

/**
 * A server's certificate is not an authority, even if it is self-signed. A client that trusts it trusts this server, but nothing that
 * its key might sign (RFC 6818 §2 describes such certificates).
 */
function serverExtensions(names: readonly string[]): Buffer[] {
  return [
    extension(oids.basicConstraints, sequence(), 'critical'),
    extension(oids.keyUsage, bitString(...digitalSignature), 'critical'),
    extension(oids.extendedKeyUsage, sequence(objectIdentifier(oids.serverAuthentication))),
    extension(oids.subjectAlternativeName, sequence(...names.map(encodeGeneralName))),
  ];
}

/** An authority signs certificates of servers, not of further authorities (§4.2.1.9: pathLenConstraint is 0). */
function authorityExtensions(): Buffer[] {
  return [
    extension(oids.basicConstraints, sequence(booleanTrue(), integer(Buffer.of(0))), 'critical'),
    extension(oids.keyUsage, bitString(...keyCertSignAndCrlSign), 'critical'),
  ];
}

/** Encodes a GeneralName (§4.2.1.6). Does not use isIP of node:net, whose first call adds milliseconds to a start. */
function encodeGeneralName(name: string): Buffer {
  if (name.includes(':')) return tagImplicitly(7, octetsOfIPv6(name));
  if (/^[0-9.]*$/.test(name)) return tagImplicitly(7, octetsOfIPv4(name));
  if (!/^(\*\.)?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/.test(name)) throw notAName(name);
  return tagImplicitly(2, Buffer.from(name, 'latin1'));
}

function notAName(name: string): RangeError {
  return new RangeError(`${JSON.stringify(name)} is neither a DNS name nor an IP address`);
}

function octetsOfIPv4(address: string): Buffer {
  const octets = address.split('.').map(Number);
  if (!/^[0-9]+(\.[0-9]+){3}$/.test(address) || octets.some((octet) => octet > 255)) throw notAName(address);
  return Buffer.from(octets);
}

function octetsOfIPv6(address: string): Buffer {
  if (!URL.canParse(`http://[${address}]`)) throw notAName(address);
  // The URL parser normalizes an address to hexadecimal groups, with one run of zeros omitted.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const zeros = Array<string>(8 - groups(head).length - groups(tail ?? '').length).fill('0');
  const whole = [...groups(head), ...zeros, ...groups(tail ?? '')];
  return Buffer.from(whole.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
