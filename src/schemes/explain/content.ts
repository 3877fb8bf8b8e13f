import type { JsonNode } from '../../http/json.ts';
// Mistakes in the content: other bytes were signed, or digested, than are sent.

import { createHash } from 'node:crypto';
import { formatCount } from '../../counted.ts';
import { bytesOf, octetsOf, replaceInvalidUtf8, toOctets } from '../../http/syntax/octets.ts';
import { type DigestForm, messageBytes, octetsOfPiece, type Piece } from '../message.ts';
import { describeUntried, ExplanationBudget, makingTime, selectLongest, verificationTime } from './budget.ts';
import { parameterMistakes } from './content-parameters.ts';
import {
  listPrinted,
  listPython,
  listValues,
  omitMembers,
  readJsonNode,
  sortMembers,
  writeJson,
  writeUsualJson,
} from './json-writers.ts';
import { escapeHtml } from './key.ts';
import { listTextVariants, type Mistake, type TextMistake, type Variant } from './mistake.ts';
import { readForm } from './parameter-steps.ts';
import { toObject } from './parameter-ways.ts';
import { furtherFormMistakes } from './parameters.ts';
import { addUnsentContent, unsent } from './unsent.ts';
import { xmlMistake } from './xml.ts';

/** Returns zlib, which is loaded on first use. */
const zlib = (): typeof import('node:zlib') => process.getBuiltinModule('node:zlib');

/** The contents that are signed in place of none. */
const placeholders: readonly TextMistake[] = ['{}', 'null', 'undefined', '""'].map(
  (text): TextMistake => [
    `the request has no content, but ${JSON.stringify(text)} was signed`,
    (content) => (content === '' ? text : undefined),
  ],
);

const lineEnds: readonly TextMistake[] = [
  [
    'the content was signed with a line feed at the end that is not sent',
    (content) => [`${content}\n`, `${content}\r\n`],
  ],
  ['the content was signed without the line feed at its end', (content) => content.replace(/\r?\n$/, '')],
  ['the white space around the content was removed before it was signed', (content) => content.trim()],
  [
    'the line endings of the content were LF when it was signed',
    (content) => content.replaceAll('\r\n', '\n'),
  ],
  [
    'the line endings of the content were CR LF when it was signed',
    (content) => content.replace(/\r?\n/g, '\r\n'),
  ],
];

const byteOrderMark = '\u00ef\u00bb\u00bf';

const encodings: readonly TextMistake[] = [
  ['the byte order mark was signed, but not sent', (content) => byteOrderMark + content],
  ['the byte order mark was sent, but not signed', (content) => content.replace(/^\u00ef\u00bb\u00bf/, '')],
  [
    'the content was decoded as Latin-1 and encoded as UTF-8 before it was signed',
    (content) => toOctets(content),
  ],
  [
    'bytes that are not UTF-8 were replaced before the content was signed',
    (content) => toOctets(replaceInvalidUtf8(content)),
  ],
  [
    'characters other than ASCII were replaced by "?" before the content was signed',
    (content) => [
      ...[/[^\0-\x7f]/gu, /[^\0-\x7f]/g].map((other) => replaceInvalidUtf8(content).replace(other, '?')),
      content.replace(/[^\0-\x7f]/g, '?'),
    ],
  ],
  [
    'characters other than ASCII were replaced by U+FFFD before the content was signed',
    (content) =>
      [/[^\0-\x7f]/gu, /[^\0-\x7f]/g]
        .map((other) => toOctets(replaceInvalidUtf8(content).replace(other, '\ufffd')))
        .concat(content.replace(/[^\0-\x7f]/g, toOctets('\ufffd'))),
  ],
  [
    'characters other than ASCII were left out before the content was signed',
    (content) => replaceInvalidUtf8(content).replace(/[^\0-\x7f]/gu, ''),
  ],
  ['the content was signed in Latin-1 and sent in UTF-8', (content) => replaceInvalidUtf8(content)],
  [
    'the content was signed in UTF-16 and sent in UTF-8',
    (content) => Buffer.from(replaceInvalidUtf8(content), 'utf16le'),
  ],
  [
    'the content was signed as a JSON string',
    (content) => toOctets(JSON.stringify(replaceInvalidUtf8(content))),
  ],
  [
    'the content was encoded in base64 before it was signed',
    (content) => bytesOf(content).toString('base64'),
  ],
  [
    'the content was encoded in hexadecimal before it was signed',
    (content) => bytesOf(content).toString('hex'),
  ],
  ['an object was signed instead of the text of the content', () => '[object Object]'],
  ['the content was escaped for HTML before it was signed', (content) => escapeHtml(content)],
  [
    'the text "{signed}" was signed instead of the content: a variable that is not set?',
    (content) => (content === '' ? undefined : ['undefined', 'null', 'None', '{}', '[]', '""', 'NaN']),
  ],
];

/** The hint at JSON that was written again. */
export const serializedAgain =
  'the JSON was parsed and serialized again before it was signed; sign the bytes that are sent';

/** Returns octets as Python prints bytes, without quotes. */
function printBytes(octets: string): string {
  const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };
  const hex = (octet: string): string => `\\x${octet.charCodeAt(0).toString(16).padStart(2, '0')}`;
  return octets.replace(/[^ -[\]-~]/g, (octet) => short[octet] ?? hex(octet));
}

const notations: readonly TextMistake[] = [
  [
    'the notation of bytes in Python was signed, not the content',
    (content) => [content, printBytes(content)].flatMap((text) => [`b'${text}'`, `b"${text}"`]),
  ],
  [
    'the notation of the value in Python was signed, not the content that is sent',
    function* (content) {
      const node = readJsonNode(content);
      const form = node === undefined ? readForm(content) : undefined;
      const written = node ?? (form && toObject(form));
      // With double quotes, a form is JSON.
      for (const text of written === undefined ? [] : listPython(written))
        if (form === undefined || text.includes("'")) yield text;
    },
  ],
  ...(['Ruby', 'Java', 'Go'] as const).map(
    (language): TextMistake => [
      `the notation of the value in ${language} was signed, not the content that is sent`,
      (content) => {
        const node = readJsonNode(content);
        return node && listPrinted(node, language);
      },
    ],
  ),
  [
    'the line feeds of the content were removed before it was signed',
    (content) => content.replace(/[\r\n]/g, ''),
  ],
  ['the content was compressed after it was signed', (content) => decompress(content)],
];

/** The largest content (bytes) after decompression. */
const longestDecompressed = 1_048_576;

function decompress(content: string): Buffer | undefined {
  const bytes = bytesOf(content);
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const isZlib = bytes[0] === 0x78;
  if (!(isGzip || isZlib)) return undefined;
  try {
    const { gunzipSync, inflateSync } = zlib();
    return (isGzip ? gunzipSync : inflateSync)(bytes, { maxOutputLength: longestDecompressed });
  } catch {
    return undefined;
  }
}

/** The levels of compression that programs use, and the systems that they name in the header of gzip (RFC 1952 §2.3.1). */
const levels = [6, 9, 1];
const systems = [3, 255, 0];
const systemAt = 9;

/** Yields what programs compress a content to, without a time in the header. */
function* compress(content: string): Generator<Buffer> {
  const bytes = bytesOf(content);
  const { deflateSync, gzipSync } = zlib();
  for (const level of bytes.length === 0 ? [] : levels) {
    const compressed = gzipSync(bytes, { level });
    for (const system of systems) yield Buffer.from(compressed.fill(system, systemAt, systemAt + 1));
    yield deflateSync(bytes, { level });
  }
}

/** Yields what programs write for the content if it is JSON. */
function* serialize(
  content: string,
  isSorted: boolean,
  written: (node: JsonNode) => Generator<string>,
): Generator<string> {
  const node = readJsonNode(content);
  if (node !== undefined) yield* written(isSorted ? sortMembers(node) : node);
}

/** The longest JSON (bytes) of which members are left out one by one, and the longest content that is changed in further ways. */
const longestOmitted = 8192;
const longestFurther = 65_536;

/** Yields JSON without each of its members. */
function* omitEach(content: string): Generator<string> {
  const node = content.length > longestOmitted ? undefined : readJsonNode(content);
  for (const fewer of node === undefined ? [] : omitMembers(node)) yield* writeUsualJson(fewer);
}

/** The largest number of members, or elements, of which each one is signed alone. */
const maxPicked = 16;

/** Yields the values of the members of a JSON object, and of the elements of an array. */
function* pickEach(content: string): Generator<string> {
  const node = content.length > longestOmitted ? undefined : readJsonNode(content);
  for (const value of node === undefined ? [] : listValues(node).slice(0, maxPicked))
    yield* writeUsualJson(value);
}

const usualJson: readonly TextMistake[] = [
  [serializedAgain, (content) => serialize(content, false, writeUsualJson)],
  [`${serializedAgain}, with its members sorted`, (content) => serialize(content, true, writeUsualJson)],
];

const furtherJson: readonly TextMistake[] = [
  [serializedAgain, (content) => serialize(content, false, writeJson)],
  [`${serializedAgain}, with its members sorted`, (content) => serialize(content, true, writeJson)],
  [serializedAgain, (content) => [...serialize(content, false, writeUsualJson)].map((text) => `${text}\n`)],
  ['a member of the JSON was added after signing', omitEach],
  ['only the value of one member of the JSON was signed, not the content that is sent', pickEach],
  [
    'the JSON in the only parameter of the form was parsed and serialized again; sign the bytes of the form that are sent',
    function* (content) {
      const [pair, ...others] = readForm(content) ?? [];
      if (others.length === 0) yield* serialize(pair?.[1] ?? '', false, writeUsualJson);
    },
  ],
];

/** The lengths (bytes) after which contents are cut: each that is short, then those of buffers. */
function* listCuts(length: number): Generator<number> {
  for (let at = 1; at < length && at <= 1024; at += 1) yield at;
  for (let at = 1100; at < length && at <= 16_384; at += 100) yield at;
  for (let at = 1152; at < length && at <= 16_384; at += 128) yield at;
  for (let at = 17_408; at < length && at <= 65_536; at += 1024) yield at;
  for (let at = 100_000; at < length; at += 100_000) yield at;
  for (let at = 131_072; at < length; at *= 2) yield at;
}

const cuts: readonly TextMistake[] = [
  [
    'the content was signed only up to byte {length}: a part of a stream, or a buffer that was too small?',
    function* (content) {
      for (const length of listCuts(content.length)) yield content.slice(0, length);
    },
  ],
];

/** The contents that clients usually sign, or digest, in place of the bytes that are sent. */
const usualContents: readonly TextMistake[] = [
  ['the content was signed as empty', () => ''],
  ...placeholders,
  ...lineEnds,
  ...usualJson,
  ...notations,
  ...encodings,
  ...limitLength([
    [
      'a Buffer was signed as JSON, {"type":"Buffer",…}, instead of its bytes',
      (content) => JSON.stringify(bytesOf(content)),
    ],
    ...parameterMistakes,
    xmlMistake,
  ]),
];

/** Further ones: there may be thousands. */
const furtherContents: readonly TextMistake[] = limitLength([
  ...furtherJson,
  ...furtherFormMistakes,
  ['the content was compressed before it was signed; sign the bytes that are sent', compress],
  [unsent, addUnsentContent],
  ...cuts,
]);

/** Returns mistakes that are tried only for contents that are not long. */
function limitLength(mistakes: readonly TextMistake[]): TextMistake[] {
  return mistakes.map(([hint, values]) => [
    hint,
    (content) => (content.length > longestFurther ? undefined : values(content)),
  ]);
}

/** The mistakes in a part that is the content. */
export const contentMistakes: readonly Mistake[] = [
  ...usualContents,
  [
    'a digest of the content was signed instead of the content',
    (content) =>
      ['sha256', 'md5', 'sha1', 'sha512'].flatMap((hash) => {
        const digest = createHash(hash).update(content, 'latin1').digest();
        return [digest.toString('hex'), digest.toString('base64'), digest];
      }),
  ],
];

/** The mistakes in a part that is the content that are tried last. */
export const furtherContentMistakes: readonly Mistake[] = furtherContents;

/** Yields the contents that clients sign, or digest, in place of these octets: those that are usual, then further ones. */
export function* contentVariants(octets: string): Generator<Variant> {
  yield* listTextVariants(usualContents, 'the content', octets);
  yield* listTextVariants(furtherContents, 'the content', octets);
}

/** Yields the digests of further contents, which are tried last. */
export function* furtherDigestMistakes({ hash, format }: DigestForm, sent: Uint8Array): Generator<Variant> {
  for (const [hint, value] of listTextVariants(furtherContents, 'the content', octetsOf(sent)))
    yield [
      hint,
      format(
        createHash(hash)
          .update(messageBytes([value]))
          .digest(),
      ),
    ];
}

/** Yields the values that clients sign in place of a digest of the content. */
export function* digestMistakes({ hash, format }: DigestForm, sent: Uint8Array): Generator<Variant> {
  const content = Buffer.from(sent.buffer, sent.byteOffset, sent.byteLength);
  const digestOf = (algorithm: string, value: Piece): string =>
    format(
      createHash(algorithm)
        .update(messageBytes([value]))
        .digest(),
    );
  const digest = createHash(hash).update(content).digest();
  yield ['the digest is that of no content; it must be that of the content sent', digestOf(hash, '')];
  yield ['the digest of the content was signed in base64', digest.toString('base64')];
  yield ['the digest of the content was signed in hexadecimal', digest.toString('hex')];
  yield ['the digest of the content was signed in upper case', digest.toString('hex').toUpperCase()];
  yield [
    content.length === 0
      ? 'the digest of the content was left out: content that is empty has a digest, too'
      : 'the digest of the content was left out',
    '',
  ];
  yield ['the content was signed instead of its digest', content];
  for (const [hint, value] of listTextVariants(usualContents, 'the content', octetsOf(content)))
    yield [hint, digestOf(hash, value)];
  yield ['the digest of the content was signed as base64url', digest.toString('base64url')];
  yield ['the digest of the content was signed as bytes', digest];
  yield ['the digest of the content was hashed again', digestOf(hash, digest.toString('hex'))];
  yield ['the digest of the content was hashed again', digestOf(hash, digest)];
  yield [
    'the digest of the content was signed as the base64 of its hexadecimal digits',
    Buffer.from(digest.toString('hex')).toString('base64'),
  ];
  yield ['the base64 of the content was signed instead of its digest', content.toString('base64')];
  for (const name of [`SHA-${digest.length * 8}=`, `sha-${digest.length * 8}=`, `${hash}=`, `${hash}:`])
    yield ['the name of the hash was signed in front of the digest', name + format(digest)];
  for (const word of ['undefined', 'null', 'None'])
    yield [`the text "${word}" was signed instead of the digest: a variable that is not set?`, word];
  for (const other of ['sha256', 'sha512', 'sha384', 'sha1', 'md5'])
    if (other !== hash)
      yield [`${other.toUpperCase()} was used for the digest of the content`, digestOf(other, content)];
}

/** Returns the mistake behind a digest that the content does not have; undefined if none is recognized within the time. */
export function findDigestMistake(
  form: DigestForm,
  content: Uint8Array,
  sent: string,
  budget = new ExplanationBudget(Number.POSITIVE_INFINITY),
): string | undefined {
  const time = verificationTime('secret', content.length) + makingTime(octetsOf(content));
  for (const mistakes of [digestMistakes, furtherDigestMistakes])
    for (const [hint, value] of budget.limit(time, mistakes(form, content))) if (value === sent) return hint;
  return undefined;
}

/**
 * Returns the likely cause of a digest that the content does not have.
 *
 * @param isLimited Whether the explanation has only the time of a server.
 */
export function explainDigest(
  form: DigestForm,
  content: Uint8Array,
  sent: string,
  isLimited: boolean,
): string {
  const isTried = content.length <= selectLongest(isLimited);
  const budget = isLimited ? new ExplanationBudget() : undefined;
  const found = isTried ? findDigestMistake(form, content, sent, budget) : undefined;
  if (found !== undefined) return found;
  const { hash, format } = form;
  const shown = octetsOfPiece(format(createHash(hash).update(content).digest()));
  const received = `the content that arrived has ${formatCount(content.length, 'byte')} and the digest ${hash} ${shown}`;
  const cause = `other content was hashed than was sent, or it was changed in transit; ${received}`;
  return isTried ? cause : `${cause}; ${describeUntried('content', content.length)}`;
}
