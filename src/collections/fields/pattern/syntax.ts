/**
 * Parses patterns: I-Regexp (RFC 9485 §3) with `\d`, `\w`, `\s` and `(?:…)` as in JavaScript. A pattern
 * always matches the whole value, so an initial `^` and a final `$` are allowed and have no effect.
 * Lookaround, back-references, lazy quantifiers, named groups, and other constructs that a finite automaton
 * cannot match are not supported.
 */
import { type CharacterClass, compileCategory, digits, spaces, wordCharacters } from './classes.ts';

/** The syntax tree of a pattern. Only those of ECMA-262 contain assertions. */
export type Expression =
  | { readonly kind: 'class'; readonly class: CharacterClass }
  | { readonly kind: 'assertion'; readonly test: Assertion }
  | { readonly kind: 'sequence'; readonly parts: readonly Expression[] }
  | { readonly kind: 'choice'; readonly branches: readonly Expression[] }
  | { readonly kind: 'repeat'; readonly part: Expression; readonly min: number; readonly max: number };

/** A condition on a position in the text. */
export type Assertion =
  /** `^` and `$`: the position is the start or the end of the text. */
  | { readonly at: 'start' | 'end' }
  /** `\\b` and `\\B`: a word begins or ends at the position, or not. */
  | { readonly at: 'boundary'; readonly negated: boolean }
  /** Lookaround: the body matches a text that begins or ends at the position, or none. */
  | { readonly at: 'ahead' | 'behind'; readonly negated: boolean; readonly body: Expression };

/** Thrown for an invalid pattern. The message contains the position in characters, from 1. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

/**
 * Parses a pattern.
 * @throws {PatternError} for an invalid pattern
 */
export function parsePattern(source: string): Expression {
  const characters = [...source];
  const anchored = characters[0] === '^' ? 1 : 0;
  return new PatternReader(characters, anchored).whole();
}

/** The maximum nesting depth of groups. */
const maxDepth = 100;

/** Reads I-Regexp. A subclass reads another dialect by its atoms, groups, classes and escapes. */
export class PatternReader {
  protected readonly characters: readonly string[];
  protected at: number;
  /** The maximum count of a repetition. */
  protected readonly maxCount: number = 10_000;
  #depth = 0;

  constructor(characters: readonly string[], start: number) {
    this.characters = characters;
    this.at = start;
  }

  whole(): Expression {
    const expression = this.choice();
    if (this.at < this.characters.length) this.refuse(`the ")" has no matching "("`);
    return expression;
  }

  /** `i-regexp = branch *( "|" branch )` */
  protected choice(): Expression {
    const branches = [this.#branch()];
    while (this.take('|')) branches.push(this.#branch());
    const [only] = branches;
    return only !== undefined && branches.length === 1 ? only : { kind: 'choice', branches };
  }

  /** `branch = *piece`, `piece = atom [ quantifier ]` */
  #branch(): Expression {
    const parts: Expression[] = [];
    for (;;) {
      const next = this.peek();
      if (next === undefined || next === '|' || next === ')') break;
      const atom = this.atom(next);
      if (atom !== undefined) parts.push(this.#quantified(atom));
    }
    return { kind: 'sequence', parts };
  }

  /** Reads an atom. Returns undefined for one without effect. */
  protected atom(next: string): Expression | undefined {
    if (next === '$' && this.at === this.characters.length - 1) {
      this.at++;
      return undefined;
    }
    if (next === '(') return this.group();
    if (next === '[') return toExpression(this.classExpression());
    if (next === '\\') return toExpression(this.escape());
    if (next === '^' || next === '$') {
      this.refuse(
        `"${next}" is allowed only as the ${next === '^' ? 'first' : 'last'} character; write \\${next}`,
      );
    }
    if ('*+?{'.includes(next)) this.refuse(`"${next}" has nothing to repeat`);
    if (']}'.includes(next)) this.refuse(`"${next}" has no opening bracket; write \\${next}`);
    this.at++;
    return toExpression(next === '.' ? { negated: true, ranges: lineEnds, categories: [] } : toClass(next));
  }

  protected group(): Expression {
    const start = this.at++;
    const wrap = this.groupStart(start);
    if (++this.#depth > maxDepth) this.refuse(`groups are nested more than ${maxDepth} deep`, start);
    const expression = this.choice();
    if (!this.take(')')) this.refuse('the "(" is not closed', start);
    this.#depth--;
    return wrap(expression);
  }

  /** Reads what follows the `(` of a group. Returns what the group makes of its content. */
  protected groupStart(start: number): (content: Expression) => Expression {
    if (this.take('?') && !this.take(':')) {
      this.refuse(
        '"(?" must be followed by ":"; lookaround, named groups and flags are not supported',
        start,
      );
    }
    return (content) => content;
  }

  #quantified(part: Expression): Expression {
    const start = this.at;
    const bounds = this.quantifier();
    if (bounds === undefined) return part;
    this.quantifierEnd();
    const next = this.peek();
    if (next !== undefined && '*+{'.includes(next)) this.refuse('a quantifier cannot follow a quantifier');
    const [min, max] = bounds;
    if (max < min) this.refuse(`the repetition ends at ${max}, less than its start ${min}`, start);
    return { kind: 'repeat', part, min, max };
  }

  /** Reads what makes a quantifier lazy. */
  protected quantifierEnd(): void {
    if (this.peek() === '?') this.refuse('lazy quantifiers are not supported; the whole value must match');
  }

  protected quantifier(): [min: number, max: number] | undefined {
    if (this.take('*')) return [0, Infinity];
    if (this.take('+')) return [1, Infinity];
    if (this.take('?')) return [0, 1];
    if (!this.take('{')) return undefined;
    const min = this.#count();
    const max = this.take(',') ? (this.peek() === '}' ? Infinity : this.#count()) : min;
    if (!this.take('}')) this.refuse('a repetition must have the form {n}, {n,} or {n,m}');
    return [min, max];
  }

  #count(): number {
    const start = this.at;
    let written = '';
    for (let next = this.peek(); next !== undefined && isDigit(next); next = this.peek()) {
      written += next;
      this.at++;
    }
    if (written === '') this.refuse('a repetition must have the form {n}, {n,} or {n,m}', start);
    if (Number(written) > this.maxCount) {
      this.refuse(`${written.slice(0, 20)} repetitions are more than ${this.maxCount}`, start);
    }
    return Number(written);
  }

  /** `charClassExpr = "[" [ "^" ] ( "-" / CCE1 ) *CCE1 [ "-" ] "]"` */
  protected classExpression(): CharacterClass {
    const start = this.at++;
    const negated = this.take('^');
    const ranges: (readonly [number, number])[] = [];
    const among: RegExp[] = [];
    for (let first = true; first || this.peek() !== ']'; first = false) {
      if (this.peek() === undefined) this.refuse('the "[" is not closed', start);
      const member = this.member(first);
      ranges.push(...member.ranges);
      among.push(...member.categories);
    }
    this.at++;
    return { negated, ranges, categories: among };
  }

  /** `CCE1 = ( CCchar [ "-" CCchar ] ) / charClassEsc`, or a "-" at either end. */
  protected member(first: boolean): CharacterClass {
    const start = this.at;
    if (this.peek() === '-') {
      if (!first && this.characters[this.at + 1] !== ']') {
        this.refuse('a "-" in a class must be first or last, or be written \\-');
      }
      this.at++;
      return toClass('-');
    }
    const low = this.classCharacter();
    const lowest = findOnlyCode(low);
    if (this.peek() !== '-' || this.characters[this.at + 1] === ']') return low;
    this.at++;
    const highest = findOnlyCode(this.classCharacter());
    if (lowest === undefined || highest === undefined) {
      this.refuse('both ends of a range must be single characters', start);
    }
    if (highest < lowest) this.refuse('the range ends before it begins', start);
    return { negated: false, ranges: [[lowest, highest]], categories: [] };
  }

  protected classCharacter(): CharacterClass {
    const next = this.peek();
    if (next === '\\') return this.escape();
    if (next === undefined || next === '[' || next === ']' || next === '-') {
      this.refuse(
        `${next === undefined ? 'the end' : `"${next}"`} is not a character of a class; escape it or close the class`,
      );
    }
    this.at++;
    return toClass(next);
  }

  /** `SingleCharEsc`, `catEsc`, `complEsc`, and the classes `\d`, `\w` and `\s`. */
  protected escape(): CharacterClass {
    const start = this.at++;
    const escaped = this.peek();
    if (escaped === undefined) this.refuse('the "\\" escapes nothing', start);
    this.at++;
    if (escaped === 'd') return { negated: false, ranges: digits, categories: [] };
    if (escaped === 'w') return { negated: false, ranges: wordCharacters, categories: [] };
    if (escaped === 's') return { negated: false, ranges: spaces, categories: [] };
    if (escaped === 'p' || escaped === 'P') return this.#category(escaped === 'P', start);
    if (escaped === 'n') return toClass('\n');
    if (escaped === 'r') return toClass('\r');
    if (escaped === 't') return toClass('\t');
    if ('()*+-.?[\\]^{|}$/'.includes(escaped)) return toClass(escaped);
    if (isDigit(escaped)) this.refuse('back-references are not supported', start);
    this.refuse(`the escape \\${escaped} is not supported`, start);
  }

  #category(negated: boolean, start: number): CharacterClass {
    const rest = this.characters.slice(this.at, this.at + 4).join('');
    const name = /^\{([A-Z][a-z]?)\}/.exec(rest)?.[1];
    const category = name === undefined ? undefined : compileCategory(name, negated);
    if (name === undefined || category === undefined) {
      this.refuse('\\p and \\P require a Unicode general category, such as \\p{L} or \\p{Nd}', start);
    }
    this.at += name.length + 2;
    return { negated: false, ranges: [], categories: [category] };
  }

  protected peek(): string | undefined {
    return this.characters[this.at];
  }

  protected take(character: string): boolean {
    if (this.characters[this.at] !== character) return false;
    this.at++;
    return true;
  }

  protected refuse(what: string, at = this.at): never {
    throw new PatternError(`${what} (character ${at + 1})`);
  }
}

/** The characters that `.` does not match (RFC 9485 §5.3). */
const lineEnds: readonly (readonly [number, number])[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
];

/** Returns the expression that matches one character of a class. */
export function toExpression(of: CharacterClass): Expression {
  return { kind: 'class', class: of };
}

/** Returns the class of one character. */
export function toClass(character: string): CharacterClass {
  const code = character.codePointAt(0) ?? 0;
  return { negated: false, ranges: [[code, code]], categories: [] };
}

/** Returns the code point of a class of one character; undefined for any other class. */
export function findOnlyCode(of: CharacterClass): number | undefined {
  const [range] = of.ranges;
  if (of.ranges.length !== 1 || of.categories.length > 0 || range === undefined) return undefined;
  return range[0] === range[1] ? range[0] : undefined;
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}
