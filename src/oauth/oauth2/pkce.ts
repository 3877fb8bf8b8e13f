import { matchesSha256 } from '../sha256.ts';

/** Returns whether a text has the form of a challenge of the method S256: a SHA-256 in base64url (RFC 7636 §4.2). */
export function isChallenge(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

/** Returns whether a text is a verifier (RFC 7636 §4.1) that matches the challenge. */
export function verifies(verifier: string, challenge: string): boolean {
  return /^[A-Za-z0-9._~-]{43,128}$/.test(verifier) && matchesSha256(verifier, challenge);
}
