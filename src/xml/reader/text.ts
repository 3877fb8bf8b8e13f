import * as characters from '../characters.ts';
import type { XmlError } from '../error.ts';
import { Reader } from './base.ts';

// Destructured, because V8 constant-folds local constants but not imported ones. This makes the scan a third
// faster.
const {
  AMPERSAND,
  ASCII_TEXT,
  CARRIAGE_RETURN,
  CDATA,
  CLEAN,
  GREATER_THAN,
  ILLEGAL,
  LESS_THAN,
  RIGHT_BRACKET,
  TEXT,
  WIDE,
} = characters;

/** Four wide codes in one word. */
const WIDE_WORD = (WIDE * 0x01010101) | 0;

/** The end of a run of text that is longer than this is found by a faster method. */
const NEAR = 32;

/** Reads text, references and CDATA sections. Text is delivered as it arrives. */
export class TextReader extends Reader {
  /** Reads text and references (§2.4). */
  protected characterData(first: number): number {
    const codes = this.codes;
    let from = first;
    let at = first;
    let returns = false;
    for (;;) {
      at = this.endOfClean(at);
      const code = codes[at] ?? 0;
      if (code === LESS_THAN || at >= this.length) break;
      if (code === AMPERSAND) {
        this.deliver(from, at, returns);
        this.begin = at;
        at = this.reference(at);
        if (at < 0) return at;
        this.handler.text?.(this.lastValue);
        from = at;
        returns = false;
      } else {
        if (this.needsMore(at, code) || (code >= WIDE && this.raw)) return this.suspend(from, at, returns);
        if (TEXT[code] === ILLEGAL || (code === RIGHT_BRACKET && this.endsSection(at))) {
          this.deliver(from, at, returns);
          throw this.textError(at);
        }
        returns ||= code === CARRIAGE_RETURN;
        at += 1;
      }
    }
    this.deliver(from, at, returns);
    return at;
  }

  /** Reads the text of a CDATA section (§2.7). */
  protected section(from: number): number {
    if (this.raw && !this.isRestAscii(from)) return this.suspend(from, from, false);
    const codes = this.codes;
    let at = from;
    let returns = false;
    for (;;) {
      while (CDATA[codes[at] ?? 0] === CLEAN) at++;
      if (at >= this.length) break;
      const code = codes[at] ?? 0;
      if (this.needsMore(at, code)) return this.suspend(from, at, returns);
      if (code === RIGHT_BRACKET && this.endsSection(at)) break;
      if (CDATA[code] === ILLEGAL) {
        this.deliver(from, at, returns);
        throw this.textError(at);
      }
      returns ||= code === CARRIAGE_RETURN;
      at += 1;
    }
    this.deliver(from, at, returns);
    if (at >= this.length) return at;
    this.inSection = false;
    return at + 3;
  }

  /** Returns where the run of text at `from` ends, at a code that needs processing. */
  private endOfClean(from: number): number {
    const codes = this.codes;
    const near = from + NEAR;
    let at = from;
    while (ASCII_TEXT[codes[at] ?? 0] === CLEAN) {
      at += 1;
      if (at === near) return this.endOfLong(at);
    }
    return (codes[at] ?? 0) < WIDE ? at : this.endOfLong(at);
  }

  /** Returns the end of a run that is long, or probably long because it is not ASCII. */
  private endOfLong(from: number): number {
    if (this.raw) return this.endOfRaw(from);
    if (this.plain) return this.endOfPlain(from);
    return this.codes[from] === WIDE ? this.endOfWide(from) : this.endOfRun(from);
  }

  /** Returns the end of a run that consists mostly of characters above ASCII. */
  private endOfWide(from: number): number {
    const codes = this.codes;
    let at = from;
    while ((at & 3) !== 0 && codes[at] === WIDE) at += 1;
    if ((at & 3) === 0) at = 4 * this.endOfWideWords(at >> 2);
    const near = at + NEAR;
    while (TEXT[codes[at] ?? 0] === CLEAN) {
      at += 1;
      if (at === near) return this.endOfRun(at);
    }
    return at;
  }

  /** Returns the end of a run of ASCII text; other text must be decoded first. */
  private endOfRaw(from: number): number {
    const codes = this.codes;
    let at = from;
    while (ASCII_TEXT[codes[at] ?? 0] === CLEAN) at += 1;
    return at;
  }

  /**
   * Returns the end of a run of words that each contain four wide codes: one comparison for four characters.
   */
  private endOfWideWords(from: number): number {
    const words = this.words;
    let word = from;
    while (words[word] === WIDE_WORD) word += 1;
    return word;
  }

  /** Returns the end of a run, eight codes at a time, which halves the time. */
  private endOfRun(from: number): number {
    const codes = this.codes;
    const last = this.length - 8;
    let at = from;
    while (at < last && isClean(codes, at) && isClean(codes, at + 4)) at += 8;
    while (TEXT[codes[at] ?? 0] === CLEAN) at += 1;
    return at;
  }

  /**
   * Returns the end of a run in a chunk without control characters, by native searches for `<`, `&` and `]`.
   */
  private endOfPlain(from: number): number {
    if (this.ampersand < from) this.ampersand = this.find('&', from);
    if (this.bracket < from) this.bracket = this.find(']', from);
    return Math.min(this.find('<', from), this.ampersand, this.bracket);
  }

  private find(character: string, from: number): number {
    const at = this.text.indexOf(character, from);
    return at < 0 ? this.length : at;
  }

  /** Skips white space outside the root element. */
  protected outside(from: number): number {
    const at = this.blanks(from);
    const code = this.codes[at] ?? 0;
    if (code === LESS_THAN || at >= this.length) return at;
    this.begin = at;
    if (TEXT[code] === ILLEGAL) throw this.illegalCharacter(at);
    throw this.rooted ? this.afterRoot('misplaced-text', at) : this.errorAt('misplaced-text', at, '"<"');
  }

  /** Delivers text up to the possible beginning of `]]>` or CRLF, which waits for the next bytes. */
  private suspend(from: number, at: number, returns: boolean): number {
    this.deliver(from, at, returns);
    this.cursor = at;
    return -1;
  }

  private needsMore(at: number, code: number): boolean {
    if (this.ending !== undefined) return false;
    if (code === CARRIAGE_RETURN) return at + 1 >= this.length;
    if (code !== RIGHT_BRACKET) return false;
    return at + 1 >= this.length || (this.codes[at + 1] === RIGHT_BRACKET && at + 2 >= this.length);
  }

  private endsSection(at: number): boolean {
    return this.codes[at + 1] === RIGHT_BRACKET && this.codes[at + 2] === GREATER_THAN;
  }

  /** Returns the error at `at` in text. */
  private textError(at: number): XmlError {
    this.begin = at;
    if (TEXT[this.codes[at] ?? 0] === ILLEGAL) return this.illegalCharacter(at);
    return this.errorAt('cdata-end', at, '"]]&gt;" or the end tag', '"]]>"');
  }

  private deliver(from: number, to: number, returns: boolean): void {
    if (from === to) return;
    this.begin = from;
    const data = this.text.substring(from, to);
    // CRLF and CR are normalized to LF (§2.11).
    this.handler.text?.(returns ? data.replace(/\r\n?/g, '\n') : data);
  }
}

/** Returns whether the four codes at `at` need no processing. */
function isClean(codes: Uint8Array, at: number): boolean {
  const first = (TEXT[codes[at] ?? 0] ?? 0) | (TEXT[codes[at + 1] ?? 0] ?? 0);
  const second = (TEXT[codes[at + 2] ?? 0] ?? 0) | (TEXT[codes[at + 3] ?? 0] ?? 0);
  return (first | second) === CLEAN;
}
