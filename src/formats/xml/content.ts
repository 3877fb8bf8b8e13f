/**
 * What an XML document means under a schema: takes a parser's events, checks each value as soon as its element
 * ends, and keeps nothing but the values. Faults are told with the line and column of the event in which they
 * show: of a start tag for its name and attributes, of an end tag for the content before it.
 */
import { didYouMean } from '../../did-you-mean.ts';
import { printable } from '../../schema/characters.ts';
import { buildElement, buildValue, isRecord } from '../../schema/record.ts';
import type { Content, Field, Shape } from '../../schema/schema.ts';
import { type Simple, storedValue, violationsOf } from '../../schema/simple-type.ts';
import type { RecordValue, Value } from '../../store/store.ts';
import { detached } from '../../xml/copy-string.ts';
import type { XmlHandler } from '../../xml/handler.ts';
import { type Position, under, type ValidationErrors } from '../validation-errors.ts';

/** An element that is open. */
interface Frame {
  readonly field: Field;
  /** Which item of its list it is, from 1; 0 when it is in none. */
  readonly ordinal: number;
  readonly attributes: (Value | undefined)[];
  /** The text so far, of a simple field. */
  text: string;
  /** The values so far: by the places of the fields of an element, or in the order of a list. */
  readonly values: (Value | undefined)[];
  /** Which fields of an element came already. */
  readonly seen: boolean[];
  /** How many items of a list came already. */
  count: number;
  /** Whether text that has no place in it was told of. */
  misplaced: boolean;
}

/** Takes the events of one document. */
export class XmlContent implements XmlHandler {
  readonly #shape: Shape;
  readonly #partial: boolean;
  readonly #faults: ValidationErrors;
  readonly #position: () => Position;
  readonly #open: Frame[] = [];
  /** How many elements are open within one that is not known, it included. */
  #skipped = 0;
  #value: Value | undefined;

  /** @param position the line and column of the event being delivered; asked only for faults */
  constructor(shape: Shape, partial: boolean, faults: ValidationErrors, position: () => Position) {
    this.#shape = shape;
    this.#partial = partial;
    this.#faults = faults;
    this.#position = position;
  }

  /** The item, once the document has ended without a fault. */
  value(): RecordValue {
    if (this.#value === undefined || !isRecord(this.#value))
      throw new Error('a document without faults has a value');
    return this.#value;
  }

  startElement(name: string, attributes: readonly [name: string, value: string][]): void {
    const field = this.#skipped > 0 ? undefined : this.#fieldOf(name);
    if (field === undefined) {
      this.#skipped++;
      return;
    }
    const parent = this.#open.at(-1);
    const ordinal = parent?.field.content.kind === 'list' ? ++parent.count : 0;
    this.#open.push(newFrame(field, ordinal));
    if (attributes.length > 0 || field.attributes.length > 0) this.#takeAttributes(field, attributes);
  }

  text(data: string): void {
    const frame = this.#open.at(-1);
    if (this.#skipped > 0 || frame === undefined) return;
    if (frame.field.content.kind === 'simple') {
      frame.text += data;
    } else if (!frame.misplaced && /[^ \t\n\r]/.test(data)) {
      frame.misplaced = true;
      this.#fault('', 'unexpected-text', `must have elements only, has the text “${printable(data.trim())}”`);
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

  /** The field that an element within the innermost open one stands for; undefined, and told, when there is none. */
  #fieldOf(name: string): Field | undefined {
    const frame = this.#open.at(-1);
    if (frame === undefined) return this.#root(name);
    const { content } = frame.field;
    const field = childOf(content, name);
    if (field === undefined) {
      this.#unknown('', name, 'unknown-element', namesIn(content));
    } else if (content.kind === 'element') {
      if (frame.seen[field.index] !== true) frame.seen[field.index] = true;
      else {
        this.#fault(name, 'repeated', 'must stand once');
        return undefined;
      }
    }
    return field;
  }

  #root(name: string): Field | undefined {
    const { item, root } = this.#shape;
    if (name === item) return root;
    this.#fault('', 'root', `must be the root element, which is “${printable(name)}”`);
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
        this.#fault(`@${name}`, 'required', 'must be there');
    }
  }

  #complete(frame: Frame, content: Content): Value | undefined {
    const { field, values, attributes } = frame;
    if (content.kind === 'simple') {
      const value = this.#simple(content, frame.text, '');
      return value === undefined ? undefined : buildValue(field, value, attributes);
    }
    if (content.kind === 'list') return buildValue(field, values.filter(isThere), attributes);
    if (!this.#partial || this.#open.length > 1) this.#requireFields(frame, content.schema.fields);
    return buildElement(field, content.schema, values, attributes);
  }

  #requireFields({ seen }: Frame, fields: readonly Field[]): void {
    for (const { name, index, required } of fields) {
      if (required && seen[index] !== true) this.#fault(name, 'required', 'must be there');
    }
  }

  /** The value of a text; undefined, and told, when it breaks a rule. */
  #simple(simple: Simple, text: string, within: string): Value | undefined {
    const breaches = violationsOf(simple, text);
    for (const { rule, detail } of breaches) this.#fault(within, rule, detail);
    if (breaches.length > 0) return undefined;
    const value = storedValue(simple, text);
    return typeof value === 'string' ? detached(value) : value;
  }

  #unknown(mark: string, name: string, rule: string, known: Iterable<string>): void {
    if (!this.#faults.hasRoom()) return;
    const sent = printable(name);
    this.#fault(mark + sent, rule, `is not known here${didYouMean(sent, [...known])}`);
  }

  /** Tells a fault of the innermost open element, or of what is named within it. */
  #fault(within: string, rule: string, detail: string): void {
    if (!this.#faults.hasRoom()) return;
    const path = within === '' ? this.#path() : under(this.#path(), within);
    this.#faults.add(path === '' ? this.#shape.item : path, { rule, detail }, this.#position());
  }

  /** The path of the innermost open element; empty for the root. */
  #path(): string {
    let path = '';
    for (const { field, ordinal } of this.#open.slice(1)) {
      path = under(path, field.name) + (ordinal === 0 ? '' : `[${ordinal}]`);
    }
    return path;
  }
}

/** Stands where an attribute was sent that broke a rule, so that it is not missed too; with a fault nothing is kept. */
const unusable = '';

function newFrame(field: Field, ordinal: number): Frame {
  return { field, ordinal, attributes: [], text: '', values: [], seen: [], count: 0, misplaced: false };
}

function childOf(content: Content, name: string): Field | undefined {
  if (content.kind === 'element') return content.schema.byName.get(name);
  return content.kind === 'list' && content.of.name === name ? content.of : undefined;
}

function namesIn(content: Content): Iterable<string> {
  if (content.kind === 'element') return content.schema.byName.keys();
  return content.kind === 'list' ? [content.of.name] : [];
}

function isThere(value: Value | undefined): value is Value {
  return value !== undefined;
}
