import { isAscii } from 'node:buffer';
import * as characters from './characters.ts';
import { checkXmlDeclaration } from './declaration.ts';
import { characterAt, clipText, elementPath, XmlError, type XmlErrorCode } from './error.ts';
import type { Limits, XmlHandler } from './handler.ts';
import type { Name, XmlNames } from './names.ts';
import { type Attributes, NamespaceScope } from './namespace.ts';
import { NO_WORDS } from './utf8.ts';

// Destructured, because V8 constant-folds local constants but not imported ones. This makes the scan a third
// faster.
const {
  AMPERSAND,
  ASCII_TEXT,
  BANG,
  BLANK,
  CARRIAGE_RETURN,
  CDATA,
  CLEAN,
  DIGIT,
  DOUBLE_QUOTE,
  EQUALS,
  GREATER_THAN,
  HASH,
  ILLEGAL,
  LESS_THAN,
  LINE_FEED,
  NAME,
  NAME_UNITS,
  NO_DIGIT,
  PAST_UNICODE,
  QUESTION,
  RIGHT_BRACKET,
  SEMICOLON,
  SINGLE_QUOTE,
  SLASH,
  SMALL_X,
  TEXT,
  VALUE,
  WIDE,
  isCharacter,
} = characters;

/**
 * Why the document cannot continue: the error code for a token that is incomplete at this point, and what was
 * found.
 */
export interface Ending {
  readonly code: XmlErrorCode;
  readonly found: string;
}

/** A line and a column, both from 1. Columns count characters (code points). */
export interface Position {
  readonly line: number;
  readonly column: number;
}

const START: Position = { line: 1, column: 1 };

/** Thrown instead of an error that may be wrong, because the chunk must be decoded first. */
export const UNDECODED: unique symbol = Symbol('undecoded');

export const NO_BYTES: Buffer = Buffer.alloc(0);

/** Four wide codes in one word. */
const WIDE_WORD = (WIDE * 0x01010101) | 0;

/** The end of a run of text that is longer than this is found by a faster method. */
const NEAR = 32;

/** Up to this many attributes are compared pairwise. */
const FEW = 8;

/** What is found where a limit on a length is exceeded. */
const LONGER = 'a longer one';

const COMMENT_START = '<!--';
const SECTION_START = '<![CDATA[';
const DOCTYPE_START = '<!DOCTYPE';

/**
 * Reads the tokens of a document: elements, markup, text, and their parts. It has the current chunk and the cursor in it. The
 * complete state of a parser is in this one object, which makes parsers cheap; each document has its own.
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
  /** Whether the document begins with the byte order mark of UTF-8. */
  protected hasMark = false;
  /** The prefixes in scope; undefined until a name has a prefix. */
  private scope: NamespaceScope | undefined = undefined;
  /** The last name, and the last attribute value or replacement text of a reference. */
  private lastName: Name;
  private lastValue = '';
  protected readonly handler: XmlHandler;
  protected readonly limits: Limits;
  private readonly names: XmlNames;

  constructor(handler: XmlHandler, limits: Limits) {
    this.handler = handler;
    this.limits = limits;
    this.names = limits.names;
    this.lastName = limits.names.empty;
  }

  // Elements

  /**
   * Reads tokens until the chunk ends. The cursor is then at its end or at the beginning of an incomplete
   * token.
   */
  protected scan(): void {
    const { codes, length } = this;
    let at = this.cursor;
    while (at < length) {
      if (this.inSection) at = this.section(at);
      else if (codes[at] === LESS_THAN) at = this.markup(at);
      else at = this.depth === 0 ? this.outside(at) : this.characterData(at);
      if (at < 0) return;
    }
    this.cursor = at;
  }

  /** Reads the markup that begins with `<`. */
  private markup(begin: number): number {
    this.begin = begin;
    switch (this.codes[begin + 1]) {
      case SLASH:
        return this.endTag(begin);
      case BANG:
        return this.raw && !this.isRestAscii(begin) ? this.restart() : this.bang(begin);
      case QUESTION:
        return this.raw && !this.isRestAscii(begin) ? this.restart() : this.instruction(begin);
      default:
        return this.startTag(begin);
    }
  }

  /** Reads `<name attribute="value" …>` or `<name … />` (§3.1 [40], [44]). */
  private startTag(begin: number): number {
    const at = this.name(begin + 1, 'name', 'the name of an element');
    if (at < 0) return at;
    if (this.depth === 0 && this.rooted) throw this.afterRoot('second-root', begin);
    const name = this.lastName;
    if (this.codes[at] !== GREATER_THAN) return this.attributes(at, name);
    this.element(at + 1, name, [], name.namespaced);
    return at + 1;
  }

  private attributes(from: number, element: Name): number {
    const codes = this.codes;
    let attributes: Attributes | undefined;
    let namespaced = element.namespaced;
    let seenBits = 0;
    let maybeRepeated = false;
    let at = from;
    for (;;) {
      const earlier = at;
      at = this.blanks(at);
      const code = codes[at] ?? 0;
      if (code === GREATER_THAN || code === SLASH) break;
      if (at === earlier) return this.unexpected(at, 'tag', 'white space, ">" or "/>"');
      const begin = at;
      at = this.name(at, 'tag', 'an attribute, ">" or "/>"');
      if (at < 0) return at;
      const name = this.lastName;
      at = this.value(at);
      if (at < 0) return at;
      namespaced ||= name.namespaced;
      maybeRepeated ||= (seenBits & name.bloomBits) === name.bloomBits;
      seenBits |= name.bloomBits;
      // An array literal with one item has capacity for one; the first push() to an empty array allocates 17.
      if (attributes === undefined) attributes = [[name.text, this.lastValue]];
      else attributes.push([name.text, this.lastValue]);
      if (attributes.length > this.limits.maxAttributes) throw this.tooManyAttributes(begin);
    }
    if (maybeRepeated && attributes !== undefined) this.refuseDuplicates(attributes);
    return this.tagEnd(at, element, attributes ?? [], namespaced);
  }

  /** Reads `>` or `/>` after the attributes. */
  private tagEnd(at: number, name: Name, attributes: Attributes, namespaced: boolean): number {
    if (this.codes[at] === GREATER_THAN) {
      this.element(at + 1, name, attributes, namespaced);
      return at + 1;
    }
    if (this.codes[at + 1] !== GREATER_THAN) return this.unexpected(at + 1, 'tag', '">"');
    this.element(at + 2, name, attributes, namespaced);
    this.close(name);
    return at + 2;
  }

  /** Checks a complete start tag and delivers it. */
  private element(end: number, name: Name, attributes: Attributes, namespaced: boolean): void {
    const { limits, depth } = this;
    if (end - this.begin > limits.maxToken) throw this.tooLong();
    if (depth >= limits.maxDepth) throw this.tooDeep();
    if (namespaced && limits.namespaces) this.enterNamespaces(name, attributes);
    this.rooted = true;
    this.open[depth] = name;
    this.depth = depth + 1;
    this.handler.startElement?.(name.text, attributes);
  }

  /** Reads `</name>` (§3.1 [42]) by comparing its codes with those of the open element. */
  private endTag(begin: number): number {
    const name = this.open[this.depth - 1];
    if (this.depth === 0 || name === undefined)
      throw this.errorAt('unopened-tag', begin, 'an element', 'an end tag');
    const codes = this.codes;
    const expected = name.codes;
    const from = begin + 2;
    const end = from + expected.length;
    let index = 0;
    while (index < expected.length && codes[from + index] === expected[index]) index++;
    if (index < expected.length || codes[end] !== GREATER_THAN || !name.ascii)
      return this.endTagByName(name, from);
    if (end - begin >= this.limits.maxToken) throw this.tooLong();
    this.close(name);
    return end + 1;
  }

  /**
   * Reads an end tag that does not match by its codes: a different name, white space, an incomplete or a
   * non-ASCII one.
   */
  private endTagByName(expected: Name, from: number): number {
    const end = this.name(from, 'name', `the name "${clipText(expected.text)}"`);
    if (end < 0) return end;
    const at = this.blanks(end);
    if (this.lastName.text !== expected.text) {
      const found = `</${clipText(this.lastName.text)}`;
      throw this.errorAt('mismatched-tag', this.begin, `</${clipText(expected.text)}>`, found);
    }
    if (this.codes[at] !== GREATER_THAN) return this.unexpected(at, 'tag', '">"');
    if (at - this.begin >= this.limits.maxToken) throw this.tooLong();
    this.close(expected);
    return at + 1;
  }

  private close(name: Name): void {
    this.handler.endElement?.(name.text);
    this.scope?.leave(this.depth);
    this.depth -= 1;
  }

  private refuseDuplicates(attributes: Attributes): void {
    if (attributes.length > FEW) {
      this.refuseDuplicatesOfMany(attributes);
      return;
    }
    for (let index = 1; index < attributes.length; index++) {
      const name = attributes[index]?.[0];
      for (let earlier = 0; earlier < index; earlier++) {
        if (attributes[earlier]?.[0] === name) throw this.duplicate(index, name);
      }
    }
  }

  private refuseDuplicatesOfMany(attributes: Attributes): void {
    const seen = new Set<string>();
    for (const [name] of attributes) {
      if (seen.has(name)) throw this.duplicate(seen.size, name);
      seen.add(name);
    }
  }

  private duplicate(index: number, name = ''): XmlError {
    const at = this.attributeStart(index);
    return this.errorAt('duplicate-attribute', at, 'each attribute once', `"${clipText(name)}" again`);
  }

  private tooManyAttributes(at: number): XmlError {
    const expected = `at most ${this.limits.maxAttributes} attributes`;
    return this.errorAt('limit-attributes', at, expected, 'one more');
  }

  private tooDeep(): XmlError {
    const expected = `at most ${this.limits.maxDepth} nested elements`;
    return this.errorAt('limit-depth', this.begin, expected, 'one more');
  }

  private enterNamespaces(element: Name, attributes: Attributes): void {
    this.scope ??= new NamespaceScope();
    const violation = this.scope.enter(this.depth + 1, element.text, attributes);
    if (violation === undefined) return;
    const at = violation.attribute < 0 ? this.begin + 1 : this.attributeStart(violation.attribute);
    throw this.errorAt(violation.code, at, violation.expected, `"${clipText(violation.name)}"`);
  }

  /** Returns where an attribute of the last tag begins; computed for errors only. */
  private attributeStart(index: number): number {
    let at = this.begin + 1;
    while (BLANK[this.codes[at] ?? 0] === 0) at++;
    for (let passed = 0; passed < index; passed++) {
      while (this.codes[at] !== DOUBLE_QUOTE && this.codes[at] !== SINGLE_QUOTE) at++;
      at = this.text.indexOf(this.text.charAt(at), at + 1) + 1;
    }
    return this.blanks(at);
  }

  // Comments, processing instructions, the XML declaration, and the beginning of CDATA sections

  /**
   * Reads markup that begins with `<!`: a comment, the beginning of a CDATA section, or a DOCTYPE, which is
   * rejected.
   */
  private bang(begin: number): number {
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
      throw this.errorAt('qualified-name', begin + 2, 'a target without a colon', `"${clipText(target)}"`);
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
    const { encoding } = this.limits;
    const isUtf8 = encoding === 'known' || (encoding === 'marked' && this.hasMark);
    const violation = checkXmlDeclaration(this.text.substring(from, end), from, isUtf8);
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

  // Text, references and CDATA sections. Text is delivered as it arrives.

  /** Reads text and references (§2.4). */
  private characterData(first: number): number {
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
  private section(from: number): number {
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
  private outside(from: number): number {
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

  // Parts of tokens

  // The methods that read a part of a token take the index at which it begins. They return the index after
  // it, or −1 if the chunk ends first.

  /** Reads a name (§2.3 [5]) into `lastName`. Throws an error with this code if there is no name. */
  private name(from: number, code: XmlErrorCode, expected: string): number {
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
  private blanks(from: number): number {
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
      throw this.errorAt('undeclared-entity', from, expected, `&${clipText(text)};`);
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
      const found = clipText(this.text.substring(from, at + 1));
      throw this.errorAt('character-reference', from, 'a reference to an XML character', found);
    }
    this.lastValue = String.fromCodePoint(point);
    return at + 1;
  }

  // Incomplete tokens and errors

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
      const start = clipText(this.text.substring(this.begin, this.begin + 24));
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
  private unexpected(at: number, code: XmlErrorCode, expected: string): number {
    if (at >= this.length) return this.incomplete();
    if (VALUE[this.codes[at] ?? 0] === ILLEGAL) throw this.illegalCharacter(at);
    throw this.errorAt(code, at, expected);
  }

  private illegalCharacter(at: number): XmlError {
    return this.errorAt('invalid-character', at, 'an XML character');
  }

  private tooLong(): XmlError {
    const expected = `a tag, comment or processing instruction of at most ${this.limits.maxToken} characters`;
    return this.newError(this.begin, 'limit-token', expected, LONGER);
  }

  private afterRoot(code: 'second-root' | 'misplaced-text', at: number): XmlError {
    return this.errorAt(code, at, 'only comments and processing instructions after the root element');
  }

  private nameTooLong(at: number): XmlError {
    return this.errorAt('limit-name', at, `a name of at most ${this.limits.maxName} characters`, LONGER);
  }

  private valueTooLong(at: number): XmlError {
    return this.errorAt('limit-value', at, `a value of at most ${this.limits.maxValue} characters`, LONGER);
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

/** Returns whether the four codes at `at` need no processing. */
function isClean(codes: Uint8Array, at: number): boolean {
  const first = (TEXT[codes[at] ?? 0] ?? 0) | (TEXT[codes[at + 1] ?? 0] ?? 0);
  const second = (TEXT[codes[at + 2] ?? 0] ?? 0) | (TEXT[codes[at + 3] ?? 0] ?? 0);
  return (first | second) === CLEAN;
}

/** Normalizes CRLF and CR to LF (§2.11). */
function withLineFeeds(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}

/**
 * Returns the position of `text[to]` if `text` begins at `from`. CRLF, CR and LF end a line (XML 1.0 §2.11).
 * @param afterReturn whether the preceding text ends in CR, so that an LF at the beginning does not end
 * another line
 * @param firstReturn the index of the first CR in the text, −1 if there is none
 */
export function advance(
  from: Position,
  text: string,
  to: number,
  afterReturn: boolean,
  firstReturn = text.indexOf('\r'),
): Position {
  if (to === 1 && text.charCodeAt(0) >= 0x20) return { line: from.line, column: from.column + 1 };
  let line = from.line;
  let lineStart = -1;
  const first = afterReturn && text.charCodeAt(0) === 0x0a ? 1 : 0;
  if (first === 1 && to > 0) lineStart = 1;
  for (let at = text.indexOf('\n', first); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) {
    line += 1;
    lineStart = at + 1;
  }
  for (let at = firstReturn; at >= 0 && at < to; at = text.indexOf('\r', at + 1)) {
    if (text.charCodeAt(at + 1) === 0x0a && at + 1 < to) continue;
    line += 1;
    lineStart = Math.max(lineStart, at + 1);
  }
  if (lineStart < 0) return { line, column: from.column + countCharacters(text, 0, to) };
  return { line, column: 1 + countCharacters(text, lineStart, to) };
}

/** Returns the number of code points in `text[from..to)`. */
function countCharacters(text: string, from: number, to: number): number {
  let count = to - from;
  for (let at = from; at < to - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800) count -= 1;
  }
  return count;
}
