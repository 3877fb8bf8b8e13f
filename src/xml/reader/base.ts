import { isAscii } from 'node:buffer';
import * as characters from '../characters.ts';
import { characterAt, clipped, elementPath, XmlError, type XmlErrorCode } from '../error.ts';
import type { Limits, XmlHandler } from '../handler.ts';
import type { Name, XmlNames } from '../names.ts';
import type { NamespaceScope } from '../namespace.ts';
import { advance, type Position, START } from '../position.ts';
import { NO_WORDS } from '../utf8.ts';

// Constants of this module, not imported ones, are folded into the machine code: it is a third faster.
const {
  AMPERSAND,
  BLANK,
  CARRIAGE_RETURN,
  CLEAN,
  DIGIT,
  DOUBLE_QUOTE,
  EQUALS,
  HASH,
  ILLEGAL,
  isCharacter,
  LESS_THAN,
  LINE_FEED,
  NAME,
  NAME_UNITS,
  NO_DIGIT,
  PAST_UNICODE,
  SEMICOLON,
  SINGLE_QUOTE,
  SMALL_X,
  VALUE,
  WIDE,
} = characters;

/** Why nothing follows what there is to read: the code of the fault that this is inside a token, and what stands there. */
export interface Ending {
  readonly code: XmlErrorCode;
  readonly found: string;
}

/** Thrown in place of a fault that may be none, as the stretch has to be decoded first. */
export const UNDECODED: unique symbol = Symbol('undecoded');

/** No codes at all. */
export const NO_BYTES: Buffer = Buffer.alloc(0);

/**
 * A stretch of a document and the cursor in it, and what every kind of token is made of: names, white
 * space, values and references. All that is known of a document is here, in one object made at once: that
 * makes a parser cheap, and there is one for each document.
 *
 * A token has no effect before it is whole: where the stretch ends inside one, the cursor goes back to the
 * token's beginning, and it is read again with what follows.
 */
export class Reader {
  protected codes: Uint8Array = NO_BYTES;
  /** The codes of a stretch that was decoded, four at a time. */
  protected words = NO_WORDS;
  protected text = '';
  /** How many codes there are; reading behind the last gives 0, at which every scan stops. */
  protected length = 0;
  /** True if nothing in the stretch is a control but tab and LF, so that long text may be skipped unseen. */
  protected plain = false;
  /** True if the stretch is bytes taken for ASCII until one shows that they are not, and then read again. */
  protected raw = false;
  /** The next `&` and `]` of the stretch, if they are behind the cursor: looked for once and not for each run of text. */
  protected ampersand = -1;
  protected bracket = -1;
  protected cursor = 0;
  /** Where the token being read, or the event being delivered, begins. */
  protected begin = 0;
  /** The place of the stretch's beginning, and whether a CR stands before it. */
  protected place: Position = START;
  protected afterReturn = false;
  /** Set once nothing follows. */
  protected ending: Ending | undefined = undefined;
  /** The open elements, as far as `depth`; with room for most documents, so that it need not grow. */
  protected readonly open: (Name | undefined)[] = [undefined, undefined, undefined, undefined];
  protected depth = 0;
  /** True until anything has been read, once there was an element, and inside a CDATA section. */
  protected fresh = true;
  protected rooted = false;
  protected inSection = false;
  /** The prefixes in scope, once a name has one. */
  protected scope: NamespaceScope | undefined = undefined;
  /** The name that was read last, and the value, or what the reference stands for. */
  protected taken: Name;
  protected string = '';
  protected readonly handler: XmlHandler;
  protected readonly limits: Limits;
  private readonly names: XmlNames;

  constructor(handler: XmlHandler, limits: Limits) {
    this.handler = handler;
    this.limits = limits;
    this.names = limits.names;
    this.taken = limits.names.none;
  }

  // What reads a part of a token takes the index where the part begins and gives the one behind it, or −1
  // if the stretch ends before.

  /** A name (§2.3 [5]), which is then `taken`; what is none is the fault `code`. */
  protected name(from: number, code: XmlErrorCode, expected: string): number {
    const codes = this.codes;
    const guess = this.names.guess(this.taken, codes, from);
    if (guess !== undefined && NAME[codes[from + guess.codes.length] ?? 0] === 0)
      return this.guessed(guess, from);
    return this.spelled(from, code, expected);
  }

  /** A name that was not guessed, or is none. */
  private spelled(from: number, code: XmlErrorCode, expected: string): number {
    const codes = this.codes;
    let at = from;
    let next = codes[at] ?? 0;
    if (NAME[next] !== 3) return this.unlessEnd(at, code, expected);
    let hash = 0;
    let all = 0;
    while (NAME[next] !== 0) {
      hash = (Math.imul(hash, 31) + next) | 0;
      all |= next;
      next = codes[++at] ?? 0;
    }
    if (all < WIDE) return this.named(from, at, hash);
    return this.raw ? this.again() : this.wideName(from, code, expected);
  }

  /** A name that is not ASCII, read by its units. */
  private wideName(from: number, code: XmlErrorCode, expected: string): number {
    const text = this.text;
    let at = from;
    let next = text.charCodeAt(at);
    if (NAME_UNITS[next] !== 3) return this.unlessEnd(at, code, expected);
    let hash = 0;
    while (at < this.length && NAME_UNITS[next] !== 0) {
      hash = (Math.imul(hash, 31) + next) | 0;
      next = text.charCodeAt(++at);
    }
    return this.named(from, at, hash);
  }

  private named(from: number, to: number, hash: number): number {
    if (to - from > this.limits.maxName) throw this.longName(from);
    if (to >= this.length) return this.unfinished();
    this.taken = this.names.take(this.taken, this.codes, this.text, from, to, hash);
    return to;
  }

  private guessed(name: Name, from: number): number {
    const at = from + name.codes.length;
    if (at - from > this.limits.maxName) throw this.longName(from);
    if (at >= this.length) return this.unfinished();
    this.taken = name;
    return at;
  }

  /** White space, if there is any (§2.3 [3]). */
  protected blanks(from: number): number {
    const codes = this.codes;
    let at = from;
    while (BLANK[codes[at] ?? 0] === 1) at++;
    return at;
  }

  /** `="value"` (§3.1 [41], §2.3 [10]), which is then the `string`, its references replaced. */
  protected value(from: number): number {
    const codes = this.codes;
    let at = codes[from] === EQUALS ? from : this.blanks(from);
    if (codes[at] !== EQUALS) return this.unlessEnd(at, 'tag', '"="');
    at += 1;
    let quote = codes[at] ?? 0;
    if (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE) {
      at = this.blanks(at);
      quote = codes[at] ?? 0;
      if (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE)
        return this.unlessEnd(at, 'tag', 'a value in quotes');
    }
    const first = at + 1;
    at = first;
    while (VALUE[codes[at] ?? 0] === CLEAN) at++;
    if (codes[at] !== quote) return this.mixedValue(first, at, quote);
    if (at - first > this.limits.maxValue) throw this.longValue(first);
    this.string = this.text.substring(first, at);
    return at + 1;
  }

  /** The rest of a value with references, white space to replace (§3.3.3) or the other quote in it. */
  private mixedValue(first: number, stop: number, quote: number): number {
    const codes = this.codes;
    let value = '';
    let from = first;
    let at = stop;
    while (codes[at] !== quote) {
      if (at >= this.length) return this.unfinished();
      const code = codes[at] ?? 0;
      if (code >= WIDE && this.raw) return this.again();
      if (code === WIDE || code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
        do at += 1;
        while (codes[at] === WIDE);
      } else {
        value += this.text.substring(from, at);
        from = this.replaced(at, code);
        if (from < 0) return from;
        value += this.string;
        at = from;
      }
      while (VALUE[codes[at] ?? 0] === CLEAN) at++;
    }
    if (at - first > this.limits.maxValue) throw this.longValue(first);
    this.string = value + this.text.substring(from, at);
    return at + 1;
  }

  /** What in a value stands for something else, which is then the `string`. */
  private replaced(at: number, code: number): number {
    if (code === AMPERSAND) return this.reference(at);
    if (code === LESS_THAN) throw this.fault('less-than-in-value', at, '"&lt;" or the end of the value');
    if (VALUE[code] === ILLEGAL) throw this.illegal(at);
    this.string = ' ';
    return code === CARRIAGE_RETURN && this.codes[at + 1] === LINE_FEED ? at + 2 : at + 1;
  }

  /** A reference (§4.1 [66] to [68]); the `string` is then what it stands for. */
  protected reference(from: number): number {
    if (this.codes[from + 1] === HASH) return this.characterReference(from);
    const at = this.name(from + 1, 'reference', 'a name or "#" after "&"');
    if (at < 0) return at;
    if (this.codes[at] !== SEMICOLON) throw this.fault('reference', at, '";"');
    const { meaning, text } = this.taken;
    if (meaning === undefined) {
      const expected = 'one of &lt; &gt; &amp; &apos; &quot; or the number of a character';
      throw this.fault('undeclared-entity', from, expected, `&${clipped(text)};`);
    }
    this.string = meaning;
    return at + 1;
  }

  private characterReference(from: number): number {
    const codes = this.codes;
    const hexadecimal = codes[from + 2] === SMALL_X;
    const base = hexadecimal ? 16 : 10;
    const first = hexadecimal ? from + 3 : from + 2;
    let at = first;
    let point = 0;
    for (let digit = digitAt(codes, at); digit < base; digit = digitAt(codes, at)) {
      point = Math.min(point * base + digit, PAST_UNICODE); // of any number of digits
      at += 1;
    }
    if (at - from > this.limits.maxName) throw this.longName(from);
    if (at >= this.length) return this.unfinished();
    if (at === first || codes[at] !== SEMICOLON) {
      throw this.fault('reference', at, at === first ? 'a number, as in "&#65;" or "&#x41;"' : '";"');
    }
    if (!isCharacter(point)) {
      const found = clipped(this.text.substring(from, at + 1));
      throw this.fault('character-reference', from, 'the number of a character of XML', found);
    }
    this.string = String.fromCodePoint(point);
    return at + 1;
  }

  // Ends and faults

  /** −1, as the token has to be read again, decoded. */
  protected again(): number {
    this.cursor = this.begin;
    return -1;
  }

  protected isRestAscii(from: number): boolean {
    return isAscii(this.codes.subarray(from));
  }

  /** −1, as the stretch ends inside a token, if anything can follow; else that is the fault. */
  protected unfinished(): number {
    if (this.length - this.begin > this.limits.maxToken) throw this.tooLong();
    if (this.ending !== undefined) {
      const begun = clipped(this.text.substring(this.begin, this.begin + 24));
      throw this.fault(
        this.ending.code,
        this.length,
        `the rest of ${JSON.stringify(begun)}`,
        this.ending.found,
      );
    }
    this.cursor = this.begin;
    return -1;
  }

  /** What stands at `at` is a fault, unless the stretch ends there. */
  protected unlessEnd(at: number, code: XmlErrorCode, expected: string): number {
    if (at >= this.length) return this.unfinished();
    if (VALUE[this.codes[at] ?? 0] === ILLEGAL) throw this.illegal(at);
    throw this.fault(code, at, expected);
  }

  protected illegal(at: number): XmlError {
    return this.fault('invalid-character', at, 'a character of XML');
  }

  protected tooLong(): XmlError {
    const { maxToken } = this.limits;
    return this.errorAt(
      this.begin,
      'limit-token',
      `a tag, comment or instruction of at most ${maxToken} characters`,
      'a longer one',
    );
  }

  protected afterRoot(code: 'second-root' | 'misplaced-text', at: number): XmlError {
    return this.fault(code, at, 'nothing but comments and instructions after the root element');
  }

  private longName(at: number): XmlError {
    return this.fault('limit-name', at, `at most ${this.limits.maxName} characters`, 'a longer name');
  }

  private longValue(at: number): XmlError {
    return this.fault(
      'limit-value',
      at,
      `a value of at most ${this.limits.maxValue} characters`,
      'a longer one',
    );
  }

  /** The error for what stands at `at`; a token that is too long before it is told as that, however it came. */
  protected fault(
    code: XmlErrorCode,
    at: number,
    expected: string,
    found = characterAt(this.text, at),
    encoding?: string,
  ): XmlError {
    if (at - this.begin > this.limits.maxToken) return this.tooLong();
    return this.errorAt(at, code, expected, found, encoding);
  }

  private errorAt(
    at: number,
    code: XmlErrorCode,
    expected: string,
    found: string,
    encoding?: string,
  ): XmlError {
    if (this.raw && !this.isRestAscii(this.begin)) throw UNDECODED;
    const { line, column } = this.placeOf(at);
    const path = elementPath(this.open.slice(0, this.depth).map((name) => name?.text ?? ''));
    return new XmlError(code, { line, column, path, found, expected, encoding });
  }

  protected placeOf(at: number): Position {
    return advance(this.place, this.text, at, this.afterReturn);
  }
}

function digitAt(codes: Uint8Array, at: number): number {
  return DIGIT[codes[at] ?? 0] ?? NO_DIGIT;
}
