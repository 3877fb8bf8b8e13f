import { didYouMean } from '../../../did-you-mean.ts';
import type { Position } from '../../../http/json.ts';
import { Problem, unsupportedCharset } from '../../../http/problem.ts';
import type { ProblemType } from '../../../http/problem-types.ts';
import { toPrintable } from '../../../http/syntax/characters.ts';
import type { StoredRecord, StoredValue } from '../../../store/store.ts';
import { XmlError } from '../../../xml/error.ts';
import type { XmlHandler } from '../../../xml/handler.ts';
import { createParser } from '../../../xml/parser.ts';
import { buildElement, buildValue, isRecord } from '../../fields/record.ts';
import { type Content, type Field, findCountViolation, type Shape } from '../../fields/schema.ts';
import { readSimple, type Simple } from '../../fields/simple-type.ts';
import { readAnyJson } from '../json/content.ts';
import type { ItemDecoder, ReadingOptions } from '../list-item.ts';
import { describeReadOnly, joinPath, ValidationErrors } from '../validation-errors.ts';

/**
 * Creates a streaming decoder for an item in XML. It throws `xml-malformed`, `doctype-refused` or
 * `limit-exceeded` with line and column, `unsupported-charset` for encodings other than UTF-8, and at the end
 * `invalid-content` with up to 20 errors.
 */
export function xmlDecoder(shape: Shape, options: ReadingOptions): ItemDecoder {
  const { partial, maxDepth, maxAttributes, maxLength, charset, names } = options;
  const isUtf8 = charset?.toLowerCase() === 'utf-8';
  const checkMark = charset === undefined || isUtf8 ? undefined : createMarkCheck(charset);
  const errors = new ValidationErrors();
  const content = new XmlContent(shape, partial, errors, () => parser.position());
  const parser = createParser(content, {
    maxDepth,
    maxAttributes,
    maxValue: maxLength,
    maxToken: maxLength,
    encoding: isUtf8 ? 'known' : 'marked',
    names,
  });
  return {
    write(bytes) {
      checkMark?.(bytes);
      withProblems(() => parser.write(bytes));
    },
    end() {
      checkMark?.();
      withProblems(() => parser.end());
      const problem = errors.problem();
      if (problem !== undefined) throw problem;
      return content.value();
    },
  };
}

const utf8Mark = [0xef, 0xbb, 0xbf];

/**
 * Returns a function that takes the bytes of a document, and nothing at its end. It throws a Problem (415) if they do not begin
 * with the byte order mark of UTF-8, which takes precedence over another charset (RFC 7303 §3.2).
 */
function createMarkCheck(charset: string): (bytes?: Uint8Array) => void {
  let read = 0;
  return (bytes) => {
    const expected = utf8Mark.slice(read, bytes === undefined ? undefined : read + bytes.length);
    if (expected.some((byte, at) => bytes?.[at] !== byte)) throw unsupportedCharset(charset);
    read += expected.length;
  };
}

/** Runs a reading of XML. Throws the errors of the parser as Problems. */
export function withProblems(read: () => void): void {
  try {
    read();
  } catch (error) {
    throw error instanceof XmlError ? toProblem(error) : error;
  }
}

function toProblem({ code, message, line, column, encoding }: XmlError): Problem {
  if (code === 'encoding') {
    const members = { encoding: encoding ?? 'unknown', line, column };
    return new Problem('unsupported-charset', `${message}.`, { members });
  }
  return new Problem(chooseProblemType(code), `${message}.`, { members: { line, column } });
}

function chooseProblemType(code: XmlError['code']): ProblemType {
  if (code === 'doctype') return 'doctype-refused';
  return code.startsWith('limit-') ? 'limit-exceeded' : 'xml-malformed';
}

/**
 * Validates an XML document against a schema from parser events. Checks each value when its element ends and
 * retains only the values. An error has the position of the event that reveals it: the start tag for a name
 * or an attribute, the end tag for the content.
 */
/** An open element. */
interface Frame {
  readonly field: Field;
  /** The index in its list, from 1; 0 outside a list. */
  readonly ordinal: number;
  readonly attributes: (StoredValue | undefined)[];
  /** The text so far, for a simple field. */
  text: string;
  /** The values so far: by field index in an element, in order in a list. */
  readonly values: (StoredValue | undefined)[];
  /** Whether each field of the element has occurred. */
  readonly seen: boolean[];
  /** The number of list items so far. */
  count: number;
  /** Whether unexpected text in the element was reported. */
  textReported: boolean;
}

/** Handles the parser events of one document. */
class XmlContent implements XmlHandler {
  readonly #shape: Shape;
  readonly #partial: boolean;
  readonly #errors: ValidationErrors;
  readonly #position: () => Position;
  readonly #open: Frame[] = [];
  /** The number of open elements from the outermost unknown one. */
  #skipped = 0;
  #value: StoredValue | undefined;

  /** @param position returns the position of the current event; called for errors only */
  constructor(shape: Shape, partial: boolean, errors: ValidationErrors, position: () => Position) {
    this.#shape = shape;
    this.#partial = partial;
    this.#errors = errors;
    this.#position = position;
  }

  /** Returns the item after the document has ended without errors. */
  value(): StoredRecord {
    if (this.#value === undefined || !isRecord(this.#value))
      throw new Error('a document without errors has a value');
    return this.#value;
  }

  startElement(name: string, attributes: readonly [name: string, value: string][]): void {
    const field = this.#skipped > 0 ? undefined : this.#findField(name);
    if (field === undefined) {
      this.#skipped++;
      return;
    }
    const parent = this.#open.at(-1);
    const ordinal = parent?.field.content.kind === 'list' ? ++parent.count : 0;
    this.#open.push(createFrame(field, ordinal));
    if (attributes.length > 0 || field.attributes.length > 0) this.#takeAttributes(field, attributes);
  }

  text(data: string): void {
    const frame = this.#open.at(-1);
    if (this.#skipped > 0 || frame === undefined) return;
    if (frame.field.content.kind === 'simple') {
      frame.text += data;
    } else if (!frame.textReported && /[^ \t\n\r]/.test(data)) {
      frame.textReported = true;
      this.#report(
        '',
        'unexpected-text',
        `must contain only elements, contains the text “${toPrintable(data.trim())}”`,
      );
    }
  }

  endElement(): void {
    if (this.#skipped > 0) {
      this.#skipped--;
      return;
    }
    const frame = this.#open.at(-1);
    if (frame === undefined) return;
    const value = this.#complete(frame, frame.field.content);
    this.#open.pop();
    const parent = this.#open.at(-1);
    if (parent === undefined) this.#value = value;
    else if (parent.field.content.kind === 'list') parent.values.push(value);
    else parent.values[frame.field.index] = value;
  }

  /**
   * Returns the field for a child of the innermost open element. Reports an unknown or repeated one and
   * returns undefined.
   */
  #findField(name: string): Field | undefined {
    const frame = this.#open.at(-1);
    if (frame === undefined) return this.#root(name);
    const { content } = frame.field;
    const field = findChild(content, name);
    if (field === undefined) {
      this.#unknown('', name, 'unknown-element', namesIn(content));
    } else if (field.readOnly) {
      this.#report(name, 'read-only', describeReadOnly(field));
      return undefined;
    } else if (content.kind === 'element') {
      if (frame.seen[field.index] !== true) frame.seen[field.index] = true;
      else {
        this.#report(name, 'repeated', 'must occur only once');
        return undefined;
      }
    }
    return field;
  }

  #root(name: string): Field | undefined {
    const { item, root } = this.#shape;
    if (name === item) return root;
    this.#report('', 'root', `must be the root element, but that is “${toPrintable(name)}”`);
    return undefined;
  }

  #takeAttributes(field: Field, given: readonly [name: string, value: string][]): void {
    const frame = this.#open.at(-1);
    if (frame === undefined) return;
    for (const [name, text] of given) {
      const attribute = field.attributeByName.get(name);
      if (attribute === undefined) {
        this.#unknown('@', name, 'unknown-attribute', field.attributeByName.keys());
      } else {
        frame.attributes[attribute.index] = this.#simple(attribute.content, text, `@${name}`) ?? unusable;
      }
    }
    for (const { name, index, required } of field.attributes) {
      if (required && frame.attributes[index] === undefined)
        this.#report(`@${name}`, 'required', 'is required');
    }
  }

  #complete(frame: Frame, content: Content): StoredValue | undefined {
    const { field, values, attributes } = frame;
    if (content.kind === 'simple') {
      const value = this.#simple(content, frame.text, '');
      return value === undefined ? undefined : buildValue(field, value, attributes);
    }
    if (content.kind === 'list') {
      const violation = findCountViolation(content, frame.count);
      if (violation !== undefined) this.#report('', violation.rule, violation.detail);
      return buildValue(field, values.filter(isThere), attributes);
    }
    const isPartial = this.#partial && this.#open.length <= 1;
    if (!isPartial) this.#requireFields(frame, content.schema.fields);
    return buildElement(field, content.schema, values, attributes, isPartial);
  }

  #requireFields({ seen }: Frame, fields: readonly Field[]): void {
    for (const { name, index, required } of fields) {
      if (required && seen[index] !== true) this.#report(name, 'required', 'is required');
    }
  }

  /** Returns the value of a text. Reports violations and returns undefined if there are any. */
  #simple(simple: Simple, sent: string, within: string): StoredValue | undefined {
    const read = simple.type === 'json' ? readAnyJson(sent) : { value: sent };
    if ('fault' in read) {
      this.#report(within, 'json', `must be JSON: ${read.fault}`);
      return undefined;
    }
    return readSimple(simple, read.value, ({ rule, detail }) => this.#report(within, rule, detail));
  }

  #unknown(mark: string, name: string, rule: string, allowed: Iterable<string>): void {
    if (!this.#errors.hasRoom()) return;
    const sent = toPrintable(name);
    this.#report(mark + sent, rule, `is not known here${didYouMean(sent, [...allowed])}`);
  }

  /** Reports an error of the innermost open element, or of the part that `within` names. */
  #report(within: string, rule: string, detail: string): void {
    if (!this.#errors.hasRoom()) return;
    const path = within === '' ? this.#path() : joinPath(this.#path(), within);
    this.#errors.add(path === '' ? this.#shape.item : path, { rule, detail }, this.#position());
  }

  /** Returns the path of the innermost open element; empty for the root. */
  #path(): string {
    let path = '';
    for (const { field, ordinal } of this.#open.slice(1)) {
      path = joinPath(path, field.name) + (ordinal === 0 ? '' : `[${ordinal}]`);
    }
    return path;
  }
}

/** Replaces an invalid attribute, so that it is not also reported as missing. It is never stored. */
const unusable = '';

function createFrame(field: Field, ordinal: number): Frame {
  return { field, ordinal, attributes: [], text: '', values: [], seen: [], count: 0, textReported: false };
}

function findChild(content: Content, name: string): Field | undefined {
  if (content.kind === 'element') return content.schema.byName.get(name);
  return content.kind === 'list' && content.of.name === name ? content.of : undefined;
}

function namesIn(content: Content): Iterable<string> {
  if (content.kind === 'element') return content.schema.byName.keys();
  return content.kind === 'list' ? [content.of.name] : [];
}

function isThere(value: StoredValue | undefined): value is StoredValue {
  return value !== undefined;
}
