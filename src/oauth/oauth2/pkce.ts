import { matchesSha256 } from '../sha256.ts';

/** Whether this can be a challenge of the method S256: the SHA-256 of a verifier in base64url (RFC 7636 §4.2). */
export function isChallenge(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

/** Whether this is a verifier (RFC 7636 §4.1), and the one that the challenge was made of. */
export function verifies(verifier: string, challenge: string): boolean {
  return /^[A-Za-z0-9._~-]{43,128}$/.test(verifier) && matchesSha256(verifier, challenge);
}
