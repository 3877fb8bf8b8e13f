import { createClasses, digits, isOf, letters, runEnd } from '../../http/syntax/character-class.ts';
import { decodeName, toOctets } from '../../http/syntax/octets.ts';
import { maxNonceLength, octetsOfPiece, type Part } from '../message.ts';
import { describeMalformed, digestForm } from '../signature-form.ts';

export { createKey, digestOnce, type SigningKey } from '../../hmac-sha256.ts';

/** The request data that an HMAC signature covers. The full form has date and nonce, the simple form neither. */
interface Signed {
  readonly method: string;
  /** The request target as sent, path and query, byte for byte. */
  readonly target: string;
  /** The value of Date, or of X-Date, as sent, or without its spaces. */
  readonly date?: string | undefined;
  readonly nonce?: string | undefined;
  /** The value of Content-Digest, or else of Content-MD5, as sent. */
  readonly contentDigest?: string | undefined;
}

/** The credentials after the scheme `hmac`. */
interface HmacCredentials {
  readonly user: string;
  /** Undefined in the simple form. */
  readonly nonce: string | undefined;
  /** 44 characters: the canonical base64 of 32 bytes. */
  readonly digest: string;
}

const plus: Part = { kind: 'text', name: '', value: '+' };

/** Returns the parts of the message to sign: method, target, date without its spaces, nonce and content digest, joined by `+`. */
export function messageParts({ method, target, date, nonce, contentDigest }: Signed): Part[] {
  const parts: Part[] = [
    { kind: 'method', name: 'method', value: method },
    plus,
    { kind: 'target', name: 'target', value: target },
  ];
  if (date !== undefined && nonce !== undefined)
    parts.push(plus, { kind: 'time', name: 'date', value: removeSpaces(date) }, plus, {
      kind: 'nonce',
      name: 'nonce',
      value: nonce,
    });
  if (contentDigest !== undefined)
    parts.push(plus, { kind: 'digest', name: 'content digest', value: contentDigest });
  return parts;
}

/** Returns the message that parts make. */
export function messageText(parts: readonly Part[]): string {
  return parts.map(({ value }) => octetsOfPiece(value)).join('');
}

/** Returns a date as the message contains it. */
export function removeSpaces(date: string): string {
  let text = '';
  let from = 0;
  for (let at = date.indexOf(' '); at >= 0; at = date.indexOf(' ', from)) {
    text += date.slice(from, at);
    from = at + 1;
  }
  return text + date.slice(from);
}

const base64 = 1;
/** The last character before the padding of 32 bytes: it has four bits of data, so two of its six are zero. */
const base64End = 2;
const nonceCharacter = 4;

const classes = createClasses(
  [letters + digits, base64 | nonceCharacter],
  ['+/', base64],
  ['AEIMQUYcgkosw048', base64End],
  ['._~-', nonceCharacter],
);

/** Returns whether a text is a valid nonce. It has no `+`, so that it cannot be confused with other parts of the message. */
export function isNonce(text: string): boolean {
  return isNonceIn(text, 0, text.length);
}

function isNonceIn(text: string, from: number, to: number): boolean {
  return to > from && to - from <= maxNonceLength && runEnd(classes, nonceCharacter, text, from, to) === to;
}

/** The length of a digest in base64. */
const digestLength = 44;

/**
 * Parses `USER:DIGEST` or `USER:NONCE:DIGEST`; each character is one octet of the field as sent. If it is malformed, returns an
 * error message, which contains nothing of what was sent. The characters of the digest are not checked: one that equals the expected
 * digest is well-formed; for any other, call `faultOfDigest`.
 */
export function splitHmacCredentials(text: string): HmacCredentials | string {
  const first = text.indexOf(':');
  const second = first < 0 ? -1 : text.indexOf(':', first + 1);
  if (first < 0 || (second >= 0 && text.includes(':', second + 1))) {
    return 'USER:DIGEST or USER:NONCE:DIGEST is expected';
  }
  const digest = text.slice((second < 0 ? first : second) + 1);
  if (digest.length !== digestLength) return digestFault(digest);
  if (second >= 0 && !isNonceIn(text, first + 1, second)) {
    return 'the nonce is not 1 to 128 characters out of A-Z a-z 0-9 . _ ~ -';
  }
  const user = decodeName(text.slice(0, first));
  if (user === undefined) return 'the user is not 1 to 128 bytes of UTF-8 without control characters';
  return { user, nonce: second < 0 ? undefined : text.slice(first + 1, second), digest };
}

/** Returns an error message if a digest is not the canonical base64 (RFC 4648 §3.5) of 32 bytes; otherwise undefined. */
export function faultOfDigest(digest: string): string | undefined {
  const canonical =
    digest.length === digestLength &&
    digest.charCodeAt(digestLength - 1) === 0x3d &&
    runEnd(classes, base64, digest, 0, digestLength - 2) === digestLength - 2 &&
    isOf(classes, digest.charCodeAt(digestLength - 2), base64End);
  return canonical ? undefined : digestFault(digest);
}

/** Returns the error message for a malformed digest, with a likely cause if its form suggests one. Needs no secret. */
function digestFault(text: string): string {
  const cause = describeMalformed(text, digestForm('sha256', 'base64'));
  const fault = 'the digest is not the canonical base64 of 32 bytes (44 characters, the last one "=")';
  return cause === undefined ? fault : `${fault}: ${cause}`;
}

/** Serializes the credentials after the scheme; each character is one octet. */
export function formatHmacCredentials({ user, nonce, digest }: HmacCredentials): string {
  const octets = toOctets(user);
  return nonce === undefined ? `${octets}:${digest}` : `${octets}:${nonce}:${digest}`;
}

// `+`, a date without spaces in either form, `+`, a nonce, and then the end or another part.
const fullFormEnding =
  /\+(?:[A-Za-z]{3},)?[0-9]{1,2}[A-Za-z]{3}[0-9]{4}[0-9]{2}:[0-9]{2}:[0-9]{2}(?:GMT)?\+[A-Za-z0-9._~-]{1,128}(?:\+|$)/;

// `+` and a member of Content-Digest, or the value of Content-MD5 at the end.
const digestEnding = /\+(?:[a-z*][a-z0-9_.*-]*=:[A-Za-z0-9+/]*={0,2}:|[A-Za-z0-9+/]{22}==$)/;

/**
 * Returns whether a target could be read as a shorter target followed by a date and a nonce. The full signature for `/a` is also
 * the simple one for `/a+DATE+NONCE`, so the simple form must not sign such a target. The same applies to a target that ends
 * like a content digest: the simple signature for `/a` with content is also one for `/a+DIGEST` with any content.
 */
export function endsLikeFullForm(target: string): boolean {
  return target.includes('+') && (fullFormEnding.test(target) || digestEnding.test(target));
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] as const;

/** Formats a time (ms since 1970-01-01T00:00:00Z) for a signed request, in UTC: `20 apr 2013 12:59:24`. */
export function formatSignedDate(ms: number): string {
  const time = new Date(ms);
  const two = (number: number): string => String(number).padStart(2, '0');
  const day = `${two(time.getUTCDate())} ${months[time.getUTCMonth()]} ${time.getUTCFullYear()}`;
  return `${day} ${two(time.getUTCHours())}:${two(time.getUTCMinutes())}:${two(time.getUTCSeconds())}`;
}
