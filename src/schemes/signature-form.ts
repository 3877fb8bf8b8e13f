// The forms of a signature as text, and those in which clients send it by mistake.

import { timingSafeEqual } from 'node:crypto';
import { digestLengths, type HashName, hashNames, type Lengths } from '../algorithms.ts';
import { formatCount } from '../counted.ts';
import { octetsOf } from '../http/syntax/octets.ts';

/** The encodings of a signature. */
export const encodings = ['hex', 'base64', 'base64url'] as const;
export type Encoding = (typeof encodings)[number];

/** What a signature looks like. */
export interface SignatureForm {
  readonly encoding: Encoding;
  readonly lengths: Lengths;
  /** Whether hexadecimal may be in upper case. Default: false. */
  readonly anyCase?: boolean | undefined;
  /** The hash function, if it is a digest or an HMAC. */
  readonly hash?: HashName;
  /** The form of its two numbers, if it is one of ECDSA. */
  readonly dsaEncoding?: 'der' | 'ieee-p1363' | undefined;
}

/** Returns the form of digests and of HMACs with a hash function. */
export function digestForm(hash: HashName, encoding: Encoding, anyCase?: boolean): SignatureForm {
  return { encoding, hash, anyCase, lengths: [digestLengths[hash], digestLengths[hash]] };
}

/**
 * Returns a signature in canonical base64 (RFC 4648 §3.5); undefined if it does not have the form. Hexadecimal must be in lower case.
 * base64url may be padded.
 */
export function decodeSignature(
  text: string,
  { encoding, lengths: [min, max], anyCase = false }: SignatureForm,
): string | undefined {
  if (text.length > 2 * max) return undefined;
  const bytes = Buffer.from(text, encoding);
  if (bytes.length < min || bytes.length > max) return undefined;
  const canonical = bytes.toString('base64');
  if (encoding === 'base64') return text === canonical ? text : undefined;
  const written = bytes.toString(encoding);
  if (encoding === 'hex') return (anyCase ? text.toLowerCase() : text) === written ? canonical : undefined;
  const padding = canonical.slice(written.length);
  return text === written || text === written + padding ? canonical : undefined;
}

/** Returns whether two signatures as text are equal. The time does not depend on where they differ. */
export function isSameSignature(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected, 'utf8'), Buffer.from(given, 'utf8')];
  const alike = one.length === other.length;
  return timingSafeEqual(one, alike ? other : one) && alike;
}

/** Returns why a digest or an HMAC is malformed, with a likely cause if its form suggests one. Needs no secret. */
export function signatureFault(text: string, form: SignatureForm): string {
  const fault = `the signature is not the ${encodingNames[form.encoding]} of ${form.lengths[0]} bytes`;
  const cause = text.length > 256 ? 'it is too long' : describeMalformed(text, form);
  return cause === undefined ? fault : `${fault}: ${cause}`;
}

const encodingNames: Readonly<Record<Encoding, string>> = {
  hex: 'hexadecimal, in lower case,',
  base64: 'canonical base64',
  base64url: 'base64url',
};

/** Returns the likely cause of a signature that does not have the form; undefined if it suggests none. */
export function describeMalformed(text: string, form: SignatureForm): string | undefined {
  const known = describeForm(text);
  if (known !== undefined) return known;
  if (/^[A-Za-z0-9-]+[=,:](?=..)/.test(text) && !/^[A-Za-z0-9]+={1,2}$/.test(text))
    return 'it has a prefix that is not expected here';
  const { encoding } = form;
  const padded = `${text}${'='.repeat((4 - (text.length % 4)) % 4)}`;
  // Before base64url, which such a text is, too.
  if (encoding === 'base64' && decodeSignature(padded, form) !== undefined)
    return 'the padding "=" is missing';
  for (const each of encodings) {
    const isOther = decodeSignature(text, { ...form, encoding: each, anyCase: true }) !== undefined;
    if (isOther)
      return each === encoding ? 'it is in upper case' : `it is ${each === 'hex' ? 'hexadecimal' : each}`;
    const cause = each === encoding ? describeBytes(text, form) : undefined;
    if (cause !== undefined) return cause;
  }
  if (/^[\w+/=-]+\s[\w+/=\s-]*$/.test(text)) return 'it is wrapped: there is white space in it';
  const { length } = Buffer.from(text, 'base64');
  const isBase64 =
    /^[A-Za-z0-9+/]+={0,2}$/.test(text) && length >= form.lengths[0] && length <= form.lengths[1];
  // Without its padding, or not canonical.
  if (isBase64 && encoding === 'hex') return 'it is base64';
  const isPadded = isBase64 && encoding === 'base64' && text.endsWith('=') && text === padded;
  return isPadded ? 'the bits before the padding are not zero' : undefined;
}

/** Returns what is wrong with the bytes of a signature that is in the right encoding. */
function describeBytes(text: string, form: SignatureForm): string | undefined {
  const { encoding, dsaEncoding, hash } = form;
  const [min, max] = form.lengths;
  const isWritten = encoding === 'hex' ? /^[0-9a-f]+$/i : /^[\w+/-]+={0,2}$/;
  if (!isWritten.test(text)) return undefined;
  const bytes = Buffer.from(text, encoding);
  if (dsaEncoding !== undefined && hasOtherForm(bytes, dsaEncoding))
    return `it has the form ${dsaEncoding === 'der' ? 'ieee-p1363' : 'der'}`;
  const { length } = bytes;
  if (length >= min && length <= max) return undefined;
  if (hash === undefined)
    return `it has ${length} bytes; ${min === max ? min : `${min} to ${max}`} are expected`;
  const other = hashNames.find((each) => digestLengths[each] === length);
  return other === undefined
    ? `it has ${formatCount(length, 'byte')}`
    : `it has the length of ${other}; ${hash} is expected`;
}

/** Returns whether a signature of ECDSA has 64 bytes in place of ASN.1, or is in ASN.1 (RFC 3279 §2.2.3): a sequence of two integers. */
function hasOtherForm(bytes: Buffer, expected: 'der' | 'ieee-p1363'): boolean {
  if (expected === 'der') return bytes.length === 64;
  return bytes[0] === 0x30 && bytes[1] === bytes.length - 2 && bytes[2] === 0x02;
}

/**
 * A key as pages and logs show it: a few characters at its ends, and a mask between them. An ellipsis and bullets are one character, or
 * the octets of UTF-8.
 */
export const maskedText =
  /^([\w:-]{0,32}?)(?:\*{3,}|\.{3,}|\u2026|\u00e2\u0080\u00a6|(?:\u2022|\u00e2\u0080\u00a2){2,}|(?<![a-zA-Z0-9])[xX]{4,})([\w-]{0,16})$/;

/** Forms in which clients send a signature by mistake, whatever the scheme expects. None of them is a signature. */
const forms: readonly (readonly [form: RegExp, cause: string])[] = [
  [
    /^\s*(?:\{\{.*\}\}|\$\{.*\}|<[^>]*>|%[A-Z_]+%|\$[A-Z_]+)\s*$/s,
    'it is a placeholder that was not replaced',
  ],
  [/^(?:undefined|null|none|nil|nan|true|false)$/i, 'it is a word for no value'],
  [/^b'.*'$|^b".*"$/s, "it is the notation of bytes in Python; decode them to text (b'…')"],
  [
    /^(?:\[B@[0-9a-f]+|System\.Byte\[\]|<Buffer.*|\[object .*\])$/s,
    'it is the name of an object instead of its bytes',
  ],
  [/^\{"type":"Buffer"|^\[? *-?\d{1,3}(?:, *-?\d{1,3}){7,} *\]?$/, 'it is a list of bytes'],
  [/^[0-9a-f]{2}(?:[-: ][0-9a-f]{2}){15,}$/i, 'its hexadecimal digits are separated'],
  [
    /^(?:[\w-]+ *)?\(stdin\) *= *|^[0-9a-f]{32,} +\*?-$/i,
    'it is the output of a tool, with more than the signature',
  ],
  [/^0x[0-9a-f]{32,}$/i, 'it begins with 0x'],
  [maskedText, 'it is masked, as a page shows it'],
  [/^$/, 'it is empty'],
  [/^[ \t]/, 'it begins with a space'],
  [/%[0-9A-F]{2}/i, 'it is percent-encoded'],
  [/^".*"$/s, 'it is in quotes'],
  [/(?:\\[nr]|[\r\n])$/, 'it ends with a line feed'],
  [/^[A-Za-z][A-Za-z0-9-]{1,15}[=:](?=[\w+/-]{20})/, 'it has a prefix that is not expected here'],
  [/\ufffd|77\+9|\u00ef\u00bf\u00bd/, 'bytes were turned into text before they were encoded'],
];

/** Returns the likely cause of a malformed signature that no scheme expects; undefined if its form suggests none. */
export function describeForm(text: string): string | undefined {
  if (text.length > 1024) return undefined;
  return forms.find(([form]) => form.test(text))?.[1] ?? describeSecondEncoding(text);
}

/** Returns the likely cause of bytes of any number that are not in canonical base64; undefined if their form suggests none. */
export function describeBase64(text: string): string | undefined {
  return describeMalformed(text, { encoding: 'base64', lengths: [1, 8192] });
}

/** Describes base64 that contains hexadecimal or base64 again; undefined if it is none. */
function describeSecondEncoding(text: string): string | undefined {
  if (!/^[A-Za-z0-9+/_-]{38,}={0,2}$/.test(text)) return undefined;
  const inner = octetsOf(Buffer.from(text, 'base64'));
  if (/^(?:[0-9a-f]{2}){16,64}$/i.test(inner)) return 'it is hexadecimal, encoded in base64 again';
  return /^[A-Za-z0-9+/]{22,86}={1,2}$/.test(inner)
    ? 'it is base64 that was encoded in base64 again'
    : undefined;
}
