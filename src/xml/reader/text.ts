import * as characters from '../characters.ts';
import type { XmlError } from '../error.ts';
import { Reader } from './base.ts';

// Constants of this module, not imported ones, are folded into the machine code: it is a third faster.
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

/** Four wide codes in a word. */
const WIDE_WORD = (WIDE * 0x01010101) | 0;

/** A run of text longer than this is worth another way of looking for its end. */
const NEAR = 32;

/** Reads what stands between tags: text, references and CDATA sections. It is delivered as it comes. */
export class TextReader extends Reader {
  /** Text and references, as far as they go (§2.4). */
  protected characters(first: number): number {
    const codes = this.codes;
    let from = first;
    let at = first;
    let returns = false;
    for (;;) {
      at = this.clean(at);
      const code = codes[at] ?? 0;
      if (code === LESS_THAN || at >= this.length) break;
      if (code === AMPERSAND) {
        this.deliver(from, at, returns);
        this.begin = at;
        at = this.reference(at);
        if (at < 0) return at;
        this.handler.text?.(this.string);
        from = at;
        returns = false;
      } else {
        if (this.mustWait(at, code) || (code >= WIDE && this.raw)) return this.hold(from, at, returns);
        if (TEXT[code] === ILLEGAL || (code === RIGHT_BRACKET && this.endsSection(at))) {
          this.deliver(from, at, returns);
          throw this.refused(at);
        }
        returns ||= code === CARRIAGE_RETURN;
        at += 1;
      }
    }
    this.deliver(from, at, returns);
    return at;
  }

  /** The text of a CDATA section, as far as it goes (§2.7). */
  protected section(from: number): number {
    if (this.raw && !this.isRestAscii(from)) return this.hold(from, from, false);
    const codes = this.codes;
    let at = from;
    let returns = false;
    for (;;) {
      while (CDATA[codes[at] ?? 0] === CLEAN) at++;
      if (at >= this.length) break;
      const code = codes[at] ?? 0;
      if (this.mustWait(at, code)) return this.hold(from, at, returns);
      if (code === RIGHT_BRACKET && this.endsSection(at)) break;
      if (CDATA[code] === ILLEGAL) {
        this.deliver(from, at, returns);
        throw this.refused(at);
      }
      returns ||= code === CARRIAGE_RETURN;
      at += 1;
    }
    this.deliver(from, at, returns);
    if (at >= this.length) return at;
    this.inSection = false;
    return at + 3;
  }

  /** Where the run of clean text at `from` ends. */
  private clean(from: number): number {
    const codes = this.codes;
    const near = from + NEAR;
    let at = from;
    while (ASCII_TEXT[codes[at] ?? 0] === CLEAN) {
      at += 1;
      if (at === near) return this.long(at);
    }
    return (codes[at] ?? 0) < WIDE ? at : this.long(at);
  }

  /** The same for a run that is long, or not ASCII and so likely to be. */
  private long(from: number): number {
    if (this.raw) return this.stepRaw(from);
    if (this.plain) return this.skip(from);
    return this.codes[from] === WIDE ? this.stepWide(from) : this.step(from);
  }

  /** The same where text is not ASCII, and has no more than a stray character of it. */
  private stepWide(from: number): number {
    const codes = this.codes;
    let at = from;
    while ((at & 3) !== 0 && codes[at] === WIDE) at += 1;
    if ((at & 3) === 0) at = 4 * this.wideWords(at >> 2);
    const near = at + NEAR;
    while (TEXT[codes[at] ?? 0] === CLEAN) {
      at += 1;
      if (at === near) return this.step(at);
    }
    return at;
  }

  /** The same up to what is not ASCII, which has to be decoded first. */
  private stepRaw(from: number): number {
    const codes = this.codes;
    let at = from;
    while (ASCII_TEXT[codes[at] ?? 0] === CLEAN) at += 1;
    return at;
  }

  /** Where a run of words ends that are four wide codes each: a comparison for four characters. */
  private wideWords(from: number): number {
    const words = this.words;
    let word = from;
    while (words[word] === WIDE_WORD) word += 1;
    return word;
  }

  /** The same eight codes at a time, which takes half the time. */
  private step(from: number): number {
    const codes = this.codes;
    const last = this.length - 8;
    let at = from;
    while (at < last && isClean(codes, at) && isClean(codes, at + 4)) at += 8;
    while (TEXT[codes[at] ?? 0] === CLEAN) at += 1;
    return at;
  }

  /** The same where no control can hide in it: a native search for each of the three that may stop it. */
  private skip(from: number): number {
    if (this.ampersand < from) this.ampersand = this.find('&', from);
    if (this.bracket < from) this.bracket = this.find(']', from);
    return Math.min(this.find('<', from), this.ampersand, this.bracket);
  }

  private find(character: string, from: number): number {
    const at = this.text.indexOf(character, from);
    return at < 0 ? this.length : at;
  }

  /** White space before and after the root element. */
  protected outside(from: number): number {
    const at = this.blanks(from);
    const code = this.codes[at] ?? 0;
    if (code === LESS_THAN || at >= this.length) return at;
    this.begin = at;
    if (TEXT[code] === ILLEGAL) throw this.illegal(at);
    throw this.rooted ? this.afterRoot('misplaced-text', at) : this.fault('misplaced-text', at, '"<"');
  }

  /** Delivers text up to what may be the beginning of `]]>` or of CRLF, which waits for what follows. */
  private hold(from: number, at: number, returns: boolean): number {
    this.deliver(from, at, returns);
    this.cursor = at;
    return -1;
  }

  private mustWait(at: number, code: number): boolean {
    if (this.ending !== undefined) return false;
    if (code === CARRIAGE_RETURN) return at + 1 >= this.length;
    if (code !== RIGHT_BRACKET) return false;
    return at + 1 >= this.length || (this.codes[at + 1] === RIGHT_BRACKET && at + 2 >= this.length);
  }

  private endsSection(at: number): boolean {
    return this.codes[at + 1] === RIGHT_BRACKET && this.codes[at + 2] === GREATER_THAN;
  }

  /** The fault at `at` in text. */
  private refused(at: number): XmlError {
    this.begin = at;
    if (TEXT[this.codes[at] ?? 0] === ILLEGAL) return this.illegal(at);
    return this.fault('cdata-end', at, '"]]&gt;" or the end tag', '"]]>"');
  }

  private deliver(from: number, to: number, returns: boolean): void {
    if (from === to) return;
    this.begin = from;
    const data = this.text.substring(from, to);
    // §2.11: CRLF and CR are LF
    this.handler.text?.(returns ? data.replace(/\r\n?/g, '\n') : data);
  }
}

/** True if nothing stops text in the four codes at `at`. */
function isClean(codes: Uint8Array, at: number): boolean {
  const first = (TEXT[codes[at] ?? 0] ?? 0) | (TEXT[codes[at + 1] ?? 0] ?? 0);
  const second = (TEXT[codes[at + 2] ?? 0] ?? 0) | (TEXT[codes[at + 3] ?? 0] ?? 0);
  return (first | second) === CLEAN;
}
