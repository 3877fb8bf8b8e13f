// Contents that clients sign by mistake instead of the bytes that are sent.
import { isUtf8 } from 'node:buffer';
import { formPairs } from '../../../signature/declared/form.ts';
import type { Piece } from '../../../signature/declared/message.ts';

/** A value that a client may have signed in place of a part, and a hint that describes the mistake. */
export type Variant = readonly [hint: string, value: Piece];

/** Returns the contents that may have been signed, most likely first. */
export function contentVariants(content: Uint8Array): Variant[] {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  if (bytes.length === 0) return withoutContent;
  const text = bytes.toString('utf8');
  return [
    ['the content was signed as empty', ''],
    ...reserialized(text),
    ...lineEndings(bytes.toString('latin1')),
    ['the byte order mark was signed, but not sent', `\u00ef\u00bb\u00bf${bytes.toString('latin1')}`],
    [
      'the byte order mark was sent, but not signed',
      bytes.toString('latin1').replace(/^\u00ef\u00bb\u00bf/, ''),
    ],
    [
      'the content was decoded as Latin-1 and encoded as UTF-8 before it was signed',
      encoded(bytes.toString('latin1')),
    ],
    ['bytes that are not UTF-8 were replaced before the content was signed', encoded(text)],
    ['the content was signed in Latin-1 and sent in UTF-8', text],
    ['the content was signed as a JSON string', encoded(JSON.stringify(text))],
    ['the content was encoded in base64 before it was signed', bytes.toString('base64')],
    ['the content was encoded in hexadecimal before it was signed', bytes.toString('hex')],
    ['an object was signed instead of the text of the content', '[object Object]'],
    ...forms(bytes.toString('latin1')),
  ];
}

const withoutContent: Variant[] = [
  ['the request has no content, but "{}" was signed', '{}'],
  ['the request has no content, but "null" was signed', 'null'],
  ['the request has no content, but "undefined" was signed', 'undefined'],
  ['the request has no content, but an empty JSON string was signed', '""'],
];

const lineEndings = (text: string): Variant[] => [
  ['the content was signed with a line feed at the end that is not sent', `${text}\n`],
  ['the content was signed without the line feed at its end', text.replace(/\r?\n$/, '')],
  ['the white space around the content was removed before it was signed', text.trim()],
  ['the line endings of the content were LF when it was signed', text.replaceAll('\r\n', '\n')],
  ['the line endings of the content were CR LF when it was signed', text.replace(/\r?\n/g, '\r\n')],
];

function encoded(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** The deepest JSON that is serialized again. */
const maxDepth = 64;

function reserialized(text: string): Variant[] {
  const value = parsed(text);
  if (value === undefined) return [];
  const compact = JSON.stringify(value);
  const sorted = sortedMembers(value, 0);
  const forms: readonly string[] = [
    compact,
    JSON.stringify(value, null, 2),
    JSON.stringify(value, null, 4),
    JSON.stringify(value, null, '\t'),
    spaced(value, 0),
    escapedUnicode(spaced(value, 0)),
    escapedUnicode(compact),
    compact.replaceAll('/', '\\/'),
    escapedUnicode(compact).replaceAll('/', '\\/'),
    compact.replace(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`),
  ];
  const orders = [JSON.stringify(sorted), spaced(sorted, 0), escapedUnicode(spaced(sorted, 0))];
  return [
    ...forms.map((form): Variant => [again, encoded(form)]),
    ...orders.map((form): Variant => [`${again}, with its members sorted`, encoded(form)]),
  ];
}

const again = 'the JSON was parsed and serialized again before it was signed; sign the bytes that are sent';

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return depthOf(value, 0) > maxDepth ? undefined : value;
  } catch {
    return undefined;
  }
}

function depthOf(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null || depth > maxDepth) return depth;
  let deepest = depth;
  for (const member of Object.values(value)) deepest = Math.max(deepest, depthOf(member, depth + 1));
  return deepest;
}

function sortedMembers(value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return value.map((member) => sortedMembers(member, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sortedMembers(member, depth + 1)]));
}

/** Serializes JSON with a space after each comma and colon, as Python does. */
function spaced(value: unknown, depth: number): string {
  if (Array.isArray(value)) return `[${value.map((member) => spaced(member, depth + 1)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${spaced(member, depth + 1)}`,
  );
  return `{${members.join(', ')}}`;
}

function escapedUnicode(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function forms(form: string): Variant[] {
  const pairs = /^[!-~]+$/.test(form) && form.includes('=') ? formPairs(form) : undefined;
  if (pairs === undefined) return [];
  const again = 'the form was parsed and serialized again before it was signed; sign the bytes that are sent';
  const joined = (written: (text: string) => string): string =>
    pairs.map(([name, value]) => `${written(name)}=${written(value)}`).join('&');
  const asText = (text: string): string => {
    const bytes = Buffer.from(text, 'latin1');
    return isUtf8(bytes) ? bytes.toString('utf8') : text;
  };
  const spaces = (text: string): string => encodeURIComponent(asText(text));
  return [
    [again, joined(spaces)],
    [again, joined((text) => spaces(text).replaceAll('%20', '+'))],
    ['the form was decoded before it was signed', joined((text) => text)],
    ['the parameters of the form were sorted before they were signed', form.split('&').sort().join('&')],
  ];
}
