// The catalogue: the mistakes that clients make in each kind of part, in every scheme whose message has such a part.
import { createHash } from 'node:crypto';
import { methods } from '../../http/method.ts';
import { octetsOfPiece, type Part, type PartKind } from '../message.ts';
import { contentMistakes, digestMistakes, furtherContentMistakes, furtherDigestMistakes } from './content.ts';
import { furtherTwilioVariants, twilioVariants } from './content-parameters.ts';
import { furtherHostMistakes, hostMistakes } from './host.ts';
import { numberNotations } from './json-writers.ts';
import { libraryValues } from './lines.ts';
import {
  embedMistakes,
  type Facts,
  formatLabel,
  listVariants,
  type Mistake,
  parseFieldName,
  type Variant,
} from './mistake.ts';
import { furtherQueryMistakes, queryMistakes, searchMistakes } from './query.ts';
import {
  furtherPathMistakes,
  furtherTargetMistakes,
  furtherUrlMistakes,
  pathMistakes,
  targetMistakes,
  urlMistakes,
} from './target.ts';
import { furtherTimeMistakes, timeMistakes } from './times.ts';

const methodMistakes: readonly Mistake[] = [
  ['the method was signed in lower case', (method) => method.toLowerCase()],
  ['the method was signed in upper case', (method) => method.toUpperCase()],
  [
    'the method was signed with a capital letter at its beginning: {signed}',
    (method) => method.charAt(0).toUpperCase() + method.slice(1).toLowerCase(),
  ],
  [
    'the method of an override field was signed instead of that of the request line',
    (_, { request }) => readOverriddenMethod(request.headers),
  ],
  [
    'GET was signed, but HEAD arrived: sign a HEAD request as HEAD',
    (method) => (method === 'HEAD' ? 'GET' : undefined),
  ],
  [
    '{signed} was signed, but {expected} arrived',
    (method) =>
      [...methods, 'PATCH']
        .filter((other) => other !== method)
        .map((other) => (method === method.toLowerCase() ? other.toLowerCase() : other)),
  ],
];

function readOverriddenMethod(fields: Facts['request']['headers']): string | undefined {
  return (
    fields.get('x-http-method-override') ?? fields.get('x-http-method') ?? fields.get('x-method-override')
  );
}

/** What programs write for a variable that is not set. */
const unsetWords: readonly string[] = ['undefined', 'null', 'None', 'nil', 'NaN'];

const unset: Mistake = ['{part} was signed as "{signed}": a variable that is not set?', () => unsetWords];

const headerMistakes: readonly Mistake[] = [
  [
    'the name of {name} was signed with its value',
    (value, { header = '' }) => [
      `${header}:${value}`,
      `${header.toLowerCase()}:${value}`,
      `${header}: ${value}`,
    ],
  ],
  ['{part} was signed with white space around it', (value) => [` ${value}`, `${value} `]],
  ['{part} was signed in lower case', (value) => value.toLowerCase()],
  ['{part} was signed without its parameters', (value) => value.replace(/;.*$/s, '')],
  ['{part} was signed with white space that was not sent', (value) => value.replace(/,\s*/g, ', ')],
  ['{part} was signed without white space after its commas', (value) => value.replace(/,\s*/g, ',')],
  [
    'the members of {part} were joined with another separator: {instead}',
    (value) => [';', '; ', '', ' ', '\n', '|'].map((separator) => value.replace(/,\s*/g, separator)),
  ],
  ['only the first member of {part} was signed', (value) => value.replace(/,.*$/s, '')],
  ['only the last member of {part} was signed', (value) => value.replace(/^.*,\s*/s, '')],
  [
    'the members of {part} were sorted before they were signed',
    (value) => value.split(/,\s*/).sort().join(', '),
  ],
  ['{part} was signed as its base64 alone', (value) => /=:([^:]*):/.exec(value)?.[1]],
  ['{part} was signed in quotes', (value) => `"${value}"`],
  ['{part} was signed as empty', () => ''],
  unset,
  [
    '{part} was signed as a number of characters; it is that of bytes',
    (_, { header = '', content }) =>
      header.toLowerCase() === 'content-length' ? String(Buffer.from(content).toString().length) : undefined,
  ],
  [
    '{part} was changed after signing, by the client library or a proxy: {signed} was signed',
    (_, { header = '' }) => libraryValues.get(header.toLowerCase()),
  ],
  [
    '{part} was signed with another form of its parameters: {signed} was signed',
    (value, { header = '' }) => (header.toLowerCase() === 'content-type' ? typeForms(value) : undefined),
  ],
];

function typeForms(value: string): string[] {
  const [type = '', ...parameters] = value.split(/;\s*/);
  const lower = parameters.map((each) => each.toLowerCase());
  const upper = parameters.map((each) => each.replace(/=.*/, (all) => all.toUpperCase()));
  return [
    ...[parameters, lower, upper].flatMap((each) => [[type, ...each].join(';'), [type, ...each].join('; ')]),
    `${type};charset=UTF-8`,
    `${type}; charset=UTF-8`,
    `${type};charset=utf-8`,
    `${type}; charset=utf-8`,
  ];
}

/** The base64 of a digest. */
const base64Text = /[A-Za-z0-9+/]{22,}={0,2}/;

/** The mistakes in a field that contains a digest of the content (RFC 9530 §2). */
const digestFieldMistakes: readonly Mistake[] = [
  unset,
  [
    'Content-Digest was sent twice and joined (Headers.append?), but only one value was signed',
    (value) => value.split(', '),
  ],
  [
    'the bare digest of the content was signed instead of the value of Content-Digest as sent',
    (value) => parseBareDigests(value),
  ],
  [
    'the digest of the content was signed in hexadecimal; it is sent in base64',
    (value) => value.replace(base64Text, (base64) => Buffer.from(base64, 'base64').toString('hex')),
  ],
  [
    'the name of the algorithm in the digest was signed in another letter case',
    (value) => [
      value.replace(/^[\w-]+=/, (name) => name.toLowerCase()),
      value.replace(/^[\w-]+=/, (name) => name.toUpperCase()),
    ],
  ],
  [
    'the digest of the content was signed, but that of other content was sent',
    (value, { content }) => {
      const [, bits] = /^sha-(256|512)=/i.exec(value) ?? [];
      if (bits === undefined) return undefined;
      return value.replace(base64Text, createHash(`sha${bits}`).update(content).digest('base64'));
    },
  ],
];

function parseBareDigests(value: string): string[] {
  const [, base64] = /:([A-Za-z0-9+/]*={0,2}):/.exec(value) ?? [];
  if (base64 === undefined) return [];
  const digest = Buffer.from(base64, 'base64');
  const hex = digest.toString('hex');
  return [base64, hex, hex.toUpperCase(), digest.toString('base64url')];
}

const tokenMistakes: readonly Mistake[] = [
  ['{part} was signed in lower case', (value) => value.toLowerCase()],
  ['{part} was signed in upper case', (value) => value.toUpperCase()],
  [
    '{part} was percent-encoded before it was signed',
    (value) => [
      encodeURIComponent(value),
      value.replace(/[._~-]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`),
    ],
  ],
  ['{part} was signed in quotes', (value) => `"${value}"`],
  ['{part} was signed without its prefix', (value) => value.replace(/^[A-Za-z]{2,8}_/, '')],
  unset,
];

/** How programs write a word of JSON. */
const otherWords: Readonly<Record<string, readonly string[]>> = {
  '': [...unsetWords, 'NULL'],
  true: ['True', '1', 'yes'],
  false: ['False', '0', 'no'],
};

/** The mistakes in a member of the content, and in a part that is none of the others. */
const memberMistakes: readonly Mistake[] = [
  ['{part} was signed as {signed}', (value) => otherWords[value]],
  [
    '{part} was signed with "\\" before each ":" and "\\"; sign it as it is',
    (value) => value.replace(/[\\:]/g, '\\$&'),
  ],
  ['{part} was signed in another notation: {signed}', (value) => listNotations(value)],
  ['{part} was left out of the message', () => ''],
  ...tokenMistakes,
];

/** Returns other notations of a number, also as an amount in units of a hundred. */
function listNotations(value: string): string[] | undefined {
  if (!/^-?\d{1,15}(?:\.\d{1,15})?$/.test(value)) return undefined;
  const scaled = [Number(value) / 100, Number(value) * 100];
  return [
    ...numberNotations.map((write) => write(value)),
    ...scaled.flatMap((n) => [String(n), n.toFixed(2)]),
    value.replace('.', ','),
  ];
}

const none: readonly Mistake[] = [];

/** The catalogue. */
export const partMistakes: Readonly<Record<PartKind, readonly Mistake[]>> = {
  text: none,
  method: methodMistakes,
  target: targetMistakes,
  path: pathMistakes,
  query: queryMistakes,
  search: searchMistakes,
  url: urlMistakes,
  host: hostMistakes,
  header: headerMistakes,
  time: [...timeMistakes, unset],
  nonce: tokenMistakes,
  id: tokenMistakes,
  user: tokenMistakes,
  content: contentMistakes,
  digest: digestFieldMistakes,
  form: none,
  secret: none,
  other: memberMistakes,
};

/** Returns the values that clients sign in place of a part, most likely first. */
export function variantsOfPart(part: Part, facts: Facts): Iterable<Variant> {
  if (part.kind === 'digest' && part.digest !== undefined) return digestMistakes(part.digest, facts.content);
  if (part.kind === 'form') return twilioVariants(octetsOfPiece(part.value), facts);
  const known = part.kind === 'header' ? { ...facts, header: parseFieldName(part) } : facts;
  return listVariants(partMistakes[part.kind], formatLabel(part), octetsOfPiece(part.value), known);
}

/** The mistakes that are tried after all others, because they are many. */
export const furtherMistakes: Readonly<Partial<Record<PartKind, readonly Mistake[]>>> = {
  host: furtherHostMistakes,
  path: furtherPathMistakes,
  query: furtherQueryMistakes,
  search: embedMistakes(furtherQueryMistakes, (search) => ['?', search.slice(1), '']),
  target: furtherTargetMistakes,
  url: furtherUrlMistakes,
  content: furtherContentMistakes,
  time: furtherTimeMistakes,
};

/** Returns further values that clients sign in place of a part. */
export function furtherVariantsOfPart(part: Part, facts: Facts): Iterable<Variant> {
  const { content } = facts;
  if (part.kind === 'digest' && part.digest !== undefined) return furtherDigestMistakes(part.digest, content);
  if (part.kind === 'form') return furtherTwilioVariants(facts);
  return listVariants(
    furtherMistakes[part.kind] ?? none,
    formatLabel(part),
    octetsOfPiece(part.value),
    facts,
  );
}
