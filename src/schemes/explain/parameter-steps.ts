// The steps that make a text of parameters: they are read, selected, ordered and written. Each step has the ways that clients take by
// mistake; a mistake is one or two steps that were made in another way.
import { parseFormOctets, splitPairs } from '../../http/form.ts';
import { decodeEscapes } from '../../http/syntax/percent.ts';
import { listMembers, readJsonNode } from './json-writers.ts';
import { describe, type Variant } from './mistake.ts';

/** Parameters in their order, each octet of which is one character. */
export type Pairs = readonly (readonly [name: string, value: string])[];

/** A way to make a step: what a hint says of it, and what it does. */
type Way<Step> = readonly [did: string, step: Step];

/** The steps, each with the right way first, which has no hint. */
interface Steps {
  readonly read: readonly Way<(content: string) => Pairs | undefined>[];
  readonly select: readonly Way<(pairs: Pairs) => Pairs>[];
  readonly order: readonly Way<(pairs: Pairs) => Pairs>[];
  readonly write: readonly Way<(pairs: Pairs) => string>[];
}

function change(pairs: Pairs | undefined, text: (octets: string) => string): Pairs | undefined {
  return pairs?.map(([name, value]) => [text(name), text(value)]);
}

function readMembers(content: string): Pairs | undefined {
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

function readForm(content: string): Pairs | undefined {
  return isForm(content) ? parseFormOctets(content) : undefined;
}

function keepDistinct(pairs: Pairs): Pairs {
  return pairs.filter(
    ([name, value], at) => !pairs.slice(0, at).some((other) => other[0] === name && other[1] === value),
  );
}

/** Keeps the first of the parameters with one name. */
function keepFirst(pairs: Pairs): Pairs {
  const names = new Set<string>();
  return pairs.filter(([name]) => names.size < names.add(name).size);
}

function joinRepeated(pairs: Pairs, separator: string): Pairs {
  return keepFirst(pairs).map(([name]) => [
    name,
    pairs
      .filter(([other]) => other === name)
      .map(([, value]) => value)
      .join(separator),
  ]);
}

function sortBy(key: (name: string) => string): (pairs: Pairs) => Pairs {
  const rank = ([name, value]: readonly [string, string]): string => `${key(name)}\0${value}`;
  return (pairs) => pairs.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1));
}

const sortByName = sortBy((name) => name);

function joinPlain(pairs: Pairs): string {
  return pairs.flat().join('');
}

/** The steps of Twilio: decoded, without repetitions, sorted by name and then by value, names and values without separators. */
const formSteps: Steps = {
  read: [
    ['', readForm],
    ['the parameters of the form were not decoded', splitForm],
    ['"+" in the form was not decoded as a space', (form) => change(splitForm(form), decodeEscapes)],
    ['the form was decoded twice', (form) => change(change(splitForm(form), decodeText), decodeText)],
    ['the members of the JSON were signed as the parameters of a form', readMembers],
    ['the fields of the multipart content were signed as the parameters of a form', readMultipart],
  ],
  select: [
    ['', keepDistinct],
    ['repeated parameters of the form were signed more than once', (pairs) => pairs],
    ['empty parameters of the form were left out', (pairs) => pairs.filter(([, value]) => value !== '')],
    ['a repeated parameter of the form was reduced to one value', keepFirst],
    ['a repeated parameter of the form was reduced to one value', (pairs) => keepFirst(pairs.toReversed())],
    ['the values of a repeated parameter were joined', (pairs) => joinRepeated(pairs, ',')],
    ['the values of a repeated parameter were joined', (pairs) => joinRepeated(pairs, '')],
    [
      'the brackets in the names of the form were left out',
      (pairs) => pairs.map(([name, value]) => [name.replace(/\[\w*\]/g, ''), value]),
    ],
  ],
  order: [
    ['', sortByName],
    ['the parameters of the form were not sorted', (pairs) => pairs],
    [
      'the parameters of the form were sorted without regard to letter case',
      sortBy((name) => name.toLowerCase()),
    ],
    ['the parameters of the form were sorted in reverse', (pairs) => sortByName(pairs).toReversed()],
  ],
  write: [
    ['', joinPlain],
    ['the parameters of the form were joined with "=" and "&"', (pairs) => joinWith(pairs, '=', '&')],
    ['the parameters of the form were joined with "="', (pairs) => joinWith(pairs, '=', '')],
    ['the parameters of the form were joined with "&"', (pairs) => joinWith(pairs, '', '&')],
    ['the parameters of the form were joined with ":"', (pairs) => joinWith(pairs, ':', '')],
    ['only the values of the form were signed', (pairs) => pairs.map(([, value]) => value).join('')],
    ['only the names of the form were signed', (pairs) => pairs.map(([name]) => name).join('')],
  ],
};

/** Returns whether a content can be a form. */
export function isForm(content: string): boolean {
  return content.includes('=') && /^[!-~]+$/.test(content);
}

function splitForm(content: string): Pairs | undefined {
  return isForm(content) ? splitPairs(content) : undefined;
}

function decodeText(text: string): string {
  return decodeEscapes(text.replaceAll('+', ' '));
}

function joinWith(pairs: Pairs, inner: string, outer: string): string {
  return pairs.map((pair) => pair.join(inner)).join(outer);
}

/** Names of parameters that programs sign, and that libraries then do not send, because their value is not set or stands elsewhere. */
export const unsentNames =
  `page limit offset cursor after before sort order filter q search query status state type id ids from to since until
  start end fields include expand lang locale currency version v format symbol side price quantity amount timestamp nonce recvWindow
  api_key apikey apiKey key token access_token signature sign callback redirect_uri user user_id userId client_id account per_page
  perPage page_size pageSize pageToken page_token size count next tag tags category name email phone date debug test description
  note comment metadata parent reference foo bar x`.split(/\s+/);

/** What programs sign for a value that is not set, and usual values. */
const unsentValues = ['=', '', '=undefined', '=null', '=None', '=NaN', '=true', '=false', '=0', '=1'];
const usualSizes = ['=10', '=20', '=50', '=100'];
const sizeNames = /limit|size|count|per_?page/i;

/** The longest text (bytes) to which parameters are added. */
export const longestAdded = 2048;

/** Yields parameters with one more, which has not been sent: at their end, sorted, and at their beginning. */
export function* addUnsent(parameters: string): Generator<string> {
  if (parameters.length > longestAdded) return;
  const own = parameters === '' ? [] : parameters.split('&');
  const names = new Set(own.map((parameter) => parameter.replace(/=.*$/s, '')));
  for (const name of unsentNames)
    for (const value of names.has(name) ? [] : listUnsentValues(name)) {
      const added = name + value;
      const after = own.findIndex((parameter) => parameter > added);
      const places = new Set([own.length, after < 0 ? own.length : after, 0]);
      for (const at of places) yield own.toSpliced(at, 0, added).join('&');
    }
}

function listUnsentValues(name: string): readonly string[] {
  return sizeNames.test(name) ? [...unsentValues, ...usualSizes] : unsentValues;
}

/** The hint at a parameter that was signed and has not been sent. */
export const unsent =
  'the parameter {added} was signed, but was not sent: is a value that is not set left out?';

/** The hints of all mistakes in the steps. */
export const formStepHints: readonly string[] = Object.values(formSteps).flatMap(
  (ways: readonly Way<unknown>[]) => ways.flatMap(([did]) => (did === '' ? [] : [did])),
);

/** The largest number of parameters that are tried. */
const maxPairs = 64;

/** The longest form (bytes) with which two mistakes at once are tried. */
const longestTwice = 8192;

/** Yields what clients sign in place of the sorted parameters of a form, with this number of mistakes, each in a step of its own. */
export function* formVariants(content: string, mistakes: 1 | 2): Generator<Variant> {
  if (mistakes === 2 && content.length > longestTwice) return;
  const { read, select, order, write } = formSteps;
  for (const [reading, readPairs] of read) {
    const pairs = readPairs(content);
    if (pairs === undefined || pairs.length === 0 || pairs.length > maxPairs) continue;
    for (const [selecting, selectPairs] of select)
      for (const [ordering, orderPairs] of order)
        for (const [writing, writePairs] of write) {
          const hints = [reading, selecting, ordering, writing].filter((hint) => hint !== '');
          if (hints.length === mistakes)
            yield [hints.join('; and '), writePairs(orderPairs(selectPairs(pairs)))];
        }
  }
}

/** Yields what clients sign for a form with one more parameter, which has not been sent. */
export function* unsentFormVariants(content: string): Generator<Variant> {
  if (!isForm(content)) return;
  for (const longer of addUnsent(content)) {
    const pairs = parseFormOctets(longer);
    if (pairs === undefined) continue;
    const hint = describe(unsent, 'the form', content, longer);
    yield [hint, joinPlain(sortByName(keepDistinct(pairs)))];
  }
}
