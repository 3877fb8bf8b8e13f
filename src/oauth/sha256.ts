import { hash, timingSafeEqual } from 'node:crypto';

/** Returns the SHA-256 of a text (in UTF-8) in base64url: 43 characters. */
export function hashSha256(text: string): string {
  return hash('sha256', text, 'base64url');
}

/** Returns whether a digest is that of a text. Compares in constant time. */
export function matchesSha256(text: string, digest: string): boolean {
  const actual = Buffer.from(hashSha256(text));
  const expected = Buffer.from(digest);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
