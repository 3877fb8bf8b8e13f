// Parameters in the forms in which programs sign them: those of a query, of a form, or the members of JSON. A text is split, its names and
// values are decoded, some are selected, encoded, ordered and written. A mistake is a step that was made in another way than the right one,
// and the ways are the same for all places and schemes.

import type { JsonNode } from '../../http/json.ts';
import { decodeEscapes, decodeOctets, encodeOctets } from '../../http/syntax/percent.ts';
import { encoders } from './encoders.ts';
import { createObject, listMembers, numberNotations, readJsonNode, writeUsualJson } from './json-writers.ts';
import { permutations, type TextMistake } from './mistake.ts';

/** A parameter, each octet of which is one character. Without a value it is written without "=". */
export type Pair = readonly [name: string, value?: string | undefined];
export type Pairs = readonly Pair[];

/** Changes the octets of a name or a value; undefined if that is impossible. */
type Convert = (octets: string, isValue: boolean) => string | undefined;

/** The steps that make a text of parameters. Where clients do several things that one hint describes, a step has several results. */
export interface Steps {
  /** The largest number of parameters with which the steps are made. Default: no limit. */
  readonly limit?: number;
  readonly split: (text: string) => Pairs | undefined;
  readonly decode: Convert;
  readonly select: (pairs: Pairs) => Iterable<Pairs>;
  readonly encode: Convert;
  readonly order: (pairs: Pairs) => Iterable<Pairs>;
  readonly write: (pairs: Pairs) => Iterable<string>;
}

/**
 * A mistake: a hint, and the steps that are made otherwise. In a hint, `{of}` and `{in}` are ` of the query` and ` in the query`, for
 * instance, or nothing.
 */
type Row = readonly [hint: string, ...ways: Partial<Steps>[]];

/** The largest number of parameters with which steps are made that take as long as hundreds of verifications. */
const maxCostly = 256;

const keep = (octets: string): string => octets;
const all = (pairs: Pairs): Pairs[] => [pairs];

/** Decodes as in a form. */
export function decodeForm(octets: string): string | undefined {
  return decodeOctets(octets.replaceAll('+', ' '));
}

/** Splits parameters, with empty ones. */
function split(text: string): Pairs {
  return text.split('&').map((parameter): Pair => {
    const equals = parameter.indexOf('=');
    return equals < 0 ? [parameter] : [parameter.slice(0, equals), parameter.slice(equals + 1)];
  });
}

/** Returns whether a content can be a form. */
export function isForm(content: string): boolean {
  return content.includes('=') && /^[!-~]+$/.test(content);
}

function splitForm(content: string): Pairs | undefined {
  return isForm(content) ? split(content) : undefined;
}

/** Returns the members of a JSON object as parameters; undefined if the content is none. */
export function readMembers(content: string): Pairs | undefined {
  const node = readJsonNode(content);
  return node && listMembers(node);
}

/** Returns the fields of multipart/form-data (RFC 7578) that are texts; undefined if the content is none. */
export function readMultipart(content: string): Pairs | undefined {
  const [boundary] = /^--[^\r\n]{1,70}/.exec(content) ?? [];
  if (boundary === undefined) return undefined;
  return content.split(boundary).flatMap((part): Pairs => {
    const end = part.indexOf('\r\n\r\n');
    const [, name] = /\bname="([^"\r\n]*)"/.exec(part.slice(0, Math.max(end, 0))) ?? [];
    return name === undefined ? [] : [[name, part.slice(end + 4).replace(/\r\n$/, '')]];
  });
}

/** Returns the decoded parameters of a form; undefined if the content is none. */
export function readForm(content: string): Pairs | undefined {
  return convertAll(splitForm(content), decodeForm);
}

// Ways to select.

/** Returns the first of the parameters with one key. */
function keepFirst(pairs: Pairs, key: (pair: Pair) => string = ([name]) => name): Pairs {
  const keys = new Set<string>();
  return pairs.filter((pair) => keys.size < keys.add(key(pair)).size);
}

/** Returns the values of each name, which is written without brackets if they are ignored. */
function groupValues(pairs: Pairs, ignored?: RegExp): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const [written, value = ''] of pairs) {
    const name = ignored === undefined ? written : written.replace(ignored, '');
    const own = values.get(name);
    if (own === undefined) values.set(name, [value]);
    else own.push(value);
  }
  return values;
}

/** Returns the parameters with the values of each name joined. */
function joinRepeated(pairs: Pairs, separator: string): Pairs {
  return Array.from(groupValues(pairs), ([name, values]): Pair => [name, values.join(separator)]);
}

/** Returns the parameters without repetitions of name and value. */
function keepDistinct(pairs: Pairs): Pairs[] {
  return [keepFirst(pairs, (pair) => JSON.stringify(pair))];
}

const brackets = /(?:\[\w*\]|%5B\w*%5D)$/i;

/** Returns a function that writes lists otherwise: parameters that occur several times or have brackets, then all, as a list may have one value. */
function rewriteLists(write: (name: string, values: readonly string[]) => Pairs): Steps['select'] {
  return (pairs) => {
    const values = groupValues(pairs, brackets);
    const names = pairs.map(([name]) => name.replace(brackets, ''));
    const lists = new Set(
      names.filter((name, at) => name !== pairs[at]?.[0] || (values.get(name)?.length ?? 0) > 1),
    );
    const rewrite = (isList: (name: string) => boolean): Pairs =>
      [...values].flatMap(([name, own]): Pairs => (isList(name) ? write(name, own) : [[name, own[0] ?? '']]));
    return [...(lists.size > 0 ? [rewrite((name) => lists.has(name))] : []), rewrite(() => true)];
  };
}

const renameEach = (rename: (name: string, at: number) => string): Steps['select'] =>
  rewriteLists((name, values) => values.map((value, at): Pair => [rename(name, at), value]));
const joinEach = (separator: string): Steps['select'] =>
  rewriteLists((name, values) => [[name, values.join(separator)]]);

/** Returns the parameters with their fractions, or all their numbers, in other notations. */
function rewriteNumbers(pairs: Pairs): Pairs[] {
  const rewrite = (number: RegExp, notation: (digits: string) => string): Pairs =>
    pairs.map(([name, value]) =>
      value !== undefined && number.test(value) ? [name, notation(value)] : [name, value],
    );
  return numberNotations.flatMap((notation) => [
    rewrite(/^-?\d{1,15}\.\d{1,15}$/, notation),
    rewrite(/^-?\d{1,15}(?:\.\d{1,15})?$/, notation),
  ]);
}

/** The largest number of parameters of which each one is left out. */
const maxLeftOut = 32;

/** Yields the parameters without each one, and without each name that occurs several times. */
function* omitEach(pairs: Pairs): Generator<Pairs> {
  if (pairs.length < 2) return;
  const tried = pairs.slice(0, maxLeftOut);
  for (const [at, [name]] of tried.entries()) {
    yield pairs.toSpliced(at, 1);
    yield pairs.filter(([other]) => other !== name);
  }
}

/** Other choices of parameters. */
const selections: readonly Row[] = [
  ['repeated parameters{of} were signed more than once', { select: all }],
  ['repeated parameters{of} with the same value were signed once', { select: keepDistinct }],
  [
    'empty parameters{of} were left out',
    { select: (pairs) => [pairs.filter(([, value = '']) => value !== '')] },
  ],
  [
    'a repeated parameter{of} was reduced to one value before it was signed',
    { select: (pairs) => [keepFirst(pairs), keepFirst(pairs.toReversed()).toReversed()] },
  ],
  [
    'the values of a repeated parameter{of} were joined',
    { select: (pairs) => [',', ''].map((separator) => joinRepeated(pairs, separator)) },
  ],
  [
    'the brackets in the names{of} were left out',
    { select: (pairs) => [pairs.map(([name, value]) => [name.replace(/\[\w*\]|%5B\w*%5D/gi, ''), value])] },
  ],
];

/** Lists and numbers in other forms, and a parameter that is missing. */
const rewritings: readonly Row[] = [
  [
    'a list{in} was signed with "[]" after its name; sign what is sent',
    { select: renameEach((name) => `${name}[]`) },
    { select: renameEach((name) => `${name}%5B%5D`) },
  ],
  [
    'a list{in} was signed with an index after its name; sign what is sent',
    { select: renameEach((name, at) => `${name}[${at}]`) },
    { select: renameEach((name, at) => `${name}%5B${at}%5D`) },
  ],
  [
    'a list{in} was signed as one value with commas; sign what is sent',
    { select: joinEach(',') },
    { select: joinEach('%2C') },
  ],
  ['numbers{in} were signed in another notation', { select: rewriteNumbers }],
  ['the parameter {parameter} was left out, or added after signing', { select: omitEach }],
];

// Ways to order.

/** Returns a function that sorts by keys, of which the later ones decide where the earlier ones are equal. */
function sortBy(...keys: ((pair: Pair) => string)[]): (pairs: Pairs) => Pairs[] {
  return (pairs) => [
    pairs.toSorted((one, other) => {
      for (const key of keys) {
        const [own, another] = [key(one), key(other)];
        if (own !== another) return own < another ? -1 : 1;
      }
      return 0;
    }),
  ];
}

const nameOf = ([name]: Pair): string => name;
const textOf = ([, value = '']: Pair): string => value;

/** Sorts by name, then by value. */
const sortByNameAndValue = sortBy(nameOf, textOf);

const sortAsText = sortBy(writePair);

function sortByNumbers(pairs: Pairs): Pairs[] {
  return [
    pairs.toSorted((one, other) => {
      const [[name, value = ''], [otherName, otherValue = '']] = [one, other];
      if (name !== otherName) return name < otherName ? -1 : 1;
      return Number(value) - Number(otherValue) || (value < otherValue ? -1 : 1);
    }),
  ];
}

/** Returns a function that sorts as `localeCompare` does, with digits as numbers if that is chosen. */
function sortByLanguage(numeric: boolean): (pairs: Pairs) => Pairs[] {
  const { compare } = new Intl.Collator('en', { numeric });
  return (pairs) => [
    pairs.toSorted(
      ([name, value = ''], [otherName, otherValue = '']) =>
        compare(name, otherName) || compare(value, otherValue),
    ),
  ];
}

/** The largest number of parameters of which all orders are tried. */
const maxOrdered = 4;

function listOrders(pairs: Pairs): Pairs[] {
  return pairs.length > maxOrdered ? [pairs.toReversed()] : permutations(pairs);
}

const orders: readonly Row[] = [
  ['the parameters{of} were not sorted', { order: all }],
  ['the parameters{of} were sorted as text, not by name and then by value', { order: sortAsText }],
  [
    'the parameters{of} were sorted without regard to letter case',
    { order: sortBy((pair) => nameOf(pair).toLowerCase(), textOf) },
    { order: sortBy((pair) => writePair(pair).toLowerCase()) },
  ],
  ['the parameters{of} were sorted by name, but not the values of a repeated one', { order: sortBy(nameOf) }],
  [
    'the parameters{of} were sorted by name, and their values as numbers; values are sorted as text',
    { order: sortByNumbers },
  ],
  [
    'the parameters{of} were sorted by the rules of a language (localeCompare); sort their octets',
    { limit: maxCostly, order: sortByLanguage(false) },
    { limit: maxCostly, order: sortByLanguage(true) },
  ],
  [
    'the parameters{of} were sorted in reverse',
    { order: (pairs) => sortByNameAndValue(pairs).map((sorted) => sorted.toReversed()) },
  ],
  ['the parameters{of} were signed in another order', { order: listOrders }],
];

// Ways to write.

function writePair([name, value]: Pair): string {
  return value === undefined ? name : `${name}=${value}`;
}

/** Returns a function that joins names and values with a text, and parameters with another one. */
function joinWith(inner: string, outer: string): (pairs: Pairs) => string[] {
  return (pairs) => [pairs.map(([name, value = '']) => name + inner + value).join(outer)];
}

/** Writes parameters as in a query. */
function writeQuery(pairs: Pairs): string[] {
  return [pairs.map(writePair).join('&')];
}

const writings: readonly Row[] = [
  ['the parameters{of} were joined with "=" and "&"', { write: joinWith('=', '&') }],
  [
    'a parameter{of} without a value was signed without its "="',
    { write: (pairs) => writeQuery(pairs.map(([name, value]) => [name, value === '' ? undefined : value])) },
  ],
  [
    'a parameter{of} without a value was signed with a "="',
    {
      write: (pairs) => writeQuery(pairs.map(([name, value]) => [name, name === '' ? value : (value ?? '')])),
    },
  ],
  ['names and values{of} were signed without "=" and "&"', { write: joinWith('', '') }],
  ['the parameters{of} were joined with "="', { write: joinWith('=', '') }],
  ['the parameters{of} were joined with "&"', { write: joinWith('', '&') }],
  ['the parameters{of} were joined with ":"', { write: joinWith(':', '') }],
  ['only the values{of} were signed', { write: (pairs) => [pairs.map(textOf).join('')] }],
  ['only the names{of} were signed', { write: (pairs) => [pairs.map(nameOf).join('')] }],
  [
    '"&" between the parameters{of} was escaped for HTML',
    { write: (pairs) => [pairs.map(writePair).join('&amp;')] },
  ],
];

/** Returns parameters as an object of JSON, with their values as texts. */
export function toObject(pairs: Pairs, read = toText): JsonNode {
  return createObject(pairs.map(([name, value = '']) => [toUtf8(name), read(value)]));
}

/** Writes parameters as objects of JSON, with their values as texts, and as numbers where they are some. */
function* writeObjects(pairs: Pairs): Generator<string> {
  for (const read of [toText, toLiteral]) yield* writeUsualJson(toObject(pairs, read));
}

function toText(octets: string): JsonNode {
  return { kind: 'string', at: 0, text: toUtf8(octets) };
}

function toLiteral(octets: string): JsonNode {
  const isLiteral = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?|true|false|null)$/.test(octets);
  return (isLiteral ? readJsonNode(octets) : undefined) ?? toText(octets);
}

function toUtf8(octets: string): string {
  return Buffer.from(octets, 'latin1').toString('utf8');
}

// Ways to decode and to encode.

const twice: Convert = (octets) => encodeOctets(encodeOctets(octets));

/** Returns the mistakes in the encoding of the names, of the values, and of both. */
function listEncodings(right: Steps): readonly Row[] {
  const dids: readonly (readonly [did: string, ...ways: (readonly [decode: Convert, encode: Convert])[]])[] =
    [
      ['percent-encoded twice', [keep, encodeOctets], [decodeForm, twice]],
      ['signed as they were sent', [keep, keep]],
      ['not percent-encoded', [decodeForm, keep]],
    ];
  const rows = dids.flatMap(([did, ...ways]) =>
    (['names', 'values', 'names and values'] as const).map((what): Row => {
      const choose =
        (changed: Convert, own: Convert): Convert =>
        (octets, isValue) =>
          (what === (isValue ? 'names' : 'values') ? own : changed)(octets, isValue);
      return [
        `the ${what} of the parameters{in} were ${did}`,
        ...ways.map(([decode, encode]) => ({
          limit: maxCostly,
          decode: choose(decode, right.decode),
          encode: choose(encode, right.encode),
        })),
      ];
    }),
  );
  return [
    ['"+"{in} was not decoded as a space', { decode: decodeEscapes }],
    ...rows,
    ['the parameters{of} were decoded twice', { decode: (octets) => decodeForm(decodeForm(octets) ?? '') }],
  ];
}

/** Returns the mistakes of the encoders that programs use. */
function listEncoders(hint: (name: string) => string, others: Partial<Steps> = {}): readonly Row[] {
  return encoders.map(({ name, encode }): Row => {
    const ofValues: Convert = (octets, isValue) => (isValue ? encode(octets) : octets);
    return [
      hint(name),
      { ...others, limit: maxCostly, decode: decodeForm, encode },
      { ...others, limit: maxCostly, decode: decodeForm, encode: ofValues },
    ];
  });
}

// The places.

/** Parameters that are signed as they are sent. */
const asSent: Steps = { split, decode: keep, select: all, encode: keep, order: all, write: writeQuery };

/** Parameters that are encoded again and sorted by name and value, as AWS and OAuth 1.0a require. */
export const canonical: Steps = {
  split: (text) => split(text).filter(([name, value]) => name !== '' || value !== undefined),
  decode: decodeForm,
  select: all,
  encode: encodeOctets,
  order: sortByNameAndValue,
  write: joinWith('=', '&'),
};

/** The parameters of Twilio: decoded, without repetitions, sorted by name and value, names and values without separators. */
export const ofTwilio: Steps = {
  limit: 64,
  split: splitForm,
  decode: decodeForm,
  select: keepDistinct,
  encode: keep,
  order: sortByNameAndValue,
  write: joinWith('', ''),
};

const objects: Partial<Steps> = {
  limit: maxCostly,
  decode: decodeForm,
  select: all,
  encode: keep,
  order: all,
  write: writeObjects,
};
const asObjects: Row = ['the parameters{of} were signed as JSON', objects];

const areSorted: Row = [
  'the parameters{of} were sorted before they were signed',
  { order: sortAsText },
  { order: sortByNameAndValue },
  { order: sortBy(nameOf) },
];

/** The mistakes in the order, the choice and the form of the parameters of a query that are signed as they are sent. */
export const queryForms = listMistakes('query', asSent, [
  areSorted,
  ...orders,
  ...writings,
  ...selections,
  asObjects,
  ...rewritings,
]);

/** The parameters of a query as JSON, which stands after the path. */
export const queryObjects = listMistakes('query', asSent, [
  ['the parameters of the query were signed as JSON after the path', objects],
]);

/** The mistakes in the encoding of the parameters of a query that are signed as they are sent. */
export const queryEncodings = listMistakes('query', asSent, [
  ...listEncoders(
    (name) => `the query was parsed and serialized again before it was signed, as by ${name}: {instead}`,
    {
      write: joinWith('=', '&'),
    },
  ),
  ...listEncodings(asSent),
]);

/** The mistakes in a form that is signed as it is sent. */
export const formMistakes = listMistakes('form', { ...asSent, split: splitForm }, [
  ...listEncoders(
    (name) =>
      `the form was parsed and serialized again before it was signed, as by ${name}: {instead}; sign the bytes that are sent`,
    { write: joinWith('=', '&') },
  ),
  ['the form was decoded before it was signed', { decode: decodeForm, write: joinWith('=', '&') }],
  areSorted,
  [
    'the value of the only parameter of the form was signed; sign the bytes of the form that are sent',
    { decode: decodeForm, write: (pairs) => (pairs.length > 1 ? [] : pairs.map(textOf)) },
  ],
  asObjects,
  ...orders,
  ...selections,
  ...writings,
  ...rewritings,
  ...listEncodings(asSent),
]);

/** Returns the mistakes in the encoding of parameters that are encoded again, of one place or of several. */
export function listEncodingMistakes(name: string | undefined, steps: Steps): readonly TextMistake[] {
  return listMistakes(name, steps, [
    ...listEncoders((program) => `the parameters{of} were percent-encoded as by ${program}: {instead}`),
    ...listEncodings(steps),
  ]);
}

/** Returns the mistakes in parameters that are encoded again and sorted. */
export function listCanonicalMistakes(name: 'query' | undefined, steps: Steps): readonly TextMistake[] {
  return [
    ...listMistakes(name, steps, orders),
    ...listEncodingMistakes(name, steps),
    ...listMistakes(name, steps, [...selections, ...writings, asObjects, ...rewritings]),
  ];
}

const twilioRows: readonly Row[] = [
  ['the members of the JSON were signed as the parameters of a form', { split: readMembers, decode: keep }],
  [
    'the fields of the multipart content were signed as the parameters of a form',
    { split: readMultipart, decode: keep },
  ],
  ...listEncodings(ofTwilio),
  ...selections,
  ...orders,
  ...writings,
];

/** The mistakes in the parameters of a form that are signed without separators. */
export const twilioMistakes = listMistakes('form', ofTwilio, [
  ...twilioRows,
  asObjects,
  ...listEncoders((name) => `the parameters{of} were percent-encoded as by ${name}: {instead}`),
  ...rewritings.slice(0, -1),
]);

/** Two mistakes at once in these parameters. */
export const twilioPairs = listMistakes('form', ofTwilio, listPairs(twilioRows));

/** Returns two mistakes at once, in different steps. */
function listPairs(rows: readonly Row[]): Row[] {
  return rows.flatMap(([hint, ...ways], at) =>
    rows.slice(at + 1).map(([other, ...otherWays]): Row => {
      const both = ways.flatMap((one) =>
        otherWays.flatMap((another) =>
          Object.keys(one).some((step) => step in another) ? [] : [{ ...one, ...another }],
        ),
      );
      return [`${hint}; and ${other}`, ...both];
    }),
  );
}

/** Returns parameters in the forms in which clients sign them in place of what is sent, in their order and sorted. */
export function listTexts(pairs: Pairs | undefined): string[] {
  if (pairs === undefined || pairs.length === 0) return [];
  const ways = [
    ...writings.flatMap(([, ...each]) => each),
    ...encoders.map(({ encode }) => ({ encode, write: joinWith('=', '&') })),
  ];
  return [all, sortBy(nameOf)].flatMap((order) =>
    ways.flatMap((way) => [...makeTexts('', { ...asSent, split: () => pairs, order, ...way })]),
  );
}

/** Returns mistakes in the parameters of a place, which stand in several places if it has no name. */
function listMistakes(name: string | undefined, right: Steps, rows: readonly Row[]): readonly TextMistake[] {
  const [ofPlace, inPlace] = name === undefined ? ['', ''] : [` of the ${name}`, ` in the ${name}`];
  return rows.map(([hint, ...ways]): TextMistake => {
    const made = ways.map((way): Steps => ({ ...right, ...way }));
    return [
      hint.replaceAll('{of}', ofPlace).replaceAll('{in}', inPlace),
      function* (text) {
        for (const steps of text === '' ? [] : made) yield* makeTexts(text, steps);
      },
    ];
  });
}

/** Yields the texts that steps make. */
export function* makeTexts(text: string, steps: Steps): Generator<string> {
  const pairs = steps.split(text);
  if (pairs === undefined || pairs.length > (steps.limit ?? Number.POSITIVE_INFINITY)) return;
  const decoded = convertAll(pairs, steps.decode);
  for (const selected of decoded === undefined ? [] : steps.select(decoded)) {
    const encoded = convertAll(selected, steps.encode);
    for (const ordered of encoded === undefined ? [] : steps.order(encoded)) yield* steps.write(ordered);
  }
}

function convertAll(pairs: Pairs | undefined, convert: Convert): Pairs | undefined {
  if (pairs === undefined || convert === keep) return pairs;
  const converted: Pair[] = [];
  for (const [name, value] of pairs) {
    const [ownName, ownValue] = [
      convert(name, false),
      value === undefined ? undefined : convert(value, true),
    ];
    if (ownName === undefined || (ownValue === undefined && value !== undefined)) return undefined;
    converted.push(ownValue === undefined ? [ownName] : [ownName, ownValue]);
  }
  return converted;
}
