import { isUtf8 } from 'node:buffer';

/** Decodes octets, one character each, as UTF-8. Returns them unchanged if they are not valid UTF-8. */
export function decodeUtf8Octets(octets: string): string {
  const bytes = Buffer.from(octets, 'latin1');
  const isDecoded = bytes.toString('latin1') !== octets;
  return isDecoded || !isUtf8(bytes) ? octets : bytes.toString('utf8');
}
