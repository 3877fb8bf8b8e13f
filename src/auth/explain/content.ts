// Mistakes in the content: other bytes were signed, or digested, than are sent.

import { createHash } from 'node:crypto';
import { parseFormOctets } from '../../http/form.ts';
import { bytesOf, octetsOf, replaceInvalidUtf8, toOctets } from '../../http/syntax/octets.ts';
import { type DigestForm, messageBytes } from '../../signature/message.ts';
import { describeUntried, selectLongest } from './budget.ts';
import { encodePairs } from './encoders.ts';
import { type Mistake, type TextMistake, toList, type Variant } from './mistake.ts';

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
    (content) =>
      [/[^\0-\x7f]/gu, /[^\0-\x7f]/g].map((other) => replaceInvalidUtf8(content).replace(other, '?')),
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
];

const again = 'the JSON was parsed and serialized again before it was signed; sign the bytes that are sent';

const notations: readonly TextMistake[] = [
  [
    'the notation of bytes in Python was signed, not the content',
    (content) => [`b'${content}'`, `b"${content}"`],
  ],
  [
    'the notation of the value in Python was signed, not the JSON that is sent',
    (content) => reserializeJson(content, (value) => [formatPython(value)]),
  ],
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

const json: readonly TextMistake[] = [
  [again, (content) => reserializeJson(content, reserialize)],
  [
    `${again}, with its members sorted`,
    (content) =>
      reserializeJson(content, (value) => {
        const sorted = sortMembers(value);
        return [JSON.stringify(sorted), formatSpaced(sorted), escapeUnicode(formatSpaced(sorted))];
      }),
  ],
];

const formAgain =
  'the form was parsed and serialized again before it was signed; sign the bytes that are sent';

const forms: readonly TextMistake[] = [
  [formAgain, (content) => changeForm(content, encodePairs)],
  [
    'the form was decoded before it was signed',
    (content) => changeForm(content, (pairs) => [joinPairs(pairs, (text) => text)]),
  ],
  [
    'the parameters of the form were sorted before they were signed',
    (content) => changeForm(content, () => [content.split('&').sort().join('&')]),
  ],
];

/** The contents that clients sign, or digest, in place of the bytes that are sent. */
const otherContents: readonly TextMistake[] = [
  ['the content was signed as empty', () => ''],
  ...placeholders,
  ...json,
  ...lineEnds,
  ...notations,
  ...encodings,
  ...forms,
];

/** The mistakes in a part that is the content. */
export const contentMistakes: readonly Mistake[] = [
  ...otherContents,
  [
    'a digest of the content was signed instead of the content',
    (content) =>
      ['sha256', 'md5', 'sha1', 'sha512'].flatMap((hash) => {
        const digest = createHash(hash).update(content, 'latin1').digest();
        return [digest.toString('hex'), digest.toString('base64'), digest];
      }),
  ],
];

/** Returns the contents that clients sign, or digest, in place of these octets. */
export function contentVariants(octets: string): Variant[] {
  return otherContents.flatMap(([hint, values]) =>
    toList(values(octets)).map((value): Variant => [hint, value]),
  );
}

/** Returns the values that clients sign in place of a digest of the content. */
export function digestMistakes({ hash, format }: DigestForm, sent: Uint8Array): Variant[] {
  const content = Buffer.from(sent.buffer, sent.byteOffset, sent.byteLength);
  const digest = createHash(hash).update(content).digest();
  const others = ['sha256', 'sha512', 'sha384', 'sha1', 'md5'].filter((other) => other !== hash);
  const octets = octetsOf(content);
  return [
    [
      'the digest is that of no content; it must be that of the content sent',
      format(createHash(hash).digest()),
    ],
    ...contentVariants(octets).map(
      ([hint, value]): Variant => [
        hint,
        format(
          createHash(hash)
            .update(messageBytes([value]))
            .digest(),
        ),
      ],
    ),
    ['the digest of the content was signed in base64', digest.toString('base64')],
    ['the digest of the content was signed in hexadecimal', digest.toString('hex')],
    ['the digest of the content was signed in upper case', digest.toString('hex').toUpperCase()],
    ['the digest of the content was signed as base64url', digest.toString('base64url')],
    ['the digest of the content was signed as bytes', digest],
    [
      'the digest of the content was hashed again',
      format(createHash(hash).update(digest.toString('hex')).digest()),
    ],
    ['the content was signed instead of its digest', content],
    ['the digest of the content was left out', ''],
    ...others.map(
      (other): Variant => [
        `${other.toUpperCase()} was used for the digest of the content`,
        format(createHash(other).update(content).digest()),
      ],
    ),
  ];
}

/** Returns the mistake behind a digest that the content does not have; undefined if none is recognized. */
export function findDigestMistake(form: DigestForm, content: Uint8Array, sent: string): string | undefined {
  return digestMistakes(form, content).find(([, value]) => value === sent)?.[0];
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
  const cause = 'other content was hashed than was sent, or it was changed in transit';
  if (content.length > selectLongest(isLimited))
    return `${cause}; ${describeUntried('content', content.length)}`;
  return findDigestMistake(form, content, sent) ?? cause;
}

/** The mistakes in the sorted parameters of a form (Twilio). */
export const formMistakes: readonly Mistake[] = [
  [
    'the parameters of the form were not sorted',
    (_, facts) =>
      changeForm(octetsOf(facts.content), (pairs) => [pairs.map((pair) => pair.join('')).join('')]),
  ],
  [
    'the parameters of the form were sorted without regard to letter case',
    (_, facts) =>
      changeForm(octetsOf(facts.content), (pairs) => [
        sortPairs(pairs, (name) => name.toLowerCase())
          .map((pair) => pair.join(''))
          .join(''),
      ]),
  ],
  [
    'the parameters of the form were joined with "=" and "&"',
    (_, facts) =>
      changeForm(octetsOf(facts.content), (pairs) => [
        joinPairs(
          sortPairs(pairs, (name) => name),
          (text) => text,
        ),
      ]),
  ],
  ['the form was signed as sent', (_, facts) => octetsOf(facts.content)],
  ['the content was signed, but it is not a form', (_, facts) => octetsOf(facts.content)],
  ['the parameters of the form were left out', () => ''],
  [
    'the parameters of the form were not decoded',
    (_, facts) =>
      octetsOf(facts.content)
        .split('&')
        .sort()
        .map((pair) => pair.replace('=', ''))
        .join(''),
  ],
  [
    'only the values of the form were signed',
    (_, facts) =>
      changeForm(octetsOf(facts.content), (pairs) => [
        sortPairs(pairs, (name) => name)
          .map(([, value]) => value)
          .join(''),
      ]),
  ],
];

type Pairs = readonly (readonly [name: string, value: string])[];

function changeForm(content: string, change: (pairs: Pairs) => string[]): string[] {
  if (!/^[!-~]+$/.test(content) || !content.includes('=')) return [];
  const pairs = parseFormOctets(content);
  return pairs === undefined ? [] : change(pairs);
}

function joinPairs(pairs: Pairs, write: (text: string) => string): string {
  return pairs.map(([name, value]) => `${write(name)}=${write(value)}`).join('&');
}

function sortPairs(pairs: Pairs, key: (name: string) => string): Pairs {
  return pairs.toSorted(([one], [other]) => (key(one) < key(other) ? -1 : 1));
}

/** The deepest JSON that is serialized again. */
const maxDepth = 64;

/** Serializes the content in other ways if it is JSON. */
function reserializeJson(content: string, serialize: (value: unknown) => string[]): string[] {
  try {
    const value: unknown = JSON.parse(replaceInvalidUtf8(content));
    return computeDepth(value, 0) > maxDepth ? [] : serialize(value).map(toOctets);
  } catch {
    return [];
  }
}

/** The largest estimate of indented JSON (bytes), and how much longer it may be: deep JSON grows by its depth on each line. */
const longestIndented = 262_144;
const maxGrowth = 8;

function reserialize(value: unknown): string[] {
  const compact = JSON.stringify(value);
  const depth = computeDepth(value, 0);
  const lines = compact.match(/[,[{]/g)?.length ?? 0;
  const longest = Math.max(longestIndented, maxGrowth * compact.length);
  const formatIndented = (width: number, indent: number | string = width): string[] =>
    compact.length + lines * depth * width > longest ? [] : [JSON.stringify(value, null, indent)];
  return [
    compact,
    ...formatIndented(2),
    ...formatIndented(4),
    ...formatIndented(1, '\t'),
    formatSpaced(value),
    escapeUnicode(formatSpaced(value)),
    escapeUnicode(compact),
    compact.replaceAll('/', '\\/'),
    escapeUnicode(compact).replaceAll('/', '\\/'),
    compact.replace(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`),
    escapeUnicode(compact).replace(/\\u[0-9a-f]{4}/g, (unit) => `\\u${unit.slice(2).toUpperCase()}`),
    compact.replaceAll('/', '\\/').replace(/[<>&]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`),
    compact.replace(/(?<=[:,[])-?\d+(?=[,\]}])/g, (number) => `${number}.0`),
    ...formatIndented(3),
    ...formatIndented(8),
  ];
}

function computeDepth(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null || depth > maxDepth) return depth;
  let deepest = depth;
  for (const member of Object.values(value)) deepest = Math.max(deepest, computeDepth(member, depth + 1));
  return deepest;
}

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sortMembers(member)]));
}

/** Serializes JSON with a space after each comma and colon, as Python does. */
function formatSpaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatSpaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${formatSpaced(member)}`,
  );
  return `{${members.join(', ')}}`;
}

/** Writes a value as `str()` of Python does. */
function formatPython(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatPython).join(', ')}]`;
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') {
    const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
    return (
      quote + value.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`).replaceAll('\n', '\\n') + quote
    );
  }
  if (typeof value !== 'object') return String(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${formatPython(name)}: ${formatPython(member)}`,
  );
  return `{${members.join(', ')}}`;
}

function escapeUnicode(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
