/** The number of bytes that are required to detect the encoding. */
export const SIGNATURE_BYTES = 4;

/** The length of the UTF-8 byte order mark. */
export const MARK_BYTES = 3;

/** Returns whether the bytes begin with the UTF-8 byte order mark. */
export function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

// XML 1.0 Appendix F.1: the first bytes of a document with and without a byte order mark. Longer signatures
// come first.
const SIGNATURES: readonly (readonly [encoding: string, bytes: readonly number[]])[] = [
  ['UTF-32BE', [0x00, 0x00, 0xfe, 0xff]],
  ['UTF-32LE', [0xff, 0xfe, 0x00, 0x00]],
  ['UTF-32BE', [0x00, 0x00, 0x00, 0x3c]],
  ['UTF-32LE', [0x3c, 0x00, 0x00, 0x00]],
  ['EBCDIC', [0x4c, 0x6f, 0xa7, 0x94]],
  ['UTF-16BE', [0xfe, 0xff]],
  ['UTF-16LE', [0xff, 0xfe]],
  ['UTF-16BE', [0x00, 0x3c]],
  ['UTF-16LE', [0x3c, 0x00]],
];

/** Returns the encoding that the first bytes indicate; undefined for UTF-8 and other supersets of ASCII. */
export function detectEncoding(bytes: Uint8Array): string | undefined {
  const signature = SIGNATURES.find(([, first]) => first.every((byte, index) => bytes[index] === byte));
  return signature?.[0];
}
