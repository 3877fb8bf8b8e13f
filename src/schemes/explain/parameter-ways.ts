// The ways in which programs make the steps of parameters, each with the hint at it.

import type { JsonNode } from '../../http/json.ts';
import { decodeEscapes, encodeOctets, mapEscapes } from '../../http/syntax/percent.ts';
import { encoders } from './encoders.ts';
import { createObject, numberNotations, readJsonNode, writeUsualJson } from './json-writers.ts';
import { permutations } from './mistake.ts';
import {
  all,
  type Convert,
  decodeForm,
  keep,
  maxCostly,
  type Pair,
  type Pairs,
  type Row,
  type Steps,
} from './parameter-steps.ts';

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
export function keepDistinct(pairs: Pairs): Pairs[] {
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
export const selections: readonly Row[] = [
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

const lineFeed = (ending: string): string => (ending.startsWith('%') ? '%0A' : '\n');

const pythonWords: ReadonlyMap<string, string> = new Map([
  ['true', 'True'],
  ['false', 'False'],
  ['null', 'None'],
]);

/** Lists and numbers in other forms, and a parameter that is missing. */
export const rewritings: readonly Row[] = [
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
  [
    'values{in} were signed as Python writes them: True, False and None',
    {
      select: (pairs) => [pairs.map(([name, value]): Pair => [name, pythonWords.get(value ?? '') ?? value])],
    },
  ],
  [
    'line endings{in} were signed as LF, and sent as CR LF',
    {
      select: (pairs) => [
        pairs.map(([name, value]): Pair => [name, value?.replace(/\r\n|%0D%0A/gi, lineFeed)]),
      ],
    },
  ],
  ['the parameter {parameter} was left out, or added after signing', { select: omitEach }],
];

// Ways to order.

/** Returns a function that sorts by keys, of which the later ones decide where the earlier ones are equal. */
export function sortBy(...keys: ((pair: Pair) => string)[]): (pairs: Pairs) => Pairs[] {
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

export const nameOf = ([name]: Pair): string => name;
export const textOf = ([, value = '']: Pair): string => value;

/** Sorts by name, then by value. */
export const sortByNameAndValue = sortBy(nameOf, textOf);

export const sortAsText = sortBy(writePair);

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

export const orders: readonly Row[] = [
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

export function writePair([name, value]: Pair): string {
  return value === undefined ? name : `${name}=${value}`;
}

/** Returns a function that joins names and values with a text, and parameters with another one. */
export function joinWith(inner: string, outer: string): (pairs: Pairs) => string[] {
  return (pairs) => [pairs.map(([name, value = '']) => name + inner + value).join(outer)];
}

/** Writes parameters as in a query. */
export function writeQuery(pairs: Pairs): string[] {
  return [pairs.map(writePair).join('&')];
}

export const writings: readonly Row[] = [
  ['the parameters{of} were joined with "=" and "&"', { write: joinWith('=', '&') }],
  [
    'a parameter{of} without a value was signed without its equals sign "="',
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
  [
    'the parameters{of} were joined with other separators than "=" and "&"',
    ...[';', '|', ',', '\n', '; ', ', '].map((outer) => ({ write: joinWith('=', outer) })),
    ...['&', ';', '|', ',', '\n'].map((outer) => ({ write: joinWith(':', outer) })),
  ],
  ['only the values{of} were signed', { write: (pairs) => [pairs.map(textOf).join('')] }],
  [
    'only the values{of} were signed, joined with another text',
    ...['&', ',', '|', ':', '.', '\n', '+', '-'].map((outer) => ({
      write: (pairs: Pairs) => [pairs.map(textOf).join(outer)],
    })),
  ],
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
export function* writeObjects(pairs: Pairs): Generator<string> {
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

/** Writes escapes with digits in lower case. */
export function toLowerCaseEscapes(octets: string): string {
  return mapEscapes(octets, (octet) => octet.toLowerCase());
}

const twice: Convert = (octets) => encodeOctets(encodeOctets(octets));

/** Returns the mistakes in the encoding of the names, of the values, and of both. */
export function listEncodings(right: Steps): readonly Row[] {
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
export function listEncoders(hint: (name: string) => string, others: Partial<Steps> = {}): readonly Row[] {
  return encoders.map(({ name, encode }): Row => {
    const ofValues: Convert = (octets, isValue) => (isValue ? encode(octets) : octets);
    return [
      hint(name),
      { ...others, limit: maxCostly, decode: decodeForm, encode },
      { ...others, limit: maxCostly, decode: decodeForm, encode: ofValues },
    ];
  });
}
