import { CountersignError } from '../countersign-error.ts';
import { isCharacter } from './characters.ts';
import { isQualifiedName, isUnprefixedName } from './name-form.ts';
import { type Attributes, isNamespaced, NamespaceScope } from './namespace.ts';

/** The codes of {@link XmlWriteError}. They are stable. */
type XmlWriteCode =
  /** A character that XML does not allow: most control characters, a lone surrogate, U+FFFE, U+FFFF. */
  | 'character'
  /** An invalid name, or one whose colons do not separate a prefix and a local part. */
  | 'name'
  /** A comment that contains `--` or ends with `-`. */
  | 'comment'
  /** A processing instruction that contains `?>`, or has the target `xml`. */
  | 'instruction'
  /** An attribute that the element already has. */
  | 'duplicate-attribute'
  /**
   * An undeclared prefix, or another violation of Namespaces in XML 1.0. Thrown when the start tag is closed.
   */
  | 'namespace'
  /** A call that is not allowed in this state, such as text outside the root element. */
  | 'order';

/** Thrown for content that cannot be written because no parser would accept it. */
export class XmlWriteError extends CountersignError {
  override readonly name = 'XmlWriteError';
  readonly code: XmlWriteCode;

  constructor(code: XmlWriteCode, message: string) {
    super(message);
    this.code = code;
  }
}

// Characters that must be escaped or rejected. Most strings contain none and are returned unchanged.
// Surrogates are matched individually, because patterns with the `u` flag are slower.
const TEXT_SPECIAL = /[&<>\r\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]/;
const ATTRIBUTE_SPECIAL = /[&<>"\t\n\r\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]/;

/**
 * Escapes text for the content of an element. CR becomes a reference, because a parser normalizes it to LF
 * (XML 1.0 §2.11). `>` is always escaped, so that the result cannot contain `]]>`.
 * @throws {XmlWriteError} `character`, for a character that XML does not allow
 */
export function escapeText(text: string): string {
  return TEXT_SPECIAL.test(text) ? escapeSpecial(text, /[&<>\r]/g) : text;
}

/**
 * Escapes text for an attribute value in double quotes. Tab, LF and CR become references, because a parser
 * normalizes them to spaces (XML 1.0 §3.3.3).
 * @throws {XmlWriteError} `character`, for a character that XML does not allow
 */
export function escapeAttribute(value: string): string {
  return ATTRIBUTE_SPECIAL.test(value) ? escapeSpecial(value, /[&<>"\t\n\r]/g) : value;
}

const REFERENCES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ['\t', '&#9;'],
  ['\n', '&#10;'],
  ['\r', '&#13;'],
]);

function escapeSpecial(text: string, special: RegExp): string {
  assertCharacters(text);
  return text.replace(special, (character) => REFERENCES.get(character) ?? character);
}

function assertCharacters(text: string): void {
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    if (isCharacter(point)) continue;
    const number = point.toString(16).toUpperCase().padStart(4, '0');
    throw new XmlWriteError('character', `U+${number} cannot be written in XML, not even as a reference`);
  }
}

/** Writes one document that a parser can read back. */
export interface XmlWriter {
  /** Begins an element. */
  start(name: string): this;
  /** Adds an attribute to the element that has just begun. */
  attribute(name: string, value: string): this;
  /** Writes text and escapes it. */
  text(data: string): this;
  /** Ends the innermost open element. An element without content is written as `<name/>`. */
  end(): this;
  /** Writes an element that contains only text. */
  element(name: string, data: string): this;
  /** Writes a comment. */
  comment(data: string): this;
  /** Writes a processing instruction. Default of `data`: none. */
  processingInstruction(target: string, data?: string): this;
  /**
   * Returns the document.
   * @throws {XmlWriteError} `order`, if an element is open or the document has none
   */
  toString(): string;
}

/** Creates a writer. Its methods throw {@link XmlWriteError} for content that a parser would reject. */
export function createWriter(): XmlWriter {
  return new Writer();
}

class Writer implements XmlWriter {
  private out = '';
  private readonly open: string[] = [];
  /** The attributes of the current start tag. */
  private attributes: Attributes = [];
  private inTag = false;
  private rooted = false;
  private namespaced = false;
  private readonly scope = new NamespaceScope();

  start(name: string): this {
    assertQualified(name);
    this.closeTag('>');
    if (this.open.length === 0 && this.rooted)
      throw new XmlWriteError('order', `<${name}> would be a second root element`);
    this.out += `<${name}`;
    this.open.push(name);
    this.inTag = true;
    this.rooted = true;
    this.namespaced = isNamespaced(name);
    return this;
  }

  attribute(name: string, value: string): this {
    if (!this.inTag) throw new XmlWriteError('order', `attribute "${name}" must follow a start tag`);
    assertQualified(name);
    if (this.attributes.some(([existing]) => existing === name)) {
      throw new XmlWriteError('duplicate-attribute', `attribute "${name}" is already written`);
    }
    const written = escapeAttribute(value);
    this.attributes.push([name, value]);
    this.namespaced ||= isNamespaced(name);
    this.out += ` ${name}="${written}"`;
    return this;
  }

  text(data: string): this {
    if (this.open.length === 0)
      throw new XmlWriteError('order', 'text is not allowed outside the root element');
    const written = escapeText(data);
    if (written === '') return this;
    this.closeTag('>');
    this.out += written;
    return this;
  }

  end(): this {
    const name = this.open.at(-1);
    if (name === undefined) throw new XmlWriteError('order', 'no element is open');
    if (this.inTag) this.closeTag('/>');
    else this.out += `</${name}>`;
    this.scope.leave(this.open.length);
    this.open.pop();
    return this;
  }

  element(name: string, data: string): this {
    return this.start(name).text(data).end();
  }

  comment(data: string): this {
    if (data.includes('--') || data.endsWith('-')) {
      throw new XmlWriteError('comment', 'a comment must not contain "--" or end with "-"');
    }
    return this.append(`<!--${verbatim(data)}-->`);
  }

  processingInstruction(target: string, data = ''): this {
    if (!isUnprefixedName(target))
      throw new XmlWriteError('name', `"${target}" is not a target of a processing instruction`);
    if (target.toLowerCase() === 'xml')
      throw new XmlWriteError('instruction', `the target "${target}" is reserved`);
    if (data.includes('?>'))
      throw new XmlWriteError('instruction', 'a processing instruction must not contain "?>"');
    if (/^[ \t\n\r]/.test(data)) {
      throw new XmlWriteError(
        'instruction',
        'the data of a processing instruction must not begin with white space',
      );
    }
    return this.append(`<?${target}${data === '' ? '' : ` ${verbatim(data)}`}?>`);
  }

  toString(): string {
    const name = this.open.at(-1);
    if (name !== undefined) throw new XmlWriteError('order', `<${name}> is still open`);
    if (!this.rooted) throw new XmlWriteError('order', 'the document has no root element');
    return this.out;
  }

  private append(markup: string): this {
    this.closeTag('>');
    this.out += markup;
    return this;
  }

  private closeTag(mark: '>' | '/>'): void {
    if (!this.inTag) return;
    if (this.namespaced) this.checkNamespaces();
    this.out += mark;
    this.inTag = false;
    if (this.attributes.length > 0) this.attributes = [];
  }

  private checkNamespaces(): void {
    const violation = this.scope.enter(this.open.length, this.open.at(-1) ?? '', this.attributes);
    if (violation === undefined) return;
    throw new XmlWriteError(
      'namespace',
      `"${violation.name}" cannot be written; expected ${violation.expected}`,
    );
  }
}

function assertQualified(name: string): void {
  if (isQualifiedName(name)) return;
  throw new XmlWriteError('name', `"${name}" is not a name of an element or attribute`);
}

/** Returns text for a comment or a processing instruction, in which nothing can be escaped. */
function verbatim(data: string): string {
  if (data.includes('\r')) throw new XmlWriteError('character', 'U+000D would be read back as U+000A');
  assertCharacters(data);
  return data;
}
