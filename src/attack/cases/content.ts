/** Returns content as bytes. */
export function contentBytes(body: string | Uint8Array): Buffer {
  return typeof body === 'string' ? Buffer.from(body, 'utf8') : Buffer.from(body);
}

/** Changes the last digit, or else the first byte, so that the content keeps its length and probably its validity. */
export function alterContent(body: string | Uint8Array): Uint8Array {
  const bytes = contentBytes(body);
  const position = Math.max(lastDigitIn(bytes), 0);
  bytes[position] = (bytes[position] ?? 0) ^ 1;
  return bytes;
}

/**
 * Returns up to nine variants of the content that differ from it and from each other in their last digit. Returns none if the
 * content has no digit.
 */
export function contentVariants(body: string | Uint8Array, count: number): Uint8Array[] {
  const original = contentBytes(body);
  const position = lastDigitIn(original);
  if (position < 0) return [];
  const digits = [...'0123456789'].map((digit) => digit.charCodeAt(0));
  return digits
    .filter((digit) => digit !== original[position])
    .slice(0, count)
    .map((digit) => {
      const bytes = Buffer.from(original);
      bytes[position] = digit;
      return bytes;
    });
}

function lastDigitIn(bytes: Uint8Array): number {
  return bytes.findLastIndex((byte) => byte >= 0x30 && byte <= 0x39);
}
