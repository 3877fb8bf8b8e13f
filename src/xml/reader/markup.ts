import { CDATA, ILLEGAL, QUESTION } from '../characters.ts';
import { clipped } from '../error.ts';
import { checkXmlDeclaration } from './declaration.ts';
import { TextReader } from './text.ts';

const COMMENT_START = '<!--';
const SECTION_START = '<![CDATA[';
const DOCTYPE_START = '<!DOCTYPE';

/** Reads comments, processing instructions, the XML declaration, and the beginning of CDATA sections. */
export class MarkupReader extends TextReader {
  /**
   * Reads markup that begins with `<!`: a comment, the beginning of a CDATA section, or a DOCTYPE, which is
   * rejected.
   */
  protected bang(begin: number): number {
    const start = this.text.substring(begin, Math.min(this.length, begin + SECTION_START.length));
    if (start.startsWith(COMMENT_START)) return this.comment(begin);
    if (start === SECTION_START) return this.sectionStart(begin);
    if (start === DOCTYPE_START) {
      throw this.errorAt('doctype', begin, 'a document without a document type declaration', DOCTYPE_START);
    }
    const maybe = [COMMENT_START, SECTION_START, DOCTYPE_START].some((keyword) => keyword.startsWith(start));
    if (maybe && begin + start.length >= this.length) return this.incomplete();
    throw this.errorAt(
      'markup',
      begin,
      `a comment "${COMMENT_START}" or a CDATA section "${SECTION_START}"`,
      '"<!"',
    );
  }

  private sectionStart(begin: number): number {
    if (this.depth === 0) {
      throw this.errorAt('misplaced-text', begin, 'no CDATA section outside the root element', SECTION_START);
    }
    this.inSection = true;
    return begin + SECTION_START.length;
  }

  /** Reads `<!-- … -->`, which must not contain `--` (§2.5 [15]). */
  private comment(begin: number): number {
    const from = begin + COMMENT_START.length;
    const end = this.text.indexOf('--', from);
    this.refuseIllegal(from, end);
    if (end < 0 || end + 2 >= this.length) return this.incomplete();
    if (this.text.charAt(end + 2) !== '>')
      throw this.errorAt('comment', end, '"-->" or a single hyphen', '"--"');
    if (end + 3 - begin > this.limits.maxToken) throw this.tooLong();
    this.handler.comment?.(withLineFeeds(this.text.substring(from, end)));
    return end + 3;
  }

  /** Reads `<?target data?>` (§2.6 [16]). */
  protected instruction(begin: number): number {
    const after = this.name(begin + 2, 'name', 'the target of a processing instruction');
    if (after < 0) return after;
    const target = this.lastName.text;
    const end = this.text.indexOf('?>', after);
    this.refuseIllegal(after, end);
    const from = this.blanks(after);
    if (from === after && end !== after) {
      const next = this.codes[after] === QUESTION ? after + 1 : after;
      if (next >= this.length) return this.incomplete();
      throw this.errorAt('instruction', after, 'white space or "?>"');
    }
    if (end < 0) return this.incomplete();
    if (end + 2 - begin > this.limits.maxToken) throw this.tooLong();
    if (target.toLowerCase() === 'xml') this.checkDeclaration(target, after, end);
    else if (this.limits.namespaces && target.includes(':')) {
      throw this.errorAt('qualified-name', begin + 2, 'a target without a colon', `"${clipped(target)}"`);
    } else {
      this.handler.processingInstruction?.(
        target,
        withLineFeeds(this.text.substring(Math.min(from, end), end)),
      );
    }
    return end + 2;
  }

  /**
   * Checks `<?xml version="1.0" …?>`, which is allowed only at the beginning (§2.8 [23]). The target is
   * reserved in any case (§2.6 [17]).
   */
  private checkDeclaration(target: string, from: number, end: number): void {
    if (target !== 'xml' || !this.fresh || this.begin > 0) {
      const expected = 'the XML declaration only at the beginning of the document';
      throw this.errorAt('misplaced-declaration', this.begin, expected, `"<?${target}"`);
    }
    const violation = checkXmlDeclaration(this.text.substring(from, end), from);
    if (violation !== undefined)
      throw this.errorAt(
        violation.code,
        violation.at,
        violation.expected,
        violation.found,
        violation.encoding,
      );
  }

  /**
   * Throws at the first illegal character in `codes[from..to)`. If `to` is negative, checks up to the end.
   */
  private refuseIllegal(from: number, to: number): void {
    const end = to < 0 ? this.length : to;
    for (let at = from; at < end; at++) {
      if (CDATA[this.codes[at] ?? 0] === ILLEGAL) throw this.illegalCharacter(at);
    }
  }
}

/** Normalizes CRLF and CR to LF (§2.11). */
function withLineFeeds(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}
