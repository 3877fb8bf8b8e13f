/** Encoders of the Distinguished Encoding Rules (X.690), as far as certificates need them. Each returns one element. */

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
export function encodeSet(only: Uint8Array): Buffer {
  return element(tags.set, only);
}

/** Tags an element with `[number]` EXPLICIT. */
export function tagExplicitly(number: number, inner: Uint8Array): Buffer {
  return element(0xa0 + number, inner);
}

/** Encodes a primitive element with the tag `[number]` IMPLICIT. */
export function tagImplicitly(number: number, content: Uint8Array): Buffer {
  return element(0x80 + number, content);
}

/** Encodes BOOLEAN TRUE (X.690 §11.1). FALSE is always a default in certificates, and defaults are omitted (§11.5). */
export function booleanTrue(): Buffer {
  return element(tags.boolean, Buffer.of(0xff));
}

/** Encodes an unsigned INTEGER, given in big-endian octets, in as few octets as possible (X.690 §8.3.2). */
export function integer(octets: Uint8Array): Buffer {
  let from = 0;
  while (from < octets.length - 1 && octets[from] === 0) from += 1;
  const shortest = octets.subarray(from);
  // The first bit is the sign.
  const positive = (shortest[0] ?? 0x80) < 0x80 ? shortest : Buffer.concat([Buffer.of(0), shortest]);
  return element(tags.integer, positive);
}

/** Encodes a BIT STRING of octets, of which the last `unused` bits are unused and 0 (X.690 §8.6, §11.2). */
export function bitString(octets: Uint8Array, unused = 0): Buffer {
  return element(tags.bitString, Buffer.of(unused), octets);
}

/** Encodes an OCTET STRING. */
export function octetString(octets: Uint8Array): Buffer {
  return element(tags.octetString, octets);
}

/** Encodes an OBJECT IDENTIFIER in dotted notation: `2.5.4.3`. */
export function objectIdentifier(dotted: string): Buffer {
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
export function encodeUtf8String(text: string): Buffer {
  return element(tags.utf8String, Buffer.from(text, 'utf8'));
}

/**
 * Encodes a time (milliseconds since 1970-01-01T00:00:00Z), rounded down to a second: as UTCTime through the year 2049, as
 * GeneralizedTime from 2050 on (RFC 5280 §4.1.2.5). Throws RangeError for a year outside 1950 to 9999.
 */
export function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().replace(/\.[0-9]+/, '');
  const digits = text.replace(/[-:T]/g, '');
  if (!/^(19[5-9]|[2-9][0-9]{2})/.test(digits))
    throw new RangeError(`${text} is outside the years 1950 to 9999 of a certificate`);
  const short = digits < '2050';
  return element(short ? tags.utcTime : tags.generalizedTime, Buffer.from(short ? digits.slice(2) : digits));
}
