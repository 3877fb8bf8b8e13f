/** Formats a CRC-32 as the files of a store contain it: eight lower-case hexadecimal digits. */
export function formatChecksum(checksum: number): string {
  return checksum.toString(16).padStart(8, '0');
}
