import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

/** What an HMAC signature covers. The full form has date and nonce, the simple form neither. */
export interface Signed {
  readonly method: string;
  /** The request target as sent, path and query, byte for byte. */
  readonly target: string;
  /** The value of Date, or of X-Date, as sent. */
  readonly date?: string | undefined;
  readonly nonce?: string | undefined;
  /** The value of Content-Digest, or else of Content-MD5, as sent. */
  readonly contentDigest?: string | undefined;
}

/** What stands behind `hmac` in the credentials. */
export interface HmacCredentials {
  readonly user: string;
  /** Undefined in the simple form. */
  readonly nonce: string | undefined;
  /** 44 characters: the canonical base64 of 32 bytes. */
  readonly digest: string;
}

/** The base string: method, target, date without its spaces, nonce and content digest, joined by `+`. */
export function messageOf(signed: Signed): string {
  let message = `${signed.method}+${signed.target}`;
  if (signed.date !== undefined && signed.nonce !== undefined) {
    message += `+${signed.date.replaceAll(' ', '')}+${signed.nonce}`;
  }
  if (signed.contentDigest !== undefined) message += `+${signed.contentDigest}`;
  return message;
}

/** A secret as a key: its UTF-8 bytes. Throws RangeError on an empty one. */
export function keyOf(secret: string): KeyObject {
  if (secret === '') throw new RangeError('a secret must not be empty');
  return createSecretKey(Buffer.from(secret, 'utf8'));
}

/** The signature: HMAC-SHA256 (RFC 2104) over the message, each character one octet, as base64. */
export function digestOf(key: KeyObject, message: string): string {
  return createHmac('sha256', key).update(message, 'latin1').digest('base64');
}

/** Compares two digests of 44 characters in a time that does not depend on where they differ. */
export function sameDigest(one: string, other: string): boolean {
  const a = Buffer.from(one, 'latin1');
  const b = Buffer.from(other, 'latin1');
  return a.length === b.length && timingSafeEqual(a, b);
}

const nonceForm = /^[A-Za-z0-9._~-]{1,128}$/;

/** Whether this can be a nonce: it has no `+`, so that it cannot reach into its neighbours in the message. */
export function isNonce(text: string): boolean {
  return nonceForm.test(text);
}

// Canonical only: the last character before the padding carries four bits, so two of its six are zero.
const digestForm = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

/** Whether this is the canonical base64 of 32 bytes. */
export function isDigest(text: string): boolean {
  return digestForm.test(text);
}

/**
 * Reads `USER:DIGEST` or `USER:NONCE:DIGEST`, each character one octet of the field as sent. Gives the fault as
 * a sentence when it is neither; nothing of what was sent is in it.
 */
export function parseHmacCredentials(text: string): HmacCredentials | string {
  const parts = text.split(':', 4);
  const [first = '', second = '', third] = parts;
  if (parts.length < 2 || parts.length > 3) return 'USER:DIGEST or USER:NONCE:DIGEST is expected';
  const digest = third ?? second;
  if (!isDigest(digest))
    return 'the digest is not the canonical base64 of 32 bytes (44 characters, the last one "=")';
  if (third !== undefined && !isNonce(second)) {
    return 'the nonce is not 1 to 128 characters out of A-Z a-z 0-9 . _ ~ -';
  }
  const user = decodeUser(first);
  if (user === undefined) return 'the user is not 1 to 128 bytes of UTF-8 without control characters';
  return { user, nonce: third === undefined ? undefined : second, digest };
}

function decodeUser(octets: string): string | undefined {
  if (octets.length === 0 || octets.length > 128 || /[\x00-\x1f\x7f]/.test(octets)) return undefined;
  if (/^[\x20-\x7e]*$/.test(octets)) return octets;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(octets, 'latin1'));
  } catch {
    return undefined;
  }
}

/** Writes the credentials' value, each octet one character. */
export function formatHmacCredentials({ user, nonce, digest }: HmacCredentials): string {
  const octets = Buffer.from(user, 'utf8').toString('latin1');
  return nonce === undefined ? `${octets}:${digest}` : `${octets}:${nonce}:${digest}`;
}

// `+`, a date without spaces in either form, `+`, a nonce, and then the end or one more part.
const fullFormEnding =
  /\+(?:[A-Za-z]{3},)?[0-9]{1,2}[A-Za-z]{3}[0-9]{4}[0-9]{2}:[0-9]{2}:[0-9]{2}(?:GMT)?\+[A-Za-z0-9._~-]{1,128}(?:\+|$)/;

/**
 * Whether a target could be mistaken for a shorter target with a date and a nonce: a full signature for `/a` is
 * the simple one for `/a+DATE+NONCE`, so the simple form must not sign such a target.
 */
export function endsLikeFullForm(target: string): boolean {
  return target.includes('+') && fullFormEnding.test(target);
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] as const;

/** Writes a time (ms since 1970-01-01T00:00:00Z) as signatures date it: `20 apr 2013 12:59:24`, in UTC. */
export function formatSignedDate(ms: number): string {
  const time = new Date(ms);
  const two = (number: number): string => String(number).padStart(2, '0');
  const day = `${two(time.getUTCDate())} ${months[time.getUTCMonth()]} ${time.getUTCFullYear()}`;
  return `${day} ${two(time.getUTCHours())}:${two(time.getUTCMinutes())}:${two(time.getUTCSeconds())}`;
}
