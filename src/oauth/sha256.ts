import { hash, timingSafeEqual } from 'node:crypto';

/** Returns the SHA-256 of a text (in UTF-8) in base64url: 43 characters. */
export function hashSha256(text: string): string {
  return hash('sha256', text, 'base64url');
}

/** Mistakes of clients that compute the SHA-256 of a text in base64url. */
const mistakes: readonly (readonly [mistake: string, write: (text: string) => string])[] = [
  ['it is the text itself, which was not hashed (method plain)', (text) => text],
  ['it was hashed as hexadecimal', (text) => hash('sha256', text, 'hex')],
  [
    'it was hashed as hexadecimal, which was encoded in base64url',
    (text) => Buffer.from(hash('sha256', text, 'hex')).toString('base64url'),
  ],
  ['the hexadecimal hash was hashed again', (text) => hashSha256(hash('sha256', text, 'hex'))],
  ['it is in base64; base64url without padding is required', (text) => hash('sha256', text, 'base64')],
  ['it was hashed twice', (text) => hashSha256(hashSha256(text))],
  ['it was hashed with a line feed', (text) => hashSha256(`${text}\n`)],
  [
    'it was decoded from base64url before it was hashed',
    (text) => hash('sha256', Buffer.from(text, 'base64url'), 'base64url'),
  ],
  [
    'it was decoded from hexadecimal before it was hashed',
    (text) => hash('sha256', Buffer.from(text, 'hex'), 'base64url'),
  ],
  ...['sha1', 'sha384', 'sha512', 'md5'].map(
    (name) => [`it was hashed with ${name}`, (text: string) => hash(name, text, 'base64url')] as const,
  ),
];

/** Returns how a wrong digest was computed, after a colon; empty if that is not recognized. */
export function describeDigest(sent: string, text: string): string {
  const padded = sent.replace(/={1,2}$/, '');
  const found = mistakes.find(([, write]) => [sent, padded].includes(write(text)));
  if (found !== undefined) return `: ${found[0]}`;
  return sent !== padded && padded === hashSha256(text) ? ': it has padding' : '';
}

/** Returns whether a digest is that of a text. Compares in constant time. */
export function matchesSha256(text: string, digest: string): boolean {
  const actual = Buffer.from(hashSha256(text));
  const expected = Buffer.from(digest);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
