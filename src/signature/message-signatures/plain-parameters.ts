// Reads the parameters of most signatures in a fraction of the time of a parser for all structured fields.
import type { SignatureParameters } from './signature-fields.ts';

const quoteMark = 0x22;
const zero = 0x30;
const semicolon = 0x3b;

/** Printable ASCII without backslashes, so that a string has no escapes. */
const plain = /^[ -[\]-~]*$/;

/**
 * Reads signature parameters in their plain form: serialized strictly, without escapes, each once, and no others than those of RFC
 * 9421 §2.3. Returns undefined for all other texts, valid or not.
 */
export function readPlainParameters(text: string): SignatureParameters | undefined {
  if (!plain.test(text)) return undefined;
  const read: { -readonly [Name in keyof SignatureParameters]: SignatureParameters[Name] } = {
    created: undefined,
    expires: undefined,
    nonce: undefined,
    alg: undefined,
    keyid: undefined,
    tag: undefined,
  };
  let at = 0;
  while (at < text.length) {
    const equals = text.indexOf('=', at);
    const name = nameAt(text, at, equals);
    if (name === undefined || read[name] !== undefined) return undefined;
    if (name === 'created' || name === 'expires') {
      at = integerEnd(text, equals + 1);
      read[name] = Number(text.slice(equals + 1, at));
    } else {
      at = stringEnd(text, equals + 1);
      read[name] = text.slice(equals + 2, at - 1);
    }
    if (at < 0) return undefined;
  }
  const { created = 0, expires = created } = read;
  return expires < created ? undefined : read;
}

const names = ['created', 'nonce', 'keyid', 'expires', 'tag', 'alg'] as const;

/** Returns the name between the semicolon at `at` and the equals sign; undefined if it is another one. */
function nameAt(text: string, at: number, equals: number): (typeof names)[number] | undefined {
  if (text.charCodeAt(at) !== semicolon) return undefined;
  for (const name of names) if (equals - at - 1 === name.length && text.startsWith(name, at + 1)) return name;
  return undefined;
}

/** Returns the end of an integer without a sign and leading zeros, of at most 15 digits; -1 if there is none. */
function integerEnd(text: string, start: number): number {
  let end = start;
  while (isDigit(text.charCodeAt(end))) end += 1;
  const isCanonical = text.charCodeAt(start) !== zero || end === start + 1;
  return end > start && end <= start + 15 && isCanonical ? end : -1;
}

function isDigit(code: number): boolean {
  return code >= zero && code <= 0x39;
}

function stringEnd(text: string, start: number): number {
  return text.charCodeAt(start) === quoteMark ? text.indexOf('"', start + 1) + 1 || -1 : -1;
}
