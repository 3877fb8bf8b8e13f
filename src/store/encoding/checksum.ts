const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Formats a CRC-32 as the files of a store contain it: eight lower-case hexadecimal digits. */
export function formatChecksum(checksum: number): string {
  // toString(16) takes five times as long for a number above 2^31.
  return hex(checksum >>> 24) + hex(checksum >>> 16) + hex(checksum >>> 8) + hex(checksum);
}

/** Formats the lowest byte of a number. */
function hex(number: number): string {
  return hexOfByte[number & 0xff] ?? '';
}
