import { CDATA, ILLEGAL, QUESTION } from '../characters.ts';
import { clipped } from '../error.ts';
import { declarationFault } from './declaration.ts';
import { TextReader } from './text.ts';

const COMMENT_START = '<!--';
const SECTION_START = '<![CDATA[';
const DOCTYPE_START = '<!DOCTYPE';

/** Reads comments, processing instructions, the XML declaration, and the beginning of CDATA sections. */
export class MarkupReader extends TextReader {
  /** `<!--`, `<![CDATA[` or `<!DOCTYPE`. */
  protected bang(begin: number): number {
    const start = this.text.substring(begin, Math.min(this.length, begin + SECTION_START.length));
    if (start.startsWith(COMMENT_START)) return this.comment(begin);
    if (start === SECTION_START) return this.sectionStart(begin);
    if (start === DOCTYPE_START) {
      throw this.fault('doctype', begin, 'a document without a document type declaration', DOCTYPE_START);
    }
    const maybe = [COMMENT_START, SECTION_START, DOCTYPE_START].some((keyword) => keyword.startsWith(start));
    if (maybe && begin + start.length >= this.length) return this.unfinished();
    throw this.fault('markup', begin, `a comment "${COMMENT_START}" or a section "${SECTION_START}"`, '"<!"');
  }

  private sectionStart(begin: number): number {
    if (this.depth === 0) {
      throw this.fault('misplaced-text', begin, 'no CDATA section outside the root element', SECTION_START);
    }
    this.inSection = true;
    return begin + SECTION_START.length;
  }

  /** `<!-- … -->`, with no `--` inside (§2.5 [15]). */
  private comment(begin: number): number {
    const from = begin + COMMENT_START.length;
    const end = this.text.indexOf('--', from);
    this.refuseIllegal(from, end);
    if (end < 0 || end + 2 >= this.length) return this.unfinished();
    if (this.text.charAt(end + 2) !== '>') throw this.fault('comment', end, '"-->" or one hyphen', '"--"');
    if (end + 3 - begin > this.limits.maxToken) throw this.tooLong();
    this.handler.comment?.(withLineFeeds(this.text.substring(from, end)));
    return end + 3;
  }

  /** `<?target data?>` (§2.6 [16]). */
  protected instruction(begin: number): number {
    const after = this.name(begin + 2, 'name', 'the target of an instruction');
    if (after < 0) return after;
    const target = this.taken.text;
    const end = this.text.indexOf('?>', after);
    this.refuseIllegal(after, end);
    const from = this.blanks(after);
    if (from === after && end !== after) {
      const half = this.codes[after] === QUESTION ? after + 1 : after;
      if (half >= this.length) return this.unfinished();
      throw this.fault('instruction', after, 'white space or "?>"');
    }
    if (end < 0) return this.unfinished();
    if (end + 2 - begin > this.limits.maxToken) throw this.tooLong();
    if (target.toLowerCase() === 'xml') this.checkDeclaration(target, after, end);
    else if (this.limits.namespaces && target.includes(':')) {
      throw this.fault('qualified-name', begin + 2, 'a target without a colon', `"${clipped(target)}"`);
    } else {
      this.handler.processingInstruction?.(
        target,
        withLineFeeds(this.text.substring(Math.min(from, end), end)),
      );
    }
    return end + 2;
  }

  /** `<?xml version="1.0" …?>`, only as the very first (§2.8 [23]); the target is reserved in any case (§2.6 [17]). */
  private checkDeclaration(target: string, from: number, end: number): void {
    if (target !== 'xml' || !this.fresh || this.begin > 0) {
      const expected = 'an XML declaration only at the very beginning';
      throw this.fault('misplaced-declaration', this.begin, expected, `"<?${target}"`);
    }
    const wrong = declarationFault(this.text.substring(from, end), from);
    if (wrong !== undefined)
      throw this.fault(wrong.code, wrong.at, wrong.expected, wrong.found, wrong.encoding);
  }

  /** Refuses the first character in `codes[from..to)` that no document may hold; `to` < 0: up to the end. */
  private refuseIllegal(from: number, to: number): void {
    const end = to < 0 ? this.length : to;
    for (let at = from; at < end; at++) {
      if (CDATA[this.codes[at] ?? 0] === ILLEGAL) throw this.illegal(at);
    }
  }
}

/** §2.11: CRLF and CR are LF. */
function withLineFeeds(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}
