import { isCharacter } from './characters.ts';
import { isQualifiedName, isUnprefixedName } from './name-form.ts';
import { type Attributes, isNamespaced, NamespaceScope } from './namespace.ts';

/** What cannot be written; the codes are stable. */
export type XmlWriteCode =
  /** A character that no document may hold: most controls, a lone surrogate, U+FFFE, U+FFFF. */
  | 'character'
  /** What is given as a name is none, or its colons do not make a prefix and a local part. */
  | 'name'
  /** A comment with `--` in it or `-` at its end. */
  | 'comment'
  /** An instruction with `?>` in it, or with the target `xml`. */
  | 'instruction'
  /** One attribute twice. */
  | 'duplicate-attribute'
  /** A prefix that is not declared, or another rule of Namespaces in XML 1.0; told when the tag is closed. */
  | 'namespace'
  /** A call that the document does not allow where it is, such as text outside the root. */
  | 'order';

/** Something cannot be written as XML, because no parser would read it back. */
export class XmlWriteError extends Error {
  override readonly name = 'XmlWriteError';
  readonly code: XmlWriteCode;

  constructor(code: XmlWriteCode, message: string) {
    super(message);
    this.code = code;
  }
}

// Anything that text must not show as it is; most strings have none of it and are given back as they are.
// A lone surrogate is looked for apart, because a pattern that knows pairs is slower on every string.
const TEXT_SPECIAL = /[&<>\r\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]/;
const ATTRIBUTE_SPECIAL = /[&<>"\t\n\r\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]/;

/**
 * `text` as the content of an element. CR is written as a reference, since a parser would read it as LF
 * (XML 1.0 §2.11), and `>` always, so that no `]]>` can come about.
 * @throws {XmlWriteError} `character`, naming it.
 */
export function escapeText(text: string): string {
  return TEXT_SPECIAL.test(text) ? escaped(text, /[&<>\r]/g) : text;
}

/**
 * `value` as the value of an attribute, between double quotes. Tab, LF and CR are written as references,
 * since a parser would read them as spaces (XML 1.0 §3.3.3).
 * @throws {XmlWriteError} `character`, naming it.
 */
export function escapeAttribute(value: string): string {
  return ATTRIBUTE_SPECIAL.test(value) ? escaped(value, /[&<>"\t\n\r]/g) : value;
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

function escaped(text: string, special: RegExp): string {
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

/** Writes one document, piece by piece; what is written can always be read back. */
export interface XmlWriter {
  /** Begins an element. */
  start(name: string): this;
  /** Gives the element just begun an attribute. */
  attribute(name: string, value: string): this;
  /** Writes text, escaped. */
  text(data: string): this;
  /** Ends the element begun last; one without content is written `<name/>`. */
  end(): this;
  /** Writes an element that holds text alone. */
  element(name: string, data: string): this;
  comment(data: string): this;
  processingInstruction(target: string, data?: string): this;
  /** The document. @throws {XmlWriteError} `order` if an element is open or there is none. */
  toString(): string;
}

/** Makes a writer. Every method throws {@link XmlWriteError} for what a parser would refuse. */
export function createWriter(): XmlWriter {
  return new Writer();
}

class Writer implements XmlWriter {
  private out = '';
  private readonly open: string[] = [];
  /** The attributes of the tag that is not closed yet. */
  private attributes: Attributes = [];
  private inTag = false;
  private rooted = false;
  private namespaced = false;
  private readonly scope = new NamespaceScope();

  start(name: string): this {
    assertQualified(name);
    this.closeTag('>');
    if (this.open.length === 0 && this.rooted)
      throw new XmlWriteError('order', `<${name}> would be a second root`);
    this.out += `<${name}`;
    this.open.push(name);
    this.inTag = true;
    this.rooted = true;
    this.namespaced = isNamespaced(name);
    return this;
  }

  attribute(name: string, value: string): this {
    if (!this.inTag) throw new XmlWriteError('order', `attribute "${name}" does not follow a start tag`);
    assertQualified(name);
    if (this.attributes.some(([known]) => known === name)) {
      throw new XmlWriteError('duplicate-attribute', `attribute "${name}" comes twice`);
    }
    const written = escapeAttribute(value);
    this.attributes.push([name, value]);
    this.namespaced ||= isNamespaced(name);
    this.out += ` ${name}="${written}"`;
    return this;
  }

  text(data: string): this {
    if (this.open.length === 0)
      throw new XmlWriteError('order', 'text cannot stand outside the root element');
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
      throw new XmlWriteError('comment', 'a comment cannot hold "--" or end in "-"');
    }
    return this.between(`<!--${literal(data)}-->`);
  }

  processingInstruction(target: string, data = ''): this {
    if (!isUnprefixedName(target))
      throw new XmlWriteError('name', `"${target}" is no target of an instruction`);
    if (target.toLowerCase() === 'xml')
      throw new XmlWriteError('instruction', `the target "${target}" is reserved`);
    if (data.includes('?>')) throw new XmlWriteError('instruction', 'an instruction cannot hold "?>"');
    if (/^[ \t\n\r]/.test(data)) {
      throw new XmlWriteError('instruction', 'what an instruction says cannot begin with white space');
    }
    return this.between(`<?${target}${data === '' ? '' : ` ${literal(data)}`}?>`);
  }

  toString(): string {
    const name = this.open.at(-1);
    if (name !== undefined) throw new XmlWriteError('order', `<${name}> is still open`);
    if (!this.rooted) throw new XmlWriteError('order', 'a document needs an element');
    return this.out;
  }

  private between(markup: string): this {
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
    const wrong = this.scope.enter(this.open.length, this.open.at(-1) ?? '', this.attributes);
    if (wrong === undefined) return;
    throw new XmlWriteError('namespace', `"${wrong.name}" cannot be written, expected ${wrong.expected}`);
  }
}

function assertQualified(name: string): void {
  if (isQualifiedName(name)) return;
  throw new XmlWriteError('name', `"${name}" is no name of an element or attribute`);
}

/** What stands in a comment or an instruction, where nothing can be escaped. */
function literal(data: string): string {
  if (data.includes('\r')) throw new XmlWriteError('character', 'U+000D would be read back as U+000A here');
  assertCharacters(data);
  return data;
}
