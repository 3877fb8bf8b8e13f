// Creates texts of formats, for patterns, or of letters alone. Texts are proposed, and the first one that all rules permit is taken.

import { type CharacterClass, includes } from '../../collections/fields/pattern/classes.ts';
import type { EcmaPattern, StepBudget } from '../../collections/fields/pattern/match.ts';
import type { Expression } from '../../collections/fields/pattern/syntax.ts';
import { isOfFormat } from '../../collections/fields/text-format.ts';

/** What values are drawn from. */
export interface Randomness {
  /** Whether all members are created, with drawn values, in place of the smallest value and examples. */
  readonly dynamic: boolean;
  /** Returns `size` random bytes. */
  readonly random: (size: number) => Uint8Array;
  /** The time for dates, in ms. */
  readonly now: number;
}

/** Draws an integer from 0, below a limit of at most 65,536. */
export function drawInteger(limit: number, random: Randomness['random']): number {
  const [high = 0, low = 0] = random(2);
  return (high * 256 + low) % limit;
}

/** Returns random bytes of larger blocks: each call of `random` computes a hash, and a long text needs thousands of numbers. */
function drawInBlocks(random: Randomness['random']): Randomness['random'] {
  let block: Uint8Array = Buffer.alloc(0);
  let used = 0;
  return (size) => {
    if (used + size > block.length) {
      block = random(Math.max(size, 256));
      used = 0;
    }
    used += size;
    return block.subarray(used - size, used);
  };
}

/** Draws letters. */
function createLetters(length: number, random: Randomness['random']): string {
  return Array.from(random(length), (byte) => String.fromCharCode(0x61 + (byte % 26))).join('');
}

/** The rules for one text. */
interface TextRules {
  /** The bounds of the length in characters. */
  readonly least: number;
  readonly most: number;
  readonly patterns: readonly EcmaPattern[];
  readonly formats: readonly string[];
  /** The place of the schema. */
  readonly at: string;
}

/** The characters of a text that is created, at most, unless a repetition requires more. */
const maxCreated = 100_000;

/** Creates a text that fulfils all rules; undefined if none is found. `budget` is what patterns may still cost. */
export function createText(rules: TextRules, randomness: Randomness, budget: StepBudget): string | undefined {
  const fits = (text: string): boolean => {
    const { length } = [...text];
    return (
      length >= rules.least &&
      length <= rules.most &&
      rules.formats.every((format) => isOfFormat(text, format) !== false) &&
      rules.patterns.every((pattern) => pattern.isIn(text, budget) === true)
    );
  };
  for (const text of proposeTexts(rules, randomness)) {
    if (fits(text)) return text;
    if (budget.steps < 0) return undefined;
  }
  return undefined;
}

function* proposeTexts(
  { least, most, patterns, formats, at }: TextRules,
  randomness: Randomness,
): Generator<string> {
  const { dynamic, random } = randomness;
  for (const format of formats) yield* proposeFormatted(format, Math.min(least, maxCreated), randomness);
  yield* proposeNamed(at, randomness.now);
  for (const { expression } of patterns) yield* proposeMatching(expression, { least, most }, randomness);
  if (patterns.length > 0) return;
  const length = dynamic ? least + 4 + drawInteger(8, random) : least;
  yield createLetters(Math.min(most, length), random);
}

/** Yields texts of a format of JSON Schema or OpenAPI, the usual one first; none if the format is not known. */
function* proposeFormatted(format: string, least: number, { now, random }: Randomness): Generator<string> {
  const instant = new Date(now).toISOString();
  const [date, seconds] = [instant.slice(0, 10), instant.slice(11, 19)];
  const lettersAfter = (start: string): string => createLetters(Math.max(6, least - start.length), random);
  switch (format) {
    case 'date':
      return yield date;
    case 'date-time':
      return yield* proposeTimes(`${date}T${seconds}`, instant.slice(19, 23));
    case 'time':
      return yield* proposeTimes(seconds, instant.slice(19, 23));
    case 'duration':
      return yield* ['PT1M', 'P1D', 'P1Y', 'P1Y2M3DT4H5M6S', 'P1W', 'PT0S'];
    case 'email':
    case 'idn-email':
      return yield* [`${lettersAfter('@example.com')}@example.com`, 'a@b.co'];
    case 'uuid': {
      const uuid = createUuid(random(16));
      return yield* [uuid, uuid.toUpperCase(), `urn:uuid:${uuid}`];
    }
    case 'uri':
    case 'url':
    case 'iri':
      yield* ['https', 'http'].map(
        (name) => `${name}://example.com/${lettersAfter(`${name}://example.com/`)}`,
      );
      return yield* ['https://example.com', 'http://a.b', 'urn:a'];
    case 'uri-reference':
    case 'uri-template':
    case 'iri-reference':
    case 'json-pointer':
      return yield* [`/${lettersAfter('/')}`, '/a', ''];
    case 'hostname':
    case 'idn-hostname':
      return yield* ['example.com', 'a', `${'example.'.repeat(Math.ceil(least / 8))}com`];
    case 'ipv4':
      return yield* ['192.0.2.1', '192.168.100.100'];
    case 'ipv6':
      return yield* ['2001:db8::1', '2001:0db8:0000:0000:0000:0000:0000:0001'];
    case 'byte':
      return yield createLetters(4 * Math.ceil(least / 4), random);
    case 'regex':
      return yield* ['^$', createLetters(least, random)];
  }
}

/** Yields a time with every fraction and offset that a pattern is likely to require. */
function* proposeTimes(time: string, fraction: string): Generator<string> {
  for (const zone of ['Z', '+00:00', '-00:00', '+01:00', 'z'])
    for (const digits of [fraction, '', '.000000', '.0', '.00', '.000000000'])
      yield `${time}${digits}${zone}`;
}

/** Returns a UUID of version 4 (RFC 9562 §5.4). */
function createUuid(bytes: Uint8Array): string {
  const digits = Buffer.from(bytes).toString('hex');
  const groups = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `a${digits.slice(17, 20)}`,
    digits.slice(20),
  ];
  return groups.join('-');
}

/** The random texts that are tried for a pattern, at most. */
const maxAttempts = 200;

/** Yields texts that are likely to match an expression: short ones first, then long enough ones, then random ones. */
function* proposeMatching(
  expression: Expression,
  { least, most }: Pick<TextRules, 'least' | 'most'>,
  { dynamic, random }: Randomness,
): Generator<string> {
  const drawn = drawInBlocks(random);
  const characters = createDraw(drawn);
  const write = (writing: Omit<Writing, 'characters' | 'random' | 'room'>): string =>
    writeText(expression, { ...writing, characters, random: drawn, room: { left: 2 * maxCreated } });
  const plain = { branches: dynamic ? 'drawn' : 'first', counts: 'fixed', inserts: false } as const;
  const shortest = write({ ...plain, more: 0 });
  yield shortest;
  // Part of a text may match.
  const rest = createLetters(Math.min(Math.max(1, least - shortest.length), maxCreated), random);
  yield* [shortest + rest, rest + shortest];
  const missing = Math.min(least - shortest.length, maxCreated);
  const counts = new Set([1, 2, 3, 4, missing, missing / 2, missing / 3, missing / 4].map(Math.ceil));
  for (const more of [...counts].filter((count) => count > 0))
    for (const inserts of [false, true]) yield write({ ...plain, inserts, more });
  const longest = Math.min(most, Math.max(least, 12), maxCreated);
  for (let attempt = 0; attempt < maxAttempts; attempt += 1)
    yield write({
      branches: 'drawn',
      counts: 'drawn',
      inserts: attempt % 2 === 1,
      more: 1 + (attempt % Math.max(1, longest)),
    });
}

/** How a text for an expression is written. */
interface Writing {
  /** Whether the first branch of a choice is taken, or any. */
  readonly branches: 'first' | 'drawn';
  /** How many repetitions are added to the necessary ones: `more`, or at most so many. */
  readonly counts: 'fixed' | 'drawn';
  readonly more: number;
  /** Whether a text for lookaround is written in its place. */
  readonly inserts: boolean;
  readonly characters: ReturnType<typeof createDraw>;
  readonly random: Randomness['random'];
  /** The characters and repetitions that may still be added. Without this, nested repetitions would multiply. */
  readonly room: { left: number };
}

function writeText(expression: Expression, writing: Writing): string {
  const { branches, counts, more, inserts, characters, random, room } = writing;
  switch (expression.kind) {
    case 'sequence':
      return expression.parts.map((part) => writeText(part, writing)).join('');
    case 'choice': {
      const { branches: all } = expression;
      const branch = all[branches === 'drawn' ? drawInteger(all.length, random) : 0];
      return branch === undefined ? '' : writeText(branch, writing);
    }
    case 'repeat': {
      const added = Math.min(expression.max - expression.min, more);
      const count = expression.min + (counts === 'drawn' ? drawInteger(added + 1, random) : added);
      let text = '';
      for (let done = 0; done < count && room.left > 0; done += 1) {
        room.left -= 1;
        text += writeText(expression.part, writing);
      }
      return text;
    }
    case 'class':
      return characters(expression.class, counts === 'drawn');
    case 'assertion': {
      const { test } = expression;
      const isText = inserts && (test.at === 'ahead' || test.at === 'behind') && !test.negated;
      return isText ? writeText(test.body, writing) : '';
    }
  }
}

/** The printable characters of ASCII. */
const printable = Array.from({ length: 95 }, (_, index) => 0x20 + index);

/** Returns a function that draws a character of a class: a letter or a digit if the class has one, or any printable one. */
function createDraw(random: Randomness['random']): (of: CharacterClass, any: boolean) => string {
  const listed = new Map<CharacterClass, readonly number[]>();
  return (of, any) => {
    const codes = listed.get(of) ?? printable.filter((code) => includes(of, code));
    listed.set(of, codes);
    const preferred = [0x61, 0x31, 0x41].map((first) => first + drawInteger(first === 0x31 ? 9 : 26, random));
    const code = any
      ? codes[drawInteger(Math.max(1, codes.length), random)]
      : preferred.find((each) => includes(of, each));
    const [range] = of.ranges;
    return String.fromCodePoint(code ?? codes[0] ?? (range === undefined || of.negated ? 0xe9 : range[0]));
  };
}

// Proposes texts by the names of their members, so that values look like what they are.

/** The texts for names without `_`, `-` and capital letters, the first that matches. */
const texts: readonly (readonly [name: RegExp, text: string])[] = [
  [/e?mail(?:address)?$/, 'ann@example.com'],
  [/^(?:first|given)name$/, 'Ann'],
  [/^(?:last|family|sur)name$/, 'Smith'],
  [/^(?:user|login|nick)(?:name)?$/, 'ann'],
  [/^(?:full|display|holder|customer|contact)?name$/, 'Ann Smith'],
  [/^(?:company|organi[sz]ation|business)(?:name)?$/, 'Example Ltd'],
  [/currency(?:code)?$/, 'EUR'],
  [/country(?:code)?$/, 'DE'],
  [/^(?:lang|language|locale)(?:code)?$/, 'en'],
  [/^timezone$/, 'Europe/Berlin'],
  [/(?:phone|mobile|fax)(?:number)?$/, '+4930123456'],
  [/^(?:city|town)$/, 'Berlin'],
  [/^(?:address|street|addressline|line)\d?$/, 'Example Street 1'],
  [/^(?:zip|postal|post)(?:code)?$/, '10115'],
  [/(?:url|uri|href|website)s?$/, 'https://example.com/'],
  [/^(?:title|subject|summary|description|comment|note|message|text)$/, 'An example'],
];

/** Yields texts for the member that a schema describes; none if its name says nothing. `now` is the time in ms. */
function* proposeNamed(at: string, now: number): Generator<string> {
  const name = memberName(at);
  const instant = new Date(now).toISOString();
  if (/(?:^|_|[a-z])date$/i.test(name)) yield instant.slice(0, 10);
  if (/(?:_at|_on|[a-z]At|[a-z]On|timestamp|date_?time)$/.test(name)) yield instant;
  const plain = name.replace(/[_-]/g, '').toLowerCase();
  const [, text] = texts.find(([form]) => form.test(plain)) ?? [];
  if (text !== undefined) yield text;
}

/** Returns the name of the member that a place describes, or whose items: `tags` of `#/properties/tags/items`. */
function memberName(at: string): string {
  const marker = '/properties/';
  const from = at.lastIndexOf(marker);
  return from === -1 ? '' : (at.slice(from + marker.length).split('/')[0] ?? '');
}
