/** What can be wrong with a document; the codes are stable. */
export type XmlErrorCode =
  /** There is nothing at all. */
  | 'empty'
  /** Another encoding than UTF-8, declared or seen from the first bytes; `encoding` names it. */
  | 'encoding'
  /** Bytes that are not UTF-8. */
  | 'invalid-utf8'
  /** A character that no document may hold. */
  | 'invalid-character'
  /** A document type declaration. */
  | 'doctype'
  /** An XML declaration that is not as it must be. */
  | 'declaration'
  /** A version of XML other than 1.x. */
  | 'version'
  /** An XML declaration that is not at the very beginning, or an instruction that takes its name. */
  | 'misplaced-declaration'
  /** Text, a reference or a CDATA section outside the root element. */
  | 'misplaced-text'
  /** The document ends before its root element began. */
  | 'missing-root'
  /** A second element after the root element. */
  | 'second-root'
  /** The document ends while elements are open. */
  | 'unclosed'
  /** The document ends inside markup. */
  | 'truncated'
  /** An end tag that is not that of the open element. */
  | 'mismatched-tag'
  /** An end tag where no element is open. */
  | 'unopened-tag'
  /** A name was due and something else came. */
  | 'name'
  /** A tag, or an attribute in one, that is not as it must be. */
  | 'tag'
  /** `<` in an attribute's value. */
  | 'less-than-in-value'
  /** One attribute twice, by name or, after expansion, by namespace. */
  | 'duplicate-attribute'
  /** An `&` that begins no reference. */
  | 'reference'
  /** A reference to an entity other than the five. */
  | 'undeclared-entity'
  /** A reference to what is no character. */
  | 'character-reference'
  /** `]]>` in text. */
  | 'cdata-end'
  /** `--` in a comment. */
  | 'comment'
  /** A processing instruction that is not as it must be. */
  | 'instruction'
  /** `<!` that begins neither a comment nor a CDATA section. */
  | 'markup'
  /** A name whose colons do not make a prefix and a local part. */
  | 'qualified-name'
  /** A prefix that no declaration binds. */
  | 'unbound-prefix'
  /** A declaration or a use of a namespace that is reserved. */
  | 'reserved-namespace'
  | 'limit-depth'
  | 'limit-attributes'
  | 'limit-name'
  | 'limit-value'
  | 'limit-token'
  /** The parser was used after its end, or from inside its own handler. */
  | 'closed';

/** What an {@link XmlError} says beside its code. */
export interface XmlErrorDetail {
  /** Line, from 1. */
  readonly line: number;
  /** Column, from 1, in characters (code points). */
  readonly column: number;
  /** The open elements, as `/articles/article`; empty outside the root. */
  readonly path: string;
  /** What is there. */
  readonly found: string;
  /** What should be there. */
  readonly expected: string;
  /** The encoding that was declared or detected, with the code `encoding`. */
  readonly encoding?: string | undefined;
}

/** A document is not well-formed, or not one that this parser takes: which rule, where, what was there. */
export class XmlError extends Error {
  override readonly name = 'XmlError';
  readonly code: XmlErrorCode;
  readonly line: number;
  readonly column: number;
  readonly path: string;
  readonly found: string;
  readonly expected: string;
  readonly encoding: string | undefined;

  constructor(code: XmlErrorCode, detail: XmlErrorDetail) {
    super(sentence(detail));
    this.code = code;
    this.line = detail.line;
    this.column = detail.column;
    this.path = detail.path;
    this.found = detail.found;
    this.expected = detail.expected;
    this.encoding = detail.encoding;
  }
}

const LONGEST = 64;
const LONGEST_PATH = 256;

/** The path of the open elements, cut in its middle when it is long. */
export function elementPath(names: readonly string[]): string {
  const path = names.map((name) => `/${clipped(name)}`).join('');
  if (path.length <= LONGEST_PATH) return path;
  return `${path.slice(0, LONGEST_PATH / 2)}…${path.slice(-LONGEST_PATH / 2)}`;
}

/** What a message shows of the text at `index`: a character, by its number if it cannot be seen. */
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

/** A name or another piece of a document, cut to what a message can carry. */
export function clipped(text: string): string {
  const characters = [...text.slice(0, 2 * LONGEST)];
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST - 1).join('')}…` : text;
}

function sentence(detail: XmlErrorDetail): string {
  const within = detail.path === '' ? '' : `, in ${detail.path}`;
  const found = `found ${detail.found}, expected ${detail.expected}`;
  return `Line ${detail.line}, column ${detail.column}${within}: ${found}`;
}
