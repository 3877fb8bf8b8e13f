// Mistakes in a message as a whole: its ends, its separators, and parts that are missing, added or in another order.
import { createHash } from 'node:crypto';
import { bytesOf, octetsOf, replaceInvalidUtf8, toOctets } from '../../http/syntax/octets.ts';
import { escapeOctet } from '../../http/syntax/percent.ts';
import { messageBytes, octetsOfPiece, type Part, type Piece } from '../message.ts';
import type { MessageMistake } from '../scheme.ts';
import { listValues, readJsonNode, writeUsualJson } from './json-writers.ts';
import { separators } from './lines.ts';
import { type Facts, formatLabel, permutations } from './mistake.ts';

/** Builds the octets that are signed from parts. */
export type Assemble = (parts: readonly Part[]) => readonly Piece[];

/** Changes of the whole message: a hint, and what is signed. Each character is one octet. */
const wholes: readonly (readonly [hint: string, change: (message: string) => Piece])[] = [
  ['the whole message was signed in lower case', (message) => message.toLowerCase()],
  ['the whole message was signed in upper case', (message) => message.toUpperCase()],
  ['the whole message was percent-encoded before it was signed', (message) => encodeURIComponent(message)],
  [
    'the whole message was encoded in base64 before it was signed',
    (message) => bytesOf(message).toString('base64'),
  ],
  [
    'the whole message was encoded in hexadecimal before it was signed',
    (message) => bytesOf(message).toString('hex'),
  ],
  [
    'the whole message was encoded in UTF-16 instead of UTF-8',
    (message) => Buffer.from(replaceInvalidUtf8(message), 'utf16le'),
  ],
  ['the whole message was signed in quotes', (message) => `"${message}"`],
  ['a byte order mark was signed at the start', (message) => `\u00ef\u00bb\u00bf${message}`],
  ['the message was signed with CR LF for its line feeds', (message) => message.replace(/\r?\n/g, '\r\n')],
  ['the message was signed without the white space around it', (message) => message.trim()],
  ['nothing was signed: the message was empty', () => ''],
  [
    'the whole message was encoded in Latin-1 instead of UTF-8',
    (message) => (isAscii(message) ? message : replaceInvalidUtf8(message)),
  ],
  [
    'characters other than ASCII were replaced by "?" before the message was signed',
    (message) => replaceInvalidUtf8(message).replace(/[^\0-\x7f]/g, '?'),
  ],
  [
    'the whole message was decoded as Latin-1 and encoded as UTF-8 before it was signed',
    (message) => toOctets(message),
  ],
  [
    'characters other than ASCII were escaped as in JSON (\\uXXXX) before the message was signed',
    (message) =>
      replaceInvalidUtf8(message).replace(
        /[^\0-\x7f]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ),
  ],
  [
    'characters other than ASCII were percent-encoded before the message was signed',
    (message) => message.replace(/[^\0-\x7f]/g, escapeOctet),
  ],
  [
    'the message was signed with the two characters \\n for each line feed',
    (message) => message.replaceAll('\n', '\\n'),
  ],
  ['the message was signed in another normalization form of Unicode', (message) => otherForm(message)],
  [
    'the whole message was encoded in UTF-16 instead of UTF-8',
    (message) => Buffer.from(`\ufeff${replaceInvalidUtf8(message)}`, 'utf16le'),
  ],
];

/** Returns the message in the other of the forms NFC and NFD (Unicode Standard Annex 15). */
function otherForm(message: string): string {
  if (isAscii(message)) return message;
  const text = replaceInvalidUtf8(message);
  const composed = text.normalize('NFC');
  return toOctets(composed === text ? text.normalize('NFD') : composed);
}

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}

const ends: readonly (readonly [hint: string, end: string])[] = [
  ['a line feed was signed at the end (echo without -n?)', '\n'],
  ['a line ending (CR LF) was signed at the end', '\r\n'],
  ['a space was signed at the end', ' '],
  ['a null byte was signed at the end', '\0'],
];

/** Returns messages with something at their end that does not belong to them. */
export function endMistakes(message: Buffer, parts: readonly Part[]): MessageMistake[] {
  const separators = new Set([findSeparator(parts), ...usualSeparators].filter((text) => text !== ''));
  return [
    ...ends.map(([hint, end]) => ({ hint, message: messageBytes([message, end]) })),
    ...[...separators].map((separator) => ({
      hint: `the separator ${JSON.stringify(separator)} was signed at the end`,
      message: messageBytes([message, separator]),
    })),
  ];
}

const usualSeparators = ['.', ':', '|', '&', '+', ',', ';', '-', '_', '/', '?', '='];

/** Returns messages that were changed as a whole. */
export function wholeMistakes(message: Buffer): MessageMistake[] {
  const octets = octetsOf(message);
  return wholes.map(([hint, change]) => ({ hint, message: messageBytes([change(octets)]) }));
}

/** Returns digests of the message that clients sign in its place. */
export function hashedMistakes(message: Buffer): MessageMistake[] {
  return ['sha256', 'sha1', 'sha512'].flatMap((hash) => {
    const digest = createHash(hash).update(message).digest();
    const forms = [digest, Buffer.from(digest.toString('hex')), Buffer.from(digest.toString('base64'))];
    return forms.map((form) => ({
      hint: `the message was hashed with ${hash.replace('sha', 'SHA-')} before it was signed`,
      message: form,
    }));
  });
}

/** Returns messages without a part and a separator beside it, of one part alone, or without the text at either end. */
export function omissions(parts: readonly Part[], assemble: Assemble): MessageMistake[] {
  const buildMessage = (selected: readonly Part[]): Buffer => messageBytes(assemble(selected));
  const buildWithout = (from: number, to: number): Buffer =>
    buildMessage(parts.filter((_, at) => at < from || at >= to));
  const last = parts.length - 1;
  const omitted = parts.flatMap((part, at): MessageMistake[] => {
    if (part.kind === 'text') {
      if (at !== 0 && at !== last) return [];
      const text = JSON.stringify(octetsOfPiece(part.value));
      return [{ hint: `the text ${text} was left out of the message`, message: buildWithout(at, at + 1) }];
    }
    const differs = { name: part.name, signed: '' };
    const hint =
      part.value.length === 0
        ? `the text beside ${formatLabel(part)}, which is empty, was left out of the message`
        : `${formatLabel(part)} was left out of the message`;
    const messages = [
      buildWithout(at, at + 1),
      buildWithout(at, at + 2),
      buildWithout(Math.max(0, at - 1), at + 1),
    ];
    return messages.map((message) => ({ hint, message, differs }));
  });
  const alone = parts.flatMap((part): MessageMistake[] =>
    part.kind === 'text'
      ? []
      : [{ hint: `only the part ${part.name} was signed`, message: messageBytes([part.value]) }],
  );
  return [...omitted, ...alone];
}

/** Returns messages without two parts that stand side by side, and the text beside them. */
export function doubleOmissions(parts: readonly Part[], assemble: Assemble): MessageMistake[] {
  return parts.flatMap((part, at): MessageMistake[] => {
    const next = parts[at + 2];
    if (part.kind === 'text' || parts[at + 1]?.kind !== 'text' || next === undefined) return [];
    const hint = `${formatLabel(part)} and ${formatLabel(next)} were left out of the message`;
    return [at, at - 1].map((from) => ({
      hint,
      message: messageBytes(assemble(parts.filter((_, place) => place < from || place >= from + 4))),
    }));
  });
}

/** Returns messages whose inner text is replaced by another separator, or that have a separator between all parts. */
export function separatorMistakes(parts: readonly Part[], assemble: Assemble): MessageMistake[] {
  const last = parts.length - 1;
  const values = parts.filter(({ kind }) => kind !== 'text');
  if (values.length < 2) return [];
  const own = findSeparator(parts);
  const spaced =
    own === '' ? [] : [`${own} `, ` ${own} `].map((each) => [JSON.stringify(each), each] as const);
  return [...separators, ...spaced].flatMap(([name, separator]): MessageMistake[] => {
    const text: Part = { kind: 'text', name: '', value: separator };
    const hint = `the parts were joined with ${name}`;
    const replaced = parts.map((part, at) => (part.kind === 'text' && at > 0 && at < last ? text : part));
    const [first, ...others] = replaced;
    const start =
      first?.kind === 'text'
        ? octetsOfPiece(first.value).replace(/(?<![^A-Za-z0-9])[^A-Za-z0-9]+$/, separator)
        : '';
    const started: Part = { kind: 'text', name: '', value: start };
    return [
      { hint, message: messageBytes(assemble(replaced)) },
      { hint, message: messageBytes(assemble(joinParts(values, text))) },
      // The text at the beginning may end with the separator: "v0:".
      ...(start === '' ? [] : [{ hint, message: messageBytes(assemble([started, ...others])) }]),
    ];
  });
}

/** Yields messages whose fixed text has another version, "v1:" for "v0:", or another character at its end, "v0=". */
export function* versionMistakes(parts: readonly Part[], assemble: Assemble): Generator<MessageMistake> {
  for (const [at, part] of parts.entries()) {
    const text = octetsOfPiece(part.value);
    if (part.kind !== 'text' || !/[A-Za-z]\d/.test(text)) continue;
    const versions = ['0', '1', '2', '3'].map((version) => text.replace(/(?<=[A-Za-z])\d+/, version));
    const endings = usualSeparators.map((separator) => text.replace(/[^A-Za-z0-9]$/, separator));
    for (const value of [...versions, ...endings]) {
      const hint = `the text ${JSON.stringify(text)} was signed as ${JSON.stringify(value)}`;
      yield { hint, message: messageBytes(assemble(parts.with(at, { ...part, value }))) };
    }
  }
}

function joinParts(values: readonly Part[], separator: Part): Part[] {
  return values.flatMap((value, at) => (at === 0 ? [value] : [separator, value]));
}

/** The largest number of parts of which all orders are tried, and of which two are swapped. */
const maxOrdered = 5;
const maxSwapped = 12;

/** Returns messages with the parts in another order. */
export function orderMistakes(parts: readonly Part[], assemble: Assemble): MessageMistake[] {
  const places = parts.flatMap(({ kind }, at) => (kind === 'text' ? [] : [at]));
  if (places.length > maxSwapped) return [];
  const orders = places.length <= maxOrdered ? permutations(places) : listSwaps(places);
  return orders.map((order) => {
    const moved = [...parts];
    for (const [index, place] of places.entries()) {
      const part = parts[order[index] ?? place];
      if (part !== undefined) moved[place] = part;
    }
    return { hint: describeOrder(parts, places, order), message: messageBytes(assemble(moved)) };
  });
}

function listSwaps(places: readonly number[]): number[][] {
  return places.flatMap((one, index) =>
    places
      .slice(index + 1)
      .map((other) => places.map((place) => (place === one ? other : place === other ? one : place))),
  );
}

function describeOrder(parts: readonly Part[], places: readonly number[], order: readonly number[]): string {
  const findName = (place: number | undefined): string => parts[place ?? 0]?.name ?? '';
  const moved = places.filter((place, index) => place !== order[index]);
  const names = order.map(findName).join(', ');
  const all = `the parts were signed in another order: ${names}`;
  return moved.length === 2 ? `${findName(moved[0])} and ${findName(moved[1])} were swapped; ${all}` : all;
}

/** The texts that clients write between members of JSON, and between a name and its value. */
const memberSeparators = ['&', ',', '|', ';', '\n', ''];
const nameSeparators = ['=', ':', ''];

/** Yields messages of clients that sign members of JSON otherwise: with their names, sorted, or the whole content. */
export function* memberMistakes(
  parts: readonly Part[],
  content: Uint8Array,
  assemble: Assemble,
): Generator<MessageMistake> {
  const members = parts.filter(({ name }) => name.startsWith('json:'));
  if (members.length === 0 || parts.some(({ kind }) => kind === 'content' || kind === 'digest')) return;
  for (const signed of [content, ...listTopValues(content)])
    yield {
      hint: 'the content was signed, or the value of one of its members, instead of the members of the message',
      message: messageBytes([octetsOf(signed)]),
    };
  const own = findSeparator(parts);
  const pairs = members.map(({ name, value }) => [name.replace(/^.*\//s, ''), octetsOfPiece(value)] as const);
  const sorted = pairs.toSorted(([one], [other]) => (one < other ? -1 : 1));
  const wholes = [pairs, sorted].flatMap((list) =>
    [own, ...memberSeparators].flatMap((outer) => [
      ...nameSeparators.map((inner) => [named, list.map((pair) => pair.join(inner)).join(outer)] as const),
      [named, [...list.map(([name]) => name), ...list.map(([, value]) => value)].join(outer)] as const,
      [
        'the members were sorted by name before they were signed',
        list.map(([, value]) => value).join(outer),
      ] as const,
    ]),
  );
  const first = parts.findIndex((part) => members.includes(part));
  const last = parts.findLastIndex((part) => members.includes(part));
  for (const [hint, value] of wholes) {
    const all: Part = { kind: 'other', name: 'members', value };
    yield {
      hint,
      message: messageBytes(assemble([...parts.slice(0, first), all, ...parts.slice(last + 1)])),
    };
  }
}

const named = 'the names of the members were signed with their values';

/** Returns the values of the members of content that is a JSON object, and of theirs, as they are usually written. */
function listTopValues(content: Uint8Array): readonly Buffer[] {
  const node = readJsonNode(octetsOf(content));
  const top = node === undefined ? [] : listValues(node);
  return [...top, ...top.flatMap(listValues)]
    .filter(({ kind }) => kind === 'object' || kind === 'array')
    .flatMap((value) => [...writeUsualJson(value)])
    .map((text) => bytesOf(text));
}

/** The texts that clients write between parts, where the message has none. */
const joints = ['', '.', ':', '\n', '|', '&', '-', ' '];

/** The number of fields whose values are tried as a part that does not belong to the message. */
const maxAdded = 8;

/** Yields messages with a part that does not belong to them. */
export function* additions(
  parts: readonly Part[],
  facts: Facts,
  user: string,
  assemble: Assemble,
): Generator<MessageMistake> {
  const own = new Set(parts.map(({ value }) => octetsOfPiece(value)));
  const values = parts.filter(({ kind }) => kind !== 'text');
  const texts = values.length > 1 ? [findSeparator(parts)] : joints;
  const ends = new Set([...joints, '?']);
  for (const [what, value] of listOthers(facts, user)) {
    if (value === undefined || value === '' || own.has(value)) continue;
    const added: Part = { kind: 'other', name: what, value };
    const hint = `${what} was signed too, but does not belong to the message`;
    for (const text of texts)
      for (let at = 0; at <= values.length; at += 1) {
        const joined = joinParts(values.toSpliced(at, 0, added), { kind: 'text', name: '', value: text });
        yield { hint, message: messageBytes(assemble(joined)) };
      }
    for (const value of ends) {
      const text: Part = { kind: 'text', name: '', value };
      yield { hint, message: messageBytes(assemble([added, text, ...parts])) };
      yield { hint, message: messageBytes(assemble([...parts, text, added])) };
    }
  }
}

/** Returns what clients sign though it does not belong to the message. */
function listOthers(
  { request, target, host }: Facts,
  user: string,
): readonly (readonly [what: string, value: string | undefined])[] {
  const { headers: fields, method, connection } = request;
  const origin = `${connection.secure ? 'https' : 'http'}://${host}`;
  const [path = ''] = target.split('?');
  const times = fields.raw
    .filter((_, at) => at % 2 === 0)
    .filter((name) => /^(?!host$).*(?:time|date|nonce|id|digest|md5|sha256)/i.test(name))
    .slice(0, maxAdded);
  return [
    ['the user', toOctets(user)],
    ['the method', method],
    ['the target', target],
    ['the path', path],
    ['the URL', origin + target],
    ['the URL without the query', origin + path],
    ['the host', fields.get('host')],
    ['the Content-Type', fields.get('content-type')],
    ['the Content-Length', fields.get('content-length')],
    ...times.map((name) => [`the value of ${name}`, fields.get(name)] as const),
    ['the method and the path', method + path],
  ];
}

/** Returns the text that stands between parts. */
function findSeparator(parts: readonly Part[]): string {
  const text = parts.find(({ kind }, at) => kind === 'text' && at > 0 && at < parts.length - 1);
  return text === undefined ? '' : octetsOfPiece(text.value);
}
