// The catalogue: the mistakes that clients make in each kind of part, in every scheme whose message has such a part.
import { formatDate } from '../../http/headers/date.ts';
import { methods } from '../../http/method.ts';
import { octetsOf } from '../../http/syntax/octets.ts';
import { formatSignedDate, removeSpaces } from '../../signature/hmac.ts';
import { octetsOfPiece, type Part, type PartKind } from '../../signature/message.ts';
import { contentMistakes, digestMistakes, furtherContentMistakes, furtherDigestMistakes } from './content.ts';
import { formMistakes } from './content-parameters.ts';
import { furtherHostMistakes, hostMistakes } from './host.ts';
import { type Facts, listVariants, type Mistake, type Variant } from './mistake.ts';
import { formVariants } from './parameter-steps.ts';
import { queryMistakes, searchMistakes } from './query.ts';
import { furtherUrlMistakes, pathMistakes, targetMistakes, urlMistakes } from './target.ts';

const methodMistakes: readonly Mistake[] = [
  ['the method was signed in lower case', (method) => method.toLowerCase()],
  ['the method was signed in upper case', (method) => method.toUpperCase()],
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
  ['only the first member of {part} was signed', (value) => value.replace(/,.*$/s, '')],
  ['only the last member of {part} was signed', (value) => value.replace(/^.*,\s*/s, '')],
  [
    'the members of {part} were sorted before they were signed',
    (value) => value.split(/,\s*/).sort().join(', '),
  ],
  ['{part} was signed as its base64 alone', (value) => /=:([^:]*):/.exec(value)?.[1]],
  ['{part} was signed in quotes', (value) => `"${value}"`],
  ['{part} was signed as empty', () => ''],
  [
    '{part} was changed after signing, by the client library or a proxy: {signed} was signed',
    (_, { header = '' }) => rewrittenValues.get(header.toLowerCase()),
  ],
  [
    '{part} was signed with another form of its parameters: {signed} was signed',
    (value, { header = '' }) => (header.toLowerCase() === 'content-type' ? typeForms(value) : undefined),
  ],
];

/** Values of fields that client libraries set after signing, or that the next hop replaces. */
const rewrittenValues: ReadonlyMap<string, readonly string[]> = new Map([
  ['accept', ['*/*', 'application/json', 'application/json, text/plain, */*']],
  [
    'accept-encoding',
    ['gzip', 'identity', 'gzip, deflate', 'gzip,deflate', 'gzip, deflate, br', 'gzip, deflate, br, zstd'],
  ],
  ['connection', ['close', 'keep-alive', 'Keep-Alive']],
  ['content-length', ['0']],
  [
    'content-type',
    [
      'application/json',
      'application/json; charset=utf-8',
      'application/x-www-form-urlencoded',
      'application/octet-stream',
      'text/plain',
      'text/plain;charset=UTF-8',
    ],
  ],
]);

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

/** The mistakes in a field that contains a digest of the content (RFC 9530 §2). */
const digestFieldMistakes: readonly Mistake[] = [
  [
    'Content-Digest was sent twice and joined (Headers.append?), but only one value was signed',
    (value) => value.split(', '),
  ],
  [
    'the bare digest of the content was signed instead of the value of Content-Digest as sent',
    (value) => parseBareDigests(value),
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
];

/** A time, and the texts of which its other forms consist. */
interface Instant {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  readonly time: number;
  readonly iso: string;
  readonly fixdate: string;
  readonly short: string;
}

function createInstant(time: number): Instant {
  return {
    time,
    iso: new Date(time).toISOString(),
    fixdate: formatDate(time),
    short: formatSignedDate(time),
  };
}

/** The forms of a time: a name, and its text. */
const timeForms: readonly (readonly [name: string, format: (instant: Instant) => string])[] = [
  ['as a number of seconds', ({ time }) => String(Math.floor(time / 1000))],
  ['as a number of milliseconds', ({ time }) => String(time)],
  ['in ISO 8601 format', ({ iso }) => iso],
  ['in ISO 8601 format', ({ iso }) => iso.replace(/\.\d+/, '')],
  ['with the offset +00:00', ({ iso }) => iso.replace('Z', '+00:00')],
  ['with the offset +00:00', ({ iso }) => iso.replace(/\.\d+Z/, '+00:00')],
  ['with microseconds', ({ iso }) => iso.replace('Z', '000Z')],
  ['with microseconds', ({ iso }) => iso.replace('Z', '000+00:00')],
  ['with microseconds', ({ iso }) => iso.replace('Z', '000')],
  ['without its offset', ({ iso }) => iso.replace('Z', '')],
  ['without its offset', ({ iso }) => iso.replace(/\.\d+Z/, '')],
  ['in the basic format of ISO 8601', ({ iso }) => iso.replace(/[-:]|\.\d+/g, '')],
  ['as an IMF-fixdate', ({ fixdate }) => fixdate],
  ['in the short format "20 apr 2013 12:59:24"', ({ short }) => short],
  ['as an IMF-fixdate without spaces', ({ fixdate }) => removeSpaces(fixdate)],
  ['in the short format without spaces', ({ short }) => removeSpaces(short)],
  ['with the zone +0000', ({ fixdate }) => fixdate.replace('GMT', '+0000')],
  ['with the zone UTC', ({ fixdate }) => fixdate.replace('GMT', 'UTC')],
  ['as a number of microseconds', ({ time }) => `${time}000`],
  ['with a fraction of a second', ({ time }) => `${Math.floor(time / 1000)}.0`],
  ['with a fraction of a second', ({ time }) => String(time / 1000)],
  ['with a fraction of a second', ({ time }) => (time / 1000).toFixed(3)],
  ['without the time of day', ({ iso }) => iso.slice(0, 10).replaceAll('-', '')],
];

/** The last time (ms) of the year 9999: no form of a date has more digits. */
const maxTime = 253_402_300_799_999;

const timeMistakes: readonly Mistake[] = [
  ...timeForms.map(
    ([name, format]): Mistake => [
      `{part} was signed ${name}, not as it was sent`,
      (_, { time }) => (time === undefined || time > maxTime ? undefined : format(createInstant(time))),
    ],
  ),
  ['the value of Date was signed instead of {part}', (_, { request }) => request.headers.get('date')],
  ['{part} was signed in another letter case', (value) => [value.toLowerCase(), value.toUpperCase()]],
  ['{part} was signed in quotes', (value) => `"${value}"`],
];

const hour = 3600;
/** The offsets (s) of time zones: quarters of an hour, up to 14 hours. */
const zoneOffsets = Array.from({ length: 4 * 14 }, (_, at) => ((at + 1) * hour) / 4).flatMap((off) => [
  off,
  -off,
]);
/** The largest distance (s) between a time that was signed and the one that arrived. */
const maxShift = 300;
const seconds = Array.from({ length: maxShift }, (_, at) => [at + 1, -at - 1]).flat();

/** The mistakes in a time that takes many tries: another second, or another time zone. */
export const shiftedTimeMistakes: readonly Mistake[] = [...seconds, ...zoneOffsets].map(
  (off): Mistake => [
    shiftHint(off),
    (value, { time }) => {
      if (time === undefined || time + off * 1000 > maxTime) return undefined;
      const shifted = createInstant(time + off * 1000);
      const forms = Math.abs(off) > maxShift ? listForms(value, time) : timeForms;
      return forms.map(([, format]) => format(shifted));
    },
  ],
);

/** The largest distance (ms) between two readings of a clock that counts milliseconds. */
const maxReading = 3000;

/**
 * Yields the values that contain a time of another reading of the clock, in milliseconds: the time itself, and a query or a content
 * that contains it.
 */
export function* secondReadings({ kind, name, value }: Part, { time }: Facts): Generator<Variant> {
  if (time === undefined || typeof value !== 'string' || time > maxTime - maxReading) return;
  const instant = createInstant(time);
  const form = timeForms.find(([, format]) => {
    const text = format(instant);
    return text.length >= 13 && (kind === 'time' ? value === text : value.includes(text));
  })?.[1];
  if (form === undefined) return;
  const sent = form(instant);
  for (let off = 1; off <= maxReading; off += 1)
    for (const shift of [off, -off]) {
      const other = form(createInstant(time + shift));
      const hint = `the clock was read twice: a time ${off} ms ${shift < 0 ? 'earlier' : 'later'} was signed than was sent`;
      if (other !== sent)
        yield [kind === 'time' ? hint : `${hint} in the ${name}`, value.replace(sent, other)];
    }
}

/** Returns the forms in which a time is sent; all of them if it is sent in none. */
function listForms(value: string, time: number): typeof timeForms {
  const instant = createInstant(time);
  const own = timeForms.filter(([, format]) => format(instant) === value);
  return own.length === 0 ? timeForms : own;
}

function shiftHint(off: number): string {
  const by = `a {name} ${Math.abs(off)} s ${off < 0 ? 'earlier' : 'later'}`;
  return Math.abs(off) > maxShift
    ? `${by} was signed than the one that was sent: probably in another time zone`
    : `${by} was signed than the one that arrived: a proxy or the client changed it after signing`;
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
  time: timeMistakes,
  nonce: tokenMistakes,
  id: tokenMistakes,
  user: tokenMistakes,
  content: contentMistakes,
  digest: digestFieldMistakes,
  form: none,
  secret: none,
  other: none,
};

/** The kinds whose parts have names of their own in a scheme. */
const namedKinds: readonly PartKind[] = ['other', 'digest', 'time', 'id', 'user'];

/** Returns how hints name a part. */
export function formatLabel(part: Part): string {
  const { kind, name } = part;
  if (kind === 'header') return `the value of ${parseFieldName(part)}`;
  if (kind === 'url') return 'the URL';
  if (kind === 'search') return 'the query';
  return namedKinds.includes(kind) ? `the ${name}` : `the ${kind}`;
}

/** Returns the name of the header whose value a part is. */
function parseFieldName({ name }: Part): string {
  return /^"([^"]*)"/.exec(name)?.[1] ?? name.replace(/^(?:field:|header )/, '');
}

/** Returns the values that clients sign in place of a part, most likely first. */
export function variantsOfPart(part: Part, facts: Facts): Iterable<Variant> {
  if (part.kind === 'digest' && part.digest !== undefined) return digestMistakes(part.digest, facts.content);
  if (part.kind === 'form') return formMistakes(facts);
  const known = part.kind === 'header' ? { ...facts, header: parseFieldName(part) } : facts;
  return listVariants(partMistakes[part.kind], formatLabel(part), octetsOfPiece(part.value), known);
}

/** The mistakes that are tried after all others, because they are many. */
export const furtherMistakes: Readonly<Partial<Record<PartKind, readonly Mistake[]>>> = {
  host: furtherHostMistakes,
  url: furtherUrlMistakes,
  content: furtherContentMistakes,
};

/** Returns further values that clients sign in place of a part. */
export function furtherVariantsOfPart(part: Part, facts: Facts): Iterable<Variant> {
  const { content } = facts;
  if (part.kind === 'digest' && part.digest !== undefined) return furtherDigestMistakes(part.digest, content);
  if (part.kind === 'form') return formVariants(octetsOf(content), 2);
  return listVariants(
    furtherMistakes[part.kind] ?? none,
    formatLabel(part),
    octetsOfPiece(part.value),
    facts,
  );
}
