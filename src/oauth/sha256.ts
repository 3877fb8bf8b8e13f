import { hash, timingSafeEqual } from 'node:crypto';

/** The SHA-256 of a text (its UTF-8) in base64url: 43 characters. */
export function sha256(text: string): string {
  return hash('sha256', text, 'base64url');
}

/** Whether a digest is that of a text; the time that this takes does not depend on where they differ. */
export function matchesSha256(text: string, digest: string): boolean {
  const actual = Buffer.from(sha256(text));
  const expected = Buffer.from(digest);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
