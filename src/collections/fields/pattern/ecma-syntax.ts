/**
 * Parses regular expressions of ECMA-262 as JSON Schema uses them (JSON Schema 2020-12 Validation §6.3.3), in Unicode mode, and
 * without it as far as the meaning is the same (ECMA-262 Annex B.1.2: `\-`, a literal `{`). Not supported: back-references, which no
 * finite automaton matches, and what ECMA-262 permits but other dialects mean otherwise, such as `\A` and `[[:alpha:]]`.
 */

import {
  type CharacterClass,
  compileProperty,
  complement,
  digits,
  spaces,
  wordCharacters,
} from './classes.ts';
import {
  type Assertion,
  type Expression,
  findOnlyCode,
  PatternError,
  PatternReader,
  parsePattern,
  toClass,
  toExpression,
} from './syntax.ts';

/**
 * Parses a regular expression of ECMA-262.
 * @throws {PatternError} for what is none, or is not supported
 */
export function parseEcmaPattern(source: string): Expression {
  const fault = findSyntaxFault(source);
  if (fault !== undefined) throw new PatternError(fault);
  return new EcmaReader([...source], 0).whole();
}

/** Returns why a text is no regular expression of ECMA-262, in the words of the host; undefined if it is one. */
export function findSyntaxFault(source: string): string | undefined {
  if (findFaultInMode(source, 'u') === undefined) return undefined;
  const fault = findFaultInMode(source, '');
  return fault && `it is no regular expression of ECMA-262: ${fault}`;
}

/** Returns what is wrong with a regular expression in Unicode mode, flag `u`, or without it. */
function findFaultInMode(source: string, flag: 'u' | ''): string | undefined {
  try {
    new RegExp(source, flag);
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // V8 repeats the expression: `Invalid regular expression: /a**/u: Nothing to repeat`.
    return message.slice(message.lastIndexOf(': ') + 2);
  }
}

/** The characters that `.` does not match (ECMA-262, LineTerminator). */
const lineTerminators: CharacterClass['ranges'] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];

const classEscapes: Readonly<Record<string, CharacterClass['ranges']>> = {
  d: digits,
  D: complement(digits),
  w: wordCharacters,
  W: complement(wordCharacters),
  s: spaces,
  S: complement(spaces),
};

const controlEscapes: Readonly<Record<string, string>> = {
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** Reads what `findSyntaxFault` has accepted. */
class EcmaReader extends PatternReader {
  // A class is counted in one state; the states of all else are limited.
  protected override readonly maxCount = Number.POSITIVE_INFINITY;

  protected override atom(next: string): Expression | undefined {
    if (next === '^' || next === '$') {
      this.at++;
      return { kind: 'assertion', test: { at: next === '^' ? 'start' : 'end' } };
    }
    if (next === '\\') {
      const following = this.characters[this.at + 1];
      if (following !== 'b' && following !== 'B') return toExpression(this.escape());
      this.at += 2;
      return { kind: 'assertion', test: { at: 'boundary', negated: following === 'B' } };
    }
    if (next === '.') {
      this.at++;
      return toExpression({ negated: true, ranges: lineTerminators, categories: [] });
    }
    if (!'{}]'.includes(next)) return super.atom(next);
    this.at++;
    return toExpression(toClass(next));
  }

  protected override groupStart(start: number): (content: Expression) => Expression {
    if (!this.take('?') || this.take(':')) return (content) => content;
    const at = this.take('<') ? 'behind' : 'ahead';
    if (this.peek() === '=' || this.peek() === '!') {
      const negated = this.take('!') || !this.take('=');
      return (body) => ({ kind: 'assertion', test: { at, negated, body } });
    }
    if (at === 'ahead') this.refuse('flags in a group are not supported', start);
    while (!this.take('>')) this.at++;
    return (content) => content;
  }

  protected override quantifierEnd(): void {
    this.take('?');
  }

  protected override quantifier(): [min: number, max: number] | undefined {
    if (this.peek() === '{') {
      const rest = this.characters.slice(this.at, this.at + 64).join('');
      if (!/^\{\d+(?:,\d*)?\}/.test(rest)) return undefined;
    }
    return super.quantifier();
  }

  protected override classExpression(): CharacterClass {
    const start = this.at++;
    const negated = this.take('^');
    const members: CharacterClass[] = [];
    while (!this.take(']')) {
      if (this.peek() === undefined) this.refuse('the "[" is not closed', start);
      members.push(this.member());
    }
    return { ...unite(members), negated };
  }

  protected override member(): CharacterClass {
    const start = this.at;
    const low = this.classCharacter();
    const following = this.characters[this.at + 1];
    if (this.peek() !== '-' || following === ']' || following === undefined) return low;
    this.at++;
    const high = this.classCharacter();
    const [lowest, highest] = [findOnlyCode(low), findOnlyCode(high)];
    // Annex B.1.2.7: the hyphen beside a class such as \w is a character.
    if (lowest === undefined || highest === undefined) return unite([low, toClass('-'), high]);
    if (highest < lowest) this.refuse('the range ends before it begins', start);
    return { negated: false, ranges: [[lowest, highest]], categories: [] };
  }

  protected override classCharacter(): CharacterClass {
    const next = this.peek() ?? this.refuse('the end is not a character of a class');
    if (next === '\\') return this.classEscape();
    const following = this.characters[this.at + 1] ?? '';
    if (next === '[' && ':.='.includes(following) && this.#closes(following))
      this.refuse(`"[${following}" begins a class of POSIX, which is not supported`);
    this.at++;
    return toClass(next);
  }

  /** Returns whether the character stands before the next bracket, as in `[:alpha:]`. */
  #closes(character: string): boolean {
    const end = this.characters.indexOf(']', this.at);
    return end > this.at + 2 && this.characters[end - 1] === character;
  }

  protected classEscape(): CharacterClass {
    if (this.characters[this.at + 1] !== 'b') return this.escape();
    this.at += 2;
    return toClass('\b');
  }

  protected override escape(): CharacterClass {
    const start = this.at++;
    const escaped = this.peek() ?? this.refuse('the "\\" escapes nothing', start);
    this.at++;
    const ranges = classEscapes[escaped];
    if (ranges !== undefined) return { negated: false, ranges, categories: [] };
    const control = controlEscapes[escaped];
    if (control !== undefined) return toClass(control);
    if (escaped === 'p' || escaped === 'P') return this.#property(escaped === 'P', start);
    if (escaped === 'x' || escaped === 'u' || escaped === 'c' || escaped === '0') {
      const code = this.#code(escaped) ?? this.refuse(`the escape \\${escaped} is not complete`, start);
      return toClass(String.fromCodePoint(code));
    }
    if (escaped === 'k' || /[1-9]/.test(escaped)) this.refuse('back-references are not supported', start);
    if (/[A-Za-z]/.test(escaped)) this.refuse(`the escape \\${escaped} is not one of ECMA-262`, start);
    return toClass(escaped);
  }

  #property(negated: boolean, start: number): CharacterClass {
    const end = this.characters.indexOf('}', this.at);
    const name = this.characters.slice(this.at + 1, Math.max(end, 0)).join('');
    const property = this.peek() === '{' ? compileProperty(name, negated) : undefined;
    if (property === undefined)
      this.refuse('\\p and \\P require a property of Unicode, such as \\p{L}', start);
    this.at = end + 1;
    return { negated: false, ranges: [], categories: [property] };
  }

  /** Returns the code point of `\xHH`, `\uHHHH`, `\u{H…}`, `\cA` or `\0`. */
  #code(kind: string): number | undefined {
    if (kind === '0') return /\d/.test(this.peek() ?? '') ? undefined : 0;
    if (kind === 'c') {
      const letter = this.#digits(/^[A-Za-z]/, 1);
      return letter === undefined ? undefined : letter.charCodeAt(0) % 32;
    }
    if (kind === 'x') return toCode(this.#digits(/^[0-9A-Fa-f]{2}/, 2));
    if (this.peek() === '{') return toCode(this.#digits(/^\{[0-9A-Fa-f]+\}/, 12)?.slice(1, -1));
    const unit = toCode(this.#digits(/^[0-9A-Fa-f]{4}/, 4));
    if (unit === undefined || unit < 0xd800 || unit > 0xdbff) return unit;
    const pair = this.#digits(/^\\u[Dd][C-Fc-f][0-9A-Fa-f]{2}/, 6);
    const low = toCode(pair?.slice(2));
    return low === undefined ? unit : (unit - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000;
  }

  /** Consumes what the form matches in the next characters. */
  #digits(form: RegExp, length: number): string | undefined {
    const found = form.exec(this.characters.slice(this.at, this.at + length).join(''))?.[0];
    this.at += found?.length ?? 0;
    return found;
  }
}

function toCode(digits: string | undefined): number | undefined {
  const code = Number.parseInt(digits ?? '', 16);
  return code <= 0x10ffff ? code : undefined;
}

function unite(classes: readonly CharacterClass[]): CharacterClass {
  return {
    negated: false,
    ranges: classes.flatMap(({ ranges }) => ranges),
    categories: classes.flatMap(({ categories }) => categories),
  };
}

// Writes patterns as regular expressions of ECMA-262, for JSON Schema.

/**
 * Returns the regular expression, for the flag `u`, that matches the same texts as a pattern.
 * @throws {PatternError} for an invalid pattern
 */
export function formatEcmaPattern(source: string): string {
  const expression = parsePattern(source);
  return `^${expression.kind === 'choice' ? `(?:${formatExpression(expression)})` : formatExpression(expression)}$`;
}

/** Returns the regular expression, for the flag `u`, that matches what an expression matches. */
function formatExpression(expression: Expression): string {
  switch (expression.kind) {
    case 'class':
      return formatClass(expression.class);
    case 'assertion':
      return formatAssertion(expression.test);
    case 'sequence':
      return expression.parts.map(formatPart).join('');
    case 'choice':
      return expression.branches.map(formatExpression).join('|');
    case 'repeat':
      return `${formatRepeated(expression.part)}${quantifier(expression.min, expression.max)}`;
  }
}

function formatAssertion(test: Assertion): string {
  switch (test.at) {
    case 'start':
      return '^';
    case 'end':
      return '$';
    case 'boundary':
      return test.negated ? '\\B' : '\\b';
    case 'ahead':
    case 'behind':
      return `(?${test.at === 'behind' ? '<' : ''}${test.negated ? '!' : '='}${formatExpression(test.body)})`;
  }
}

function formatPart(part: Expression): string {
  return part.kind === 'choice' ? `(?:${formatExpression(part)})` : formatExpression(part);
}

function formatRepeated(part: Expression): string {
  return part.kind === 'class' ? formatExpression(part) : `(?:${formatExpression(part)})`;
}

function quantifier(min: number, max: number): string {
  if (max === Infinity) return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`;
  if (min === 0 && max === 1) return '?';
  return min === max ? `{${min}}` : `{${min},${max}}`;
}

function formatClass({ negated, ranges, categories }: CharacterClass): string {
  const [only] = ranges;
  const isSingle = ranges.length === 1 && categories.length === 0 && only?.[0] === only?.[1];
  if (isSingle && only !== undefined && !negated) return character(only[0]);
  const inRanges = ranges.map(([first, last]) => {
    if (first === last) return character(first);
    return `${character(first)}-${character(last)}`;
  });
  // A category is compiled as `^\p{L}$`.
  const inCategories = categories.map(({ source }) => source.slice(1, -1));
  return `[${negated ? '^' : ''}${inRanges.join('')}${inCategories.join('')}]`;
}

/** Returns a character as it can be written both inside and outside of a class. */
function character(code: number): string {
  const text = String.fromCodePoint(code);
  if (/[\p{L}\p{N}_ !"#%&',:;<=>@`~]/u.test(text)) return text;
  // With the flag `u`, only these characters can be escaped by a backslash in both places.
  if (/[\^$\\.*+?()[\]{}|/]/.test(text)) return `\\${text}`;
  if (code <= 0xff) return `\\x${hexadecimal(code, 2)}`;
  return code <= 0xffff ? `\\u${hexadecimal(code, 4)}` : `\\u{${hexadecimal(code, 1)}}`;
}

function hexadecimal(code: number, digits: number): string {
  return code.toString(16).toUpperCase().padStart(digits, '0');
}
