// Creates texts: of a format, for a pattern, or of letters alone.
import { type CharacterClass, includes } from '../../schema/pattern/classes.ts';
import { type Expression, PatternError, parsePattern } from '../../schema/pattern/syntax.ts';
import { compilePattern } from './schema-check.ts';

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

/** Draws letters. */
export function createLetters(length: number, random: Randomness['random']): string {
  return Array.from(random(length), (byte) => String.fromCharCode(0x61 + (byte % 26))).join('');
}

/** Creates a text of a format of JSON Schema or OpenAPI; undefined if the format is not known. */
export function createFormatted(format: string, { now, random }: Randomness): string | undefined {
  switch (format) {
    case 'date':
      return new Date(now).toISOString().slice(0, 10);
    case 'date-time':
      return new Date(now).toISOString();
    case 'time':
      return new Date(now).toISOString().slice(11);
    case 'duration':
      return 'PT1M';
    case 'email':
    case 'idn-email':
      return `${createLetters(6, random)}@example.com`;
    case 'uuid':
      return createUuid(random(16));
    case 'uri':
    case 'url':
    case 'iri':
      return `https://example.com/${createLetters(6, random)}`;
    case 'uri-reference':
    case 'uri-template':
    case 'iri-reference':
    case 'json-pointer':
      return `/${createLetters(6, random)}`;
    case 'hostname':
    case 'idn-hostname':
      return 'example.com';
    case 'ipv4':
      return '192.0.2.1';
    case 'ipv6':
      return '2001:db8::1';
    case 'regex':
      return '^$';
    default:
      return undefined;
  }
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

/** Creates a text of at least this many characters that matches a pattern; undefined if none is found. */
export function createMatching(pattern: string, least: number, randomness: Randomness): string | undefined {
  const matcher = compilePattern(pattern);
  const tree = readPattern(pattern);
  if (tree === undefined || matcher === undefined) return undefined;
  for (let more = 0; more <= Math.max(least, 1); more += 1) {
    const text = expand(tree, more, randomness);
    if ([...text].length >= least && matcher.test(text)) return text;
  }
  return undefined;
}

/** Returns the tree of a pattern. What JavaScript permits beyond I-Regexp is rewritten or left out, and the result is tested anyway. */
function readPattern(pattern: string): Expression | undefined {
  const reduced = pattern
    .replace(/\(\?<?[=!](?:[^()\\]|\\.)*\)/g, '')
    .replace(
      /\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|([/@:%_~"'#&=!,;<> -])|.)/g,
      (found, short?: string, long?: string, plain?: string) => {
        const code = short ?? long;
        const character = code === undefined ? plain : String.fromCharCode(Number.parseInt(code, 16));
        return character === undefined ? found : escapeCharacter(character);
      },
    )
    .replace(/(\\.)|(\[\^?)|[$^]/g, (found, escaped, opening) => ((escaped ?? opening) ? found : ''))
    .replace(/(\w-\w|\\[dws])-(?=[^\]])/g, '$1\\-')
    .replace(/(\\.)|\{(?!\d+(?:,\d*)?\})/g, (_, escaped: string | undefined) => escaped ?? '\\{')
    .replace(/(\\.|\{\d+(?:,\d*)?)|\}/g, (found, other: string | undefined) =>
      other === undefined ? '\\}' : found,
    );
  for (const source of [pattern, reduced, reduced.replace(/(\{\d+(?:,\d*)?)\\\}/g, '$1}')])
    try {
      return parsePattern(source);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
    }
  return undefined;
}

function escapeCharacter(character: string): string {
  return /[\\^$.*+?()[\]{}|-]/.test(character) ? `\\${character}` : character;
}

/** Returns a text of a tree, with `more` repetitions than necessary. */
function expand(expression: Expression, more: number, randomness: Randomness): string {
  switch (expression.kind) {
    case 'sequence':
      return expression.parts.map((part) => expand(part, more, randomness)).join('');
    case 'choice': {
      const { branches } = expression;
      const branch = branches[randomness.dynamic ? drawInteger(branches.length, randomness.random) : 0];
      return branch === undefined ? '' : expand(branch, more, randomness);
    }
    case 'repeat': {
      const count = Math.min(expression.max, expression.min + more);
      return Array.from({ length: count }, () => expand(expression.part, more, randomness)).join('');
    }
    case 'class':
      return drawCharacter(expression.class, randomness);
  }
}

/** The printable characters of ASCII. */
const printable = Array.from({ length: 95 }, (_, index) => 0x20 + index);

function drawCharacter(of: CharacterClass, { random }: Randomness): string {
  const preferred = [0x61 + drawInteger(26, random), 0x31 + drawInteger(9, random), 0x41, ...printable];
  const code = preferred.find((each) => includes(of, each));
  const [first] = of.ranges;
  if (code !== undefined) return String.fromCodePoint(code);
  return first === undefined || of.negated ? '\u00e9' : String.fromCodePoint(first[0]);
}
