// Mistakes in signatures of draft-cavage-http-signatures: in their parameters, and in the lines that are signed.
import { bytesOf } from '../http/syntax/octets.ts';
import { tokenEnd } from '../http/syntax/token.ts';
import { octetsOfPiece } from '../signature/message.ts';
import type { SchemeRequest } from './defined/definition.ts';
import { permutations } from './explain/permutations.ts';
import type { MessageMistake } from './scheme.ts';

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

/** A line of the signing string (§2.3). */
interface SignedLine {
  readonly name: string;
  readonly value: string;
}

/** The largest number of lines of which all orders are tried. */
const maxOrdered = 5;

/** Fields that clients sign without naming them in the parameter `headers`. */
const furtherFields = ['content-type', 'content-length', 'digest', 'date', 'user-agent', 'accept'];

/** Yields the signing strings that clients build by mistake: lines in another order or form, and further lines. */
export function* signingStringMistakes(
  lines: readonly SignedLine[],
  { headers }: SchemeRequest,
): Generator<MessageMistake> {
  const build = (hint: string, text: string): MessageMistake => ({
    hint,
    message: bytesOf(text),
  });
  const join = (some: readonly SignedLine[], separator = '\n', between = ': '): string =>
    some.map(({ name, value }) => `${name}${between}${value}`).join(separator);
  yield build('there was no space after the colon of each line', join(lines, '\n', ':'));
  yield build(
    'the values were signed without the names of the fields',
    lines.map(({ value }) => value).join('\n'),
  );
  const capitals = (name: string): string =>
    name.startsWith('(') ? name : name.replace(/(?<![^-])[a-z]/g, (letter) => letter.toUpperCase());
  yield build(
    'the names of the fields were signed in upper case; lower case is expected',
    join(lines.map(({ name, value }) => ({ name: capitals(name), value }))),
  );
  for (const separator of [' ', ', ', ',', ''])
    yield build(
      `the lines were joined with ${JSON.stringify(separator)}; a line feed is expected`,
      join(lines, separator),
    );
  const orders =
    lines.length <= maxOrdered ? permutations(lines) : [lines.toReversed(), lines.toSorted(byName)];
  for (const order of orders) {
    const names = order.map(({ name }) => name).join(' ');
    yield build(`the fields were signed in another order than in headers: ${names}`, join(order));
  }
  for (const name of furtherFields) {
    const value = headers.get(name);
    if (value === undefined || lines.some((line) => line.name === name)) continue;
    const further = `${name} was signed, but the parameter headers does not name it`;
    for (let at = lines.length; at >= 0; at -= 1)
      yield build(further, join(lines.toSpliced(at, 0, { name, value })));
  }
  for (const [at, { name }] of lines.entries())
    yield build(
      `${name} was left out of the message, but the parameter headers names it`,
      join(lines.toSpliced(at, 1)),
    );
}

function byName(one: SignedLine, other: SignedLine): number {
  return one.name < other.name ? -1 : 1;
}

/** Returns the lines that parts make: a text that ends with `NAME: `, then its value. */
export function readLines(
  parts: readonly (readonly [name: string, value: string | Uint8Array, ...unknown[]])[],
): SignedLine[] {
  const lines: { name: string; value: string }[] = [];
  for (const [name, value] of parts) {
    const text = octetsOfPiece(value);
    const start = name === '' ? /^\n?(.*): $/s.exec(text)?.[1] : undefined;
    const last = lines.at(-1);
    if (start !== undefined) lines.push({ name: start, value: '' });
    else if (last !== undefined) last.value += text;
  }
  return lines;
}
