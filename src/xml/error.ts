import { CountersignError } from '../countersign-error.ts';

/** The codes of {@link XmlError}. They are stable. */
export type XmlErrorCode =
  /** The document is empty. */
  | 'empty'
  /** The declared or detected encoding is not UTF-8. `encoding` contains its name. */
  | 'encoding'
  /** The bytes are not valid UTF-8. */
  | 'invalid-utf8'
  /** A character that XML does not allow. */
  | 'invalid-character'
  /** A document type declaration. */
  | 'doctype'
  /** A malformed XML declaration. */
  | 'declaration'
  /** A version of XML other than 1.x. */
  | 'version'
  /** An XML declaration that is not at the beginning, or a processing instruction with a reserved target. */
  | 'misplaced-declaration'
  /** Text, a reference or a CDATA section outside the root element. */
  | 'misplaced-text'
  /** The document ends before its root element. */
  | 'missing-root'
  /** A second element after the root element. */
  | 'second-root'
  /** The document ends while elements are open. */
  | 'unclosed'
  /** The document ends inside markup. */
  | 'truncated'
  /** An end tag whose name differs from that of the open element. */
  | 'mismatched-tag'
  /** An end tag while no element is open. */
  | 'unopened-tag'
  /** A name was expected. */
  | 'name'
  /** A malformed tag or attribute. */
  | 'tag'
  /** `<` in an attribute value. */
  | 'less-than-in-value'
  /** Two attributes with the same name, or with the same local name and namespace. */
  | 'duplicate-attribute'
  /** An `&` that does not begin a reference. */
  | 'reference'
  /** A reference to an entity other than the five predefined ones. */
  | 'undeclared-entity'
  /** A character reference that does not denote an XML character. */
  | 'character-reference'
  /** `]]>` in text. */
  | 'cdata-end'
  /** `--` in a comment. */
  | 'comment'
  /** A malformed processing instruction. */
  | 'instruction'
  /** `<!` that begins neither a comment nor a CDATA section. */
  | 'markup'
  /** A name whose colons do not separate a prefix and a local part. */
  | 'qualified-name'
  /** A prefix that is not declared. */
  | 'unbound-prefix'
  /** A declaration or use of a reserved namespace. */
  | 'reserved-namespace'
  | 'limit-depth'
  | 'limit-attributes'
  | 'limit-name'
  | 'limit-value'
  | 'limit-token'
  /** The parser was called after its end or from its own handler. */
  | 'closed';

/** The details of an {@link XmlError}. */
type XmlErrorDetail = Pick<XmlError, 'line' | 'column' | 'path' | 'found' | 'expected'> &
  Partial<Pick<XmlError, 'encoding'>>;

/** Thrown for a document that is not well-formed or that the parser does not support. */
export class XmlError extends CountersignError {
  override readonly name = 'XmlError';
  /** The rule that the document violates. */
  readonly code: XmlErrorCode;
  /** The line, from 1. */
  readonly line: number;
  /** The column, from 1, in characters (code points). */
  readonly column: number;
  /** The open elements, such as `/articles/article`; empty outside the root element. */
  readonly path: string;
  /** A description of what was found. */
  readonly found: string;
  /** A description of what was expected. */
  readonly expected: string;
  /** The declared or detected encoding; undefined unless the code is `encoding`. */
  readonly encoding: string | undefined;

  constructor(code: XmlErrorCode, detail: XmlErrorDetail) {
    super(formatMessage(detail));
    this.code = code;
    this.line = detail.line;
    this.column = detail.column;
    this.path = detail.path;
    this.found = detail.found;
    this.expected = detail.expected;
    this.encoding = detail.encoding;
  }
}

const MAX_SHOWN = 64;
const MAX_PATH = 256;

/** Returns the path of the open elements, with its middle omitted if it is long. */
export function elementPath(names: readonly string[]): string {
  const path = names.map((name) => `/${clipText(name)}`).join('');
  if (path.length <= MAX_PATH) return path;
  return `${path.slice(0, MAX_PATH / 2)}…${path.slice(-MAX_PATH / 2)}`;
}

/**
 * Returns a description of the character at `index` for a message; invisible characters by their code point.
 */
export function characterAt(text: string, index: number): string {
  const point = text.codePointAt(index);
  if (point === undefined) return 'the end of the document';
  if (point === 0x0a || point === 0x0d) return 'the end of the line';
  if (point === 0x20) return 'a space';
  if (point === 0x22) return "'\"'";
  const visible = point > 0x20 && point < 0x7f;
  const number = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
  if (visible) return `"${String.fromCodePoint(point)}"`;
  return /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(String.fromCodePoint(point))
    ? `"${String.fromCodePoint(point)}" (${number})`
    : number;
}

/** Truncates a name or another part of a document to a length that suits a message. */
export function clipText(text: string): string {
  const characters = [...text.slice(0, 2 * MAX_SHOWN)];
  return characters.length > MAX_SHOWN ? `${characters.slice(0, MAX_SHOWN - 1).join('')}…` : text;
}

function formatMessage(detail: XmlErrorDetail): string {
  const within = detail.path === '' ? '' : `, in ${detail.path}`;
  const found = `found ${detail.found}, expected ${detail.expected}`;
  return `Line ${detail.line}, column ${detail.column}${within}: ${found}`;
}
