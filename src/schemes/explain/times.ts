// Mistakes in a time: in its form, and those of a clock that was read again, or in another time zone.

import { formatDate } from '../../http/headers/date.ts';
import { formatSignedDate, removeSpaces } from '../hmac/credentials.ts';
import { messageBytes, type Part } from '../message.ts';
import type { MessageMistake } from '../scheme.ts';
import { formatLabel, type Mistake } from './mistake.ts';
import type { Assemble } from './whole.ts';

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

/** The mistakes in a time. */
export const timeMistakes: readonly Mistake[] = [
  ...timeForms.map(
    ([name, format]): Mistake => [
      `{part} was signed ${name}, not as it was sent`,
      (_, { time }) => (time === undefined || time > maxTime ? undefined : format(createInstant(time))),
    ],
  ),
  ['the value of Date was signed instead of {part}', (_, { request }) => request.headers.get('date')],
  ['{part} was signed in another letter case', (value) => [value.toLowerCase(), value.toUpperCase()]],
  ['{part} was signed in quotes', (value) => `"${value}"`],
  [
    'a name was signed in front of {part}: {signed}',
    (value) => timeNames.flatMap((name) => ['=', ':', ': '].map((separator) => name + separator + value)),
  ],
];

/** The names that clients sign with a time: those of elements of a signature, and of fields. */
const timeNames = ['t', 'ts', 'timestamp', 'date', 'Date', 'time'];

/** The mistakes in a time that are tried last, because they are many. */
export const furtherTimeMistakes: readonly Mistake[] = [
  [
    '{part} was signed with milliseconds, and sent without them',
    (value) =>
      /:\d\dZ$/.test(value)
        ? Array.from({ length: 1000 }, (_, ms) => value.replace('Z', `.${String(ms).padStart(3, '0')}Z`))
        : undefined,
  ],
  [
    '{part} was signed in milliseconds, and sent in seconds',
    (value) =>
      /^\d{10}$/.test(value)
        ? Array.from({ length: 1000 }, (_, ms) => value + String(ms).padStart(3, '0'))
        : undefined,
  ],
  [
    '{part} was signed with a fraction of a second, and sent without it',
    (value) => listMilliseconds(value).map((time) => String(time / 1000)),
  ],
  [
    '{part} was signed in ISO 8601 format, and sent in seconds',
    (value) => listMilliseconds(value).map((time) => new Date(time).toISOString()),
  ],
  [
    '{part} was signed in another time zone than it was sent in: {signed}',
    (value) => {
      const time = /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN;
      return Number.isNaN(time) ? undefined : bothWays(quarters).map((offset) => formatLocal(time, offset));
    },
  ],
];

/** Returns the milliseconds of a second that a text of ten digits names. */
function listMilliseconds(value: string): number[] {
  if (!/^\d{10}$/.test(value)) return [];
  return Array.from({ length: 1000 }, (_, ms) => Number(value) * 1000 + ms);
}

/** Formats a time with the offset (ms) of a time zone: `2026-05-20T12:30:15+02:00`. */
function formatLocal(time: number, offset: number): string {
  const [local = ''] = new Date(time + offset).toISOString().split('.');
  const size = new Date(Math.abs(offset)).toISOString().slice(11, 16);
  return `${local}${offset < 0 ? '-' : '+'}${size}`;
}

const second = 1000;
const hour = 3_600_000;

/** Returns each distance (ms) in both directions. */
function bothWays(distances: readonly number[]): number[] {
  return distances.flatMap((distance) => [distance, -distance]);
}

/** The largest distance (ms) that is no time zone. */
const maxShift = 300 * second;
/** Time zones are whole quarters of an hour, up to 14 hours. */
const quarters = Array.from({ length: 4 * 14 }, (_, at) => ((at + 1) * hour) / 4);
const wholeHours = quarters.filter((distance) => distance % hour === 0);
const inIndia = 5.5 * hour;

/** The distances (ms) of another reading of the clock that every explanation tries. */
export const usualReadings: readonly number[] = bothWays([
  ...[1, 2, 3].map((distance) => distance * second),
  ...wholeHours,
  inIndia,
]);

/** Further distances (ms), which only a test double has the time to try: time zones, seconds and milliseconds. */
const seconds = bothWays(Array.from({ length: maxShift / second }, (_, at) => (at + 1) * second));
export const furtherReadings: readonly number[] = [...bothWays(quarters), ...seconds];
export const millisecondReadings: readonly number[] = bothWays(
  Array.from({ length: 3000 }, (_, at) => at + 1),
);

/** The shortest text that is recognized as a time within another part, such as a query that contains it. */
const minEmbedded = 10;

/**
 * Yields the messages with another reading of the clock: everywhere in the message, as a client signs that reads the clock again for
 * what it sends, or in the time alone.
 *
 * @param distances How far (ms) the reading is from the time that was sent.
 */
export function* readings(
  parts: readonly Part[],
  time: number | undefined,
  distances: readonly number[],
  assemble: Assemble,
): Generator<MessageMistake> {
  if (time === undefined || time > maxTime - 14 * hour) return;
  const instant = createInstant(time);
  const found = findTime(parts, instant);
  if (found === undefined) return;
  const { format, first, places } = found;
  const sent = format(instant);
  for (const distance of distances) {
    const other = format(createInstant(time + distance));
    if (other === sent) continue;
    const hint = describeReading(first, distance);
    for (const changed of places.length === 1 ? [places] : [places, [first]]) {
      const read = parts.map((part) =>
        changed.includes(part) ? { ...part, value: String(part.value).replaceAll(sent, other) } : part,
      );
      const differs = { name: first.name, signed: String(first.value).replaceAll(sent, other) };
      yield { hint, message: messageBytes(assemble(read)), differs };
    }
  }
}

/** A time in a message: how it is written, and the parts that contain it, of which the first is the time itself if there is such a part. */
interface FoundTime {
  readonly format: (instant: Instant) => string;
  readonly first: Part;
  readonly places: readonly Part[];
}

function findTime(parts: readonly Part[], instant: Instant): FoundTime | undefined {
  const texts = parts.filter(
    ({ kind, value }) => typeof value === 'string' && kind !== 'nonce' && kind !== 'id',
  );
  const written = timeForms.map(([, format]) => ({ format, text: format(instant) }));
  const own = written.find(({ text }) => texts.some(({ kind, value }) => kind === 'time' && value === text));
  const isIn = (text: string) => (part: Part) => String(part.value).includes(text);
  const embedded = written.filter(({ text }) => text.length >= minEmbedded && texts.some(isIn(text)));
  // The seconds stand in the milliseconds, too.
  const any = own ?? embedded.toSorted((one, other) => other.text.length - one.text.length)[0];
  if (any === undefined) return undefined;
  const places = texts.filter(isIn(any.text));
  const first = places.find(({ kind, value }) => kind === 'time' && value === any.text) ?? places[0];
  return first && { format: any.format, first, places };
}

/** Yields the messages with another time in another form than it arrived in: a proxy has written it again. Only a test double tries them. */
export function* rewrittenTimes(
  parts: readonly Part[],
  time: number | undefined,
  assemble: Assemble,
): Generator<MessageMistake> {
  const at = parts.findIndex(({ kind }) => kind === 'time');
  const part = parts[at];
  if (time === undefined || time > maxTime - maxShift || part === undefined) return;
  for (const distance of seconds) {
    const instant = createInstant(time + distance);
    const hint = describeReading(part, distance);
    for (const [, format] of timeForms) {
      const signed = format(instant);
      const message = messageBytes(assemble(parts.with(at, { ...part, value: signed })));
      yield { hint, message, differs: { name: part.name, signed } };
    }
  }
}

/** Returns the hint at another reading of the clock. */
function describeReading(part: Part, distance: number): string {
  const isTime = part.kind === 'time';
  const name = isTime ? formatLabel(part).replace(/^the /, '') : 'time';
  const where = isTime ? '' : ` in ${formatLabel(part)}`;
  const far = Math.abs(distance);
  const order = distance < 0 ? 'earlier' : 'later';
  if (far % second !== 0)
    return `the clock was read twice: a time ${far} ms ${order} was signed than was sent${where}`;
  const by = `a ${name} ${far / second} s ${order} was signed than the one that`;
  if (far > maxShift) return `${by} was sent${where}: probably in another time zone`;
  const cause = far <= 3 * second ? ', or the clock was read twice' : '';
  return `${by} arrived${where}: a proxy or the client changed it after signing${cause}`;
}
