import {
  AMPERSAND,
  CARRIAGE_RETURN,
  CDATA,
  CLEAN,
  GREATER_THAN,
  ILLEGAL,
  LESS_THAN,
  RIGHT_BRACKET,
  TEXT,
} from './characters.ts';
import { Reader } from './reader.ts';

/** Reads what stands between tags: text, references and CDATA sections. It is delivered as it comes. */
export class TextReader extends Reader {
  protected inSection = false;
  protected rooted = false;

  /** Text and references, as far as they go (§2.4). */
  protected characters(): boolean {
    const codes = this.codes;
    let from = this.cursor;
    let at = from;
    let returns = false;
    for (;;) {
      while (TEXT[codes[at] ?? 0] === CLEAN) at++;
      const code = codes[at] ?? 0;
      if (code === LESS_THAN || at >= this.length) break;
      if (code === AMPERSAND) {
        this.deliver(from, at, returns);
        this.begin = at;
        at = this.reference(at);
        if (at < 0) return this.unfinished();
        this.handler.text?.(this.replacement);
        from = at;
        returns = false;
      } else {
        if (this.mustWait(at, code)) return this.hold(from, at, returns);
        if (TEXT[code] === ILLEGAL || (code === RIGHT_BRACKET && this.endsSection(at))) {
          return this.refuseAfter(from, at, returns);
        }
        returns ||= code === CARRIAGE_RETURN;
        at += 1;
      }
    }
    this.deliver(from, at, returns);
    this.cursor = at;
    return true;
  }

  /** The text of a CDATA section, as far as it goes (§2.7). */
  protected section(): boolean {
    const codes = this.codes;
    const from = this.cursor;
    let at = from;
    let returns = false;
    for (;;) {
      while (CDATA[codes[at] ?? 0] === CLEAN) at++;
      if (at >= this.length) break;
      const code = codes[at] ?? 0;
      if (this.mustWait(at, code)) return this.hold(from, at, returns);
      if (CDATA[code] === ILLEGAL) return this.refuseAfter(from, at, returns);
      if (code === RIGHT_BRACKET && this.endsSection(at)) {
        this.inSection = false;
        this.deliver(from, at, returns);
        this.cursor = at + 3;
        return true;
      }
      returns ||= code === CARRIAGE_RETURN;
      at += 1;
    }
    this.deliver(from, at, returns);
    this.cursor = at;
    return true;
  }

  /** White space before and after the root element. */
  protected outside(): boolean {
    const at = this.blanks(this.cursor);
    const code = this.codes[at] ?? 0;
    this.begin = this.cursor = at;
    if (code === LESS_THAN || at >= this.length) return true;
    if (TEXT[code] === ILLEGAL) throw this.illegal(at);
    const expected = this.rooted ? 'nothing but comments and instructions after the root element' : '"<"';
    throw this.fault('misplaced-text', at, expected);
  }

  /** Delivers text up to what may be the beginning of `]]>` or of CRLF, which waits for what follows. */
  private hold(from: number, at: number, returns: boolean): false {
    this.deliver(from, at, returns);
    this.cursor = at;
    return false;
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

  /** A fault in text, told after the text before it. */
  private refuseAfter(from: number, at: number, returns: boolean): never {
    this.deliver(from, at, returns);
    this.begin = at;
    if (TEXT[this.codes[at] ?? 0] === ILLEGAL) throw this.illegal(at);
    throw this.fault('cdata-end', at, '"]]&gt;" or the end tag', '"]]>"');
  }

  private deliver(from: number, to: number, returns: boolean): void {
    if (from === to) return;
    this.begin = from;
    const data = this.text.substring(from, to);
    // §2.11: CRLF and CR are LF
    this.handler.text?.(returns ? data.replace(/\r\n?/g, '\n') : data);
  }
}
