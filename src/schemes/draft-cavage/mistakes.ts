// Mistakes in signatures of draft-cavage-http-signatures: in their parameters, and in the lines that are signed.
import type { HttpHeaders } from '../../http/fields.ts';
import { bytesOf } from '../../http/syntax/octets.ts';
import { tokenEnd } from '../../http/syntax/token.ts';
import type { SchemeRequest } from '../defined/definition.ts';
import { type Line, lineMistakes } from '../explain/lines.ts';
import { octetsOfPiece, type Part } from '../message.ts';
import type { MessageMistake } from '../scheme.ts';

/** The names of the parameters (§2.1), which are compared as written. */
const parameterNames = ['keyId', 'algorithm', 'headers', 'signature', 'created', 'expires'];

/** Returns the likely cause of a text that is no list of parameters. */
export function describeMalformedParameters(text: string): string | undefined {
  if (/^signature\s/i.test(text))
    return 'the value begins with "Signature ", which it does in Authorization only';
  const value = text.slice(tokenEnd(text, 0));
  if (value.startsWith("='")) return 'the values are in single quotes; double quotes are expected';
  if (value.startsWith(':')) return 'a colon stands between name and value; "=" is expected';
  if (/^=[^"]/.test(value)) return 'the values are without quotes; keyId="…" is expected';
  if (/";/.test(text)) return 'the parameters are separated by ";"; "," is expected';
  if (/"\s+[A-Za-z]+="/.test(text)) return 'the parameters are separated by spaces; "," is expected';
  if (text.startsWith('{')) return 'it is JSON; keyId="…",headers="…",signature="…" is expected';
  return text === '' ? 'it is empty' : undefined;
}

/** Returns the likely cause of a field that a signature covers, and that was not sent. */
export function describeMissingField(name: string, sent: SchemeRequest['headers']): string | undefined {
  if (name === 'digest' && sent.has('Content-Digest'))
    return 'Content-Digest was sent; Digest is expected, or "content-digest" in the parameter headers';
  return name === 'date' && sent.has('X-Date') ? 'X-Date was sent; cover "x-date", or send Date' : undefined;
}

/** Returns the likely cause of a value of Digest (RFC 3230 §4.3.2) that is not the digest of the content. */
export function describeDigestForm(value: string): string | undefined {
  if (/^:.*:$/.test(value))
    return 'the base64 is between colons, as in Content-Digest (RFC 9530); Digest has none';
  return /^".*"$/.test(value) ? 'the base64 is in quotes; Digest has none' : undefined;
}

/** Returns the parameter that was sent in place of a missing one. */
export function describeMisnamedParameter(missing: string, sent: Iterable<string>): string | undefined {
  const normalize = (name: string): string => name.toLowerCase().replace(/[-_]/g, '');
  for (const name of sent)
    if (!parameterNames.includes(name) && normalize(name) === normalize(missing))
      return `the parameter ${name} was sent; ${missing} is expected`;
  return undefined;
}

/** Returns the likely cause of a parameter `headers` (§2.1.6) that names no fields. */
export function describeCoveredNames(names: readonly string[]): string | undefined {
  if (names.some((name) => name.includes(',')))
    return 'the names in headers are separated by a comma; a space is expected';
  if (names.some((name) => name !== name.toLowerCase()))
    return 'the names in headers are in upper case; lower case is expected';
  return undefined;
}

/** Yields the signing strings (§2.3) that clients build by mistake. */
export function signingStringMistakes(parts: readonly Part[], fields: HttpHeaders): Iterable<MessageMistake> {
  return lineMistakes(readLines(parts), {
    item: 'field',
    list: 'the parameter headers',
    colon: ': ',
    fields,
    lineOf: (name) => ({ name, value: joinLines(fields.getAll(name)) }),
    build: (text) => [{ message: bytesOf(text) }],
  });
}

/** Returns the value of a field in the signing string: that of its lines, joined. */
export function joinLines(lines: readonly string[]): string {
  return lines.map((line) => line.trim()).join(', ');
}

/** Returns the lines that parts make: a text that ends with `NAME: `, then its value. */
function readLines(parts: readonly Part[]): Line[] {
  const lines: { name: string; value: string }[] = [];
  for (const { name, value } of parts) {
    const text = octetsOfPiece(value);
    const start = name === '' ? /^\n?(.*): $/s.exec(text)?.[1] : undefined;
    const last = lines.at(-1);
    if (start !== undefined) lines.push({ name: start, value: '' });
    else if (last !== undefined) last.value += text;
  }
  return lines;
}
