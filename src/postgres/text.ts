import { createHash } from 'node:crypto';

/*
 * PostgreSQL's text contains neither U+0000 nor lone surrogates. JSON escapes both (ECMA-262 §25.5.2.3), so texts are stored as
 * the content of a JSON string. For most texts, that is the text itself.
 */

/** Encodes a text as the content of a JSON string. */
export function escapeText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Decodes the content of a JSON string. */
export function unescapeText(escaped: string): string {
  return escaped.includes('\\') ? JSON.parse(`"${escaped}"`) : escaped;
}

/** Returns the SHA-256 digest of some texts, in base64. Different texts have different encodings. */
export function computeDigest(...texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('base64');
}
