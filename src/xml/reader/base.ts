import { isAscii } from 'node:buffer';
import * as characters from '../characters.ts';
import { characterAt, clipped, elementPath, XmlError, type XmlErrorCode } from '../error.ts';
import type { Limits, XmlHandler } from '../handler.ts';
import type { Name, XmlNames } from '../names.ts';
import type { NamespaceScope } from '../namespace.ts';
import { advance, type Position, START } from '../position.ts';
import { NO_WORDS } from '../utf8.ts';

// Destructured, because V8 constant-folds local constants but not imported ones. This makes the scan a third
// faster.
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

/**
 * Why the document cannot continue: the error code for a token that is incomplete at this point, and what was
 * found.
 */
export interface Ending {
  readonly code: XmlErrorCode;
  readonly found: string;
}

/** Thrown instead of an error that may be wrong, because the chunk must be decoded first. */
export const UNDECODED: unique symbol = Symbol('undecoded');

export const NO_BYTES: Buffer = Buffer.alloc(0);

/**
 * The current chunk of a document, the cursor in it, and the parts of tokens: names, white space, values and
 * references. The complete state of a parser is in this one object, which makes parsers cheap; each document
 * has its own.
 *
 * A token has no effect until it is complete. If the chunk ends inside a token, the cursor returns to the
 * beginning of the token, which is read again together with the next bytes.
 */
export class Reader {
  protected codes: Uint8Array = NO_BYTES;
  /** The codes of a decoded chunk, four in each word. */
  protected words = NO_WORDS;
  protected text = '';
  /** The number of codes. Reading past the last yields 0, at which every scan stops. */
  protected length = 0;
  /** Whether the chunk contains no control character except tab and LF, so that long text can be skipped. */
  protected plain = false;
  /** Whether the bytes are assumed to be ASCII. The chunk is decoded as soon as a byte is not. */
  protected raw = false;
  /**
   * The positions of the next `&` and `]` in the chunk, if they are after the cursor. Each is searched for
   * only once.
   */
  protected ampersand = -1;
  protected bracket = -1;
  protected cursor = 0;
  /** Where the current token or event begins. */
  protected begin = 0;
  /** The position at which the chunk begins, and whether the preceding text ends in CR. */
  protected chunkStart: Position = START;
  protected afterReturn = false;
  /** Set when the document cannot continue. */
  protected ending: Ending | undefined = undefined;
  /** The open elements, up to `depth`. Preallocated for most documents. */
  protected readonly open: (Name | undefined)[] = [undefined, undefined, undefined, undefined];
  protected depth = 0;
  /**
   * Whether nothing has been read yet; whether the root element has begun; whether a CDATA section is open.
   */
  protected fresh = true;
  protected rooted = false;
  protected inSection = false;
  /** The prefixes in scope; undefined until a name has a prefix. */
  protected scope: NamespaceScope | undefined = undefined;
  /** The last name, and the last attribute value or replacement text of a reference. */
  protected lastName: Name;
  protected lastValue = '';
  protected readonly handler: XmlHandler;
  protected readonly limits: Limits;
  private readonly names: XmlNames;

  constructor(handler: XmlHandler, limits: Limits) {
    this.handler = handler;
    this.limits = limits;
    this.names = limits.names;
    this.lastName = limits.names.empty;
  }

  // The methods that read a part of a token take the index at which it begins. They return the index after
  // it, or −1 if the chunk ends first.

  /** Reads a name (§2.3 [5]) into `lastName`. Throws an error with this code if there is no name. */
  protected name(from: number, code: XmlErrorCode, expected: string): number {
    const codes = this.codes;
    const predicted = this.names.predict(this.lastName, codes, from);
    if (predicted !== undefined && NAME[codes[from + predicted.codes.length] ?? 0] === 0)
      return this.predictedName(predicted, from);
    return this.scanName(from, code, expected);
  }

  /** Reads a name that was not predicted. */
  private scanName(from: number, code: XmlErrorCode, expected: string): number {
    const codes = this.codes;
    let at = from;
    let next = codes[at] ?? 0;
    if (NAME[next] !== 3) return this.unexpected(at, code, expected);
    let hash = 0;
    let all = 0;
    while (NAME[next] !== 0) {
      hash = (Math.imul(hash, 31) + next) | 0;
      all |= next;
      next = codes[++at] ?? 0;
    }
    if (all < WIDE) return this.internName(from, at, hash);
    return this.raw ? this.restart() : this.wideName(from, code, expected);
  }

  /** Reads a name that is not ASCII by its UTF-16 units. */
  private wideName(from: number, code: XmlErrorCode, expected: string): number {
    const text = this.text;
    let at = from;
    let next = text.charCodeAt(at);
    if (NAME_UNITS[next] !== 3) return this.unexpected(at, code, expected);
    let hash = 0;
    while (at < this.length && NAME_UNITS[next] !== 0) {
      hash = (Math.imul(hash, 31) + next) | 0;
      next = text.charCodeAt(++at);
    }
    return this.internName(from, at, hash);
  }

  private internName(from: number, to: number, hash: number): number {
    if (to - from > this.limits.maxName) throw this.nameTooLong(from);
    if (to >= this.length) return this.incomplete();
    this.lastName = this.names.intern(this.lastName, this.codes, this.text, from, to, hash);
    return to;
  }

  private predictedName(name: Name, from: number): number {
    const at = from + name.codes.length;
    if (at - from > this.limits.maxName) throw this.nameTooLong(from);
    if (at >= this.length) return this.incomplete();
    this.lastName = name;
    return at;
  }

  /** Skips optional white space (§2.3 [3]). */
  protected blanks(from: number): number {
    const codes = this.codes;
    let at = from;
    while (BLANK[codes[at] ?? 0] === 1) at++;
    return at;
  }

  /** Reads `="value"` (§3.1 [41], §2.3 [10]) into `lastValue`, with references replaced. */
  protected value(from: number): number {
    const codes = this.codes;
    let at = codes[from] === EQUALS ? from : this.blanks(from);
    if (codes[at] !== EQUALS) return this.unexpected(at, 'tag', '"="');
    at += 1;
    let quote = codes[at] ?? 0;
    if (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE) {
      at = this.blanks(at);
      quote = codes[at] ?? 0;
      if (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE)
        return this.unexpected(at, 'tag', 'a quoted value');
    }
    const first = at + 1;
    at = first;
    while (VALUE[codes[at] ?? 0] === CLEAN) at++;
    if (codes[at] !== quote) return this.mixedValue(first, at, quote);
    if (at - first > this.limits.maxValue) throw this.valueTooLong(first);
    this.lastValue = this.text.substring(first, at);
    return at + 1;
  }

  /**
   * Reads the rest of a value that contains references, white space to normalize (§3.3.3) or the other quote.
   */
  private mixedValue(first: number, stop: number, quote: number): number {
    const codes = this.codes;
    let value = '';
    let from = first;
    let at = stop;
    while (codes[at] !== quote) {
      if (at >= this.length) return this.incomplete();
      const code = codes[at] ?? 0;
      if (code >= WIDE && this.raw) return this.restart();
      if (code === WIDE || code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
        do at += 1;
        while (codes[at] === WIDE);
      } else {
        value += this.text.substring(from, at);
        from = this.replacement(at, code);
        if (from < 0) return from;
        value += this.lastValue;
        at = from;
      }
      while (VALUE[codes[at] ?? 0] === CLEAN) at++;
    }
    if (at - first > this.limits.maxValue) throw this.valueTooLong(first);
    this.lastValue = value + this.text.substring(from, at);
    return at + 1;
  }

  /** Reads a reference, or white space to normalize, and sets `lastValue` to its replacement. */
  private replacement(at: number, code: number): number {
    if (code === AMPERSAND) return this.reference(at);
    if (code === LESS_THAN) throw this.errorAt('less-than-in-value', at, '"&lt;" or the end of the value');
    if (VALUE[code] === ILLEGAL) throw this.illegalCharacter(at);
    this.lastValue = ' ';
    return code === CARRIAGE_RETURN && this.codes[at + 1] === LINE_FEED ? at + 2 : at + 1;
  }

  /** Reads a reference (§4.1 [66] to [68]) and sets `lastValue` to its replacement text. */
  protected reference(from: number): number {
    if (this.codes[from + 1] === HASH) return this.characterReference(from);
    const at = this.name(from + 1, 'reference', 'a name or "#" after "&"');
    if (at < 0) return at;
    if (this.codes[at] !== SEMICOLON) throw this.errorAt('reference', at, '";"');
    const { entity, text } = this.lastName;
    if (entity === undefined) {
      const expected = '&lt;, &gt;, &amp;, &apos;, &quot; or a character reference';
      throw this.errorAt('undeclared-entity', from, expected, `&${clipped(text)};`);
    }
    this.lastValue = entity;
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
      point = Math.min(point * base + digit, PAST_UNICODE); // clamped, for any number of digits
      at += 1;
    }
    if (at - from > this.limits.maxName) throw this.nameTooLong(from);
    if (at >= this.length) return this.incomplete();
    if (at === first || codes[at] !== SEMICOLON) {
      throw this.errorAt('reference', at, at === first ? 'a number, such as "&#65;" or "&#x41;"' : '";"');
    }
    if (!isCharacter(point)) {
      const found = clipped(this.text.substring(from, at + 1));
      throw this.errorAt('character-reference', from, 'a reference to an XML character', found);
    }
    this.lastValue = String.fromCodePoint(point);
    return at + 1;
  }

  /** Returns to the beginning of the token, which must be decoded and read again. Returns −1. */
  protected restart(): number {
    this.cursor = this.begin;
    return -1;
  }

  protected isRestAscii(from: number): boolean {
    return isAscii(this.codes.subarray(from));
  }

  /**
   * Returns to the beginning of an incomplete token. Returns −1, or throws if the document cannot continue.
   */
  protected incomplete(): number {
    if (this.length - this.begin > this.limits.maxToken) throw this.tooLong();
    if (this.ending !== undefined) {
      const start = clipped(this.text.substring(this.begin, this.begin + 24));
      throw this.errorAt(
        this.ending.code,
        this.length,
        `the rest of ${JSON.stringify(start)}`,
        this.ending.found,
      );
    }
    this.cursor = this.begin;
    return -1;
  }

  /** Throws the error for an unexpected character at `at`. Returns −1 if the chunk ends there. */
  protected unexpected(at: number, code: XmlErrorCode, expected: string): number {
    if (at >= this.length) return this.incomplete();
    if (VALUE[this.codes[at] ?? 0] === ILLEGAL) throw this.illegalCharacter(at);
    throw this.errorAt(code, at, expected);
  }

  protected illegalCharacter(at: number): XmlError {
    return this.errorAt('invalid-character', at, 'an XML character');
  }

  protected tooLong(): XmlError {
    const { maxToken } = this.limits;
    return this.newError(
      this.begin,
      'limit-token',
      `a tag, comment or processing instruction of at most ${maxToken} characters`,
      'a longer one',
    );
  }

  protected afterRoot(code: 'second-root' | 'misplaced-text', at: number): XmlError {
    return this.errorAt(code, at, 'only comments and processing instructions after the root element');
  }

  private nameTooLong(at: number): XmlError {
    return this.errorAt(
      'limit-name',
      at,
      `a name of at most ${this.limits.maxName} characters`,
      'a longer one',
    );
  }

  private valueTooLong(at: number): XmlError {
    return this.errorAt(
      'limit-value',
      at,
      `a value of at most ${this.limits.maxValue} characters`,
      'a longer one',
    );
  }

  /**
   * Returns the error at `at`. A token that exceeds its limit before `at` is reported as too long, however
   * the document is split into chunks.
   */
  protected errorAt(
    code: XmlErrorCode,
    at: number,
    expected: string,
    found = characterAt(this.text, at),
    encoding?: string,
  ): XmlError {
    if (at - this.begin > this.limits.maxToken) return this.tooLong();
    return this.newError(at, code, expected, found, encoding);
  }

  private newError(
    at: number,
    code: XmlErrorCode,
    expected: string,
    found: string,
    encoding?: string,
  ): XmlError {
    if (this.raw && !this.isRestAscii(this.begin)) throw UNDECODED;
    const { line, column } = this.positionOf(at);
    const path = elementPath(this.open.slice(0, this.depth).map((name) => name?.text ?? ''));
    return new XmlError(code, { line, column, path, found, expected, encoding });
  }

  protected positionOf(at: number): Position {
    return advance(this.chunkStart, this.text, at, this.afterReturn);
  }
}

function digitAt(codes: Uint8Array, at: number): number {
  return DIGIT[codes[at] ?? 0] ?? NO_DIGIT;
}
