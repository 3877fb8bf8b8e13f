import zlib from 'node:zlib';

/** The polynomial of ISO/IEC 3309 and RFC 1952 §8, with its bits reversed. */
const polynomial = 0xedb88320;

/** A checksum of bytes, or of a text as UTF-8, from 0 to 2^32 - 1; `before` is that of what comes before them. */
export type Crc32 = (data: Uint8Array | string, before?: number) => number;

/** CRC-32 (RFC 1952 §8), by Node.js where it has it: from 20.15 and 22.2 on. */
export const crc32: Crc32 = typeof zlib.crc32 === 'function' ? zlib.crc32 : createCrc32();

/** CRC-32 by a table of its own. */
export function createCrc32(): Crc32 {
  const table = Uint32Array.from({ length: 256 }, (_, byte) => remainderOf(byte));
  return (data, before = 0) => {
    let rest = ~before;
    for (const byte of typeof data === 'string' ? Buffer.from(data) : data) {
      rest = (table[(rest ^ byte) & 255] ?? 0) ^ (rest >>> 8);
    }
    return ~rest >>> 0;
  };
}

function remainderOf(byte: number): number {
  let rest = byte;
  for (let bit = 0; bit < 8; bit += 1) rest = (rest & 1) === 1 ? (rest >>> 1) ^ polynomial : rest >>> 1;
  return rest;
}
