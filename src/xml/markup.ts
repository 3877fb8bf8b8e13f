import { CDATA, ILLEGAL } from './characters.ts';
import { declarationFault } from './declaration.ts';
import { clipped } from './error.ts';
import { TextReader } from './text.ts';

const COMMENT_START = '<!--';
const SECTION_START = '<![CDATA[';
const DOCTYPE_START = '<!DOCTYPE';

/** Reads comments, processing instructions, the XML declaration, and the beginning of CDATA sections. */
export class MarkupReader extends TextReader {
  /** `<!--`, `<![CDATA[` or `<!DOCTYPE`. */
  protected bang(): boolean {
    const { begin, text, length } = this;
    const start = text.substring(begin, Math.min(length, begin + SECTION_START.length));
    if (start.startsWith(COMMENT_START)) return this.comment();
    if (start === SECTION_START) return this.sectionStart();
    if (start === DOCTYPE_START) {
      throw this.fault('doctype', begin, 'a document without a document type declaration', DOCTYPE_START);
    }
    const maybe = [COMMENT_START, SECTION_START, DOCTYPE_START].some((keyword) => keyword.startsWith(start));
    if (maybe && begin + start.length >= length) return this.unfinished();
    throw this.fault('markup', begin, `a comment "${COMMENT_START}" or a section "${SECTION_START}"`, '"<!"');
  }

  private sectionStart(): boolean {
    if (this.open.length === 0) {
      throw this.fault(
        'misplaced-text',
        this.begin,
        'no CDATA section outside the root element',
        SECTION_START,
      );
    }
    this.cursor = this.begin + SECTION_START.length;
    this.inSection = true;
    return true;
  }

  /** `<!-- … -->`, with no `--` inside (§2.5 [15]). */
  private comment(): boolean {
    const from = this.begin + COMMENT_START.length;
    const end = this.text.indexOf('--', from);
    this.refuseIllegal(from, end);
    if (end < 0 || end + 2 >= this.length) return this.unfinished();
    if (this.text.charAt(end + 2) !== '>') throw this.fault('comment', end, '"-->" or one hyphen', '"--"');
    this.leave(end + 3);
    this.handler.comment?.(lines(this.text.substring(from, end)));
    return true;
  }

  /** `<?target data?>` (§2.6 [16]). */
  protected instruction(): boolean {
    const target = this.name(this.begin + 2, 'name', 'the target of an instruction');
    if (target === undefined) return this.unfinished();
    const after = this.cursor;
    const end = this.text.indexOf('?>', after);
    this.refuseIllegal(after, end);
    const from = this.blanks(after);
    if (from === after && end !== after) return this.unlessEnd(after, 'instruction', 'white space or "?>"');
    if (end < 0) return this.unfinished();
    if (target.text.toLowerCase() === 'xml') return this.declaration(target.text, after, end);
    if (this.limits.namespaces && target.text.includes(':')) {
      throw this.fault(
        'qualified-name',
        this.begin + 2,
        'a target without a colon',
        `"${clipped(target.text)}"`,
      );
    }
    this.leave(end + 2);
    this.handler.processingInstruction?.(target.text, lines(this.text.substring(Math.min(from, end), end)));
    return true;
  }

  /** `<?xml version="1.0" …?>`, only as the very first (§2.8 [23]); the target is reserved in any case (§2.6 [17]). */
  private declaration(target: string, from: number, end: number): boolean {
    if (target !== 'xml' || !this.fresh || this.begin > 0) {
      throw this.fault(
        'misplaced-declaration',
        this.begin,
        'an XML declaration only at the very beginning',
        `"<?${target}"`,
      );
    }
    const wrong = declarationFault(this.text.substring(from, end), from);
    if (wrong !== undefined)
      throw this.fault(wrong.code, wrong.at, wrong.expected, undefined, wrong.encoding);
    this.leave(end + 2);
    return true;
  }

  private leave(end: number): void {
    if (end - this.begin > this.limits.maxToken) throw this.tooLong();
    this.cursor = end;
  }

  /** Refuses the first character in `codes[from..to)` that no document may hold; `to` < 0: up to the end. */
  private refuseIllegal(from: number, to: number): void {
    const end = to < 0 ? this.length : to;
    for (let at = from; at < end; at++) {
      if (CDATA[this.codes[at] ?? 0] === ILLEGAL) throw this.illegal(at);
    }
  }
}

function lines(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}
