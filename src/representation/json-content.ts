/** What a JSON document means under a schema: its values checked and put into the form that is kept. */
import { suggestion } from '../nearest.ts';
import type { RecordValue, Value } from '../store/store.ts';
import { assembleElement, assembleValue, type Slots } from './assemble.ts';
import { shown } from './characters.ts';
import { type Faults, type Position, under } from './faults.ts';
import type { JsonMember, JsonNode } from './json-reader.ts';
import type { Attribute, Field, ListContent, Schema, Shape } from './schema.ts';
import { breachesOf, keptValue, type Simple } from './simple-type.ts';

type JsonObject = Extract<JsonNode, { kind: 'object' }>;

/** Checks one document and gives what is kept of it. */
export class JsonContent {
  readonly #faults: Faults;
  readonly #positionOf: (at: number) => Position | undefined;

  /** @param positionOf the line and column of an index into the document; asked only for faults */
  constructor(faults: Faults, positionOf: (at: number) => Position | undefined) {
    this.#faults = faults;
    this.#positionOf = positionOf;
  }

  /** The item in the document; undefined when it has a fault. */
  item(shape: Shape, node: JsonNode, partial: boolean): RecordValue | undefined {
    if (node.kind !== 'object') {
      this.#fault(node.at, shape.item, 'root', `must be an object of fields, is ${kindOf(node)}`);
      return undefined;
    }
    const fields = this.#fields(shape.schema, node, '', partial);
    this.#refuseUnknown(node, shape.root, '');
    return assembleElement(shape.root, shape.schema, fields, []);
  }

  #fields(schema: Schema, node: JsonObject, path: string, partial: boolean): Slots {
    const fields: (Value | undefined)[] = [];
    for (const field of schema.fields) {
      const member = node.members.get(field.name);
      if (member !== undefined)
        fields[field.index] = this.#field(field, member.value, under(path, field.name));
      else if (field.required && !partial) this.#missing(node, under(path, field.name));
    }
    return fields;
  }

  #field(field: Field, node: JsonNode, path: string): Value | undefined {
    const { content, attributes } = field;
    if (content.kind === 'element') return this.#element(field, content.schema, node, path);
    if (attributes.length === 0) return this.#content(content, node, path);
    if (node.kind !== 'object') {
      const must = 'must be an object with the member value and its attributes';
      this.#fault(node.at, path, 'attributes', `${must}, is ${kindOf(node)}`);
      return undefined;
    }
    const given = this.#attributes(attributes, node, path);
    this.#refuseUnknown(node, field, path);
    const member = node.members.get('value');
    if (member === undefined) {
      this.#fault(node.at, path, 'required', 'must have the member value');
      return undefined;
    }
    const value = this.#content(content, member.value, path);
    return value === undefined ? undefined : assembleValue(field, value, given);
  }

  #element(field: Field, schema: Schema, node: JsonNode, path: string): Value | undefined {
    if (node.kind !== 'object') {
      this.#fault(node.at, path, 'element', `must be an object of fields, is ${kindOf(node)}`);
      return undefined;
    }
    const attributes = this.#attributes(field.attributes, node, path);
    const fields = this.#fields(schema, node, path, false);
    this.#refuseUnknown(node, field, path);
    return assembleElement(field, schema, fields, attributes);
  }

  #content(content: Simple | ListContent, node: JsonNode, path: string): Value | undefined {
    if (content.kind === 'simple') return this.#simple(content, node, path);
    if (node.kind !== 'array') {
      this.#fault(node.at, path, 'list', `must be an array, is ${kindOf(node)}`);
      return undefined;
    }
    const { of } = content;
    const items: Value[] = [];
    node.items.forEach((item, index) => {
      const value = this.#field(of, item, `${under(path, of.name)}[${index + 1}]`);
      if (value !== undefined) items.push(value);
    });
    return items;
  }

  #attributes(attributes: readonly Attribute[], node: JsonObject, path: string): Slots {
    const values: (Value | undefined)[] = [];
    for (const attribute of attributes) {
      const member = node.members.get(attribute.name);
      const at = under(path, `@${attribute.name}`);
      if (member !== undefined) values[attribute.index] = this.#simple(attribute.content, member.value, at);
      else if (attribute.required) this.#missing(node, at);
    }
    return values;
  }

  #simple(simple: Simple, node: JsonNode, path: string): Value | undefined {
    const expected = simple.type === 'integer' ? 'number' : simple.type === 'boolean' ? 'boolean' : 'string';
    if (node.kind !== expected) {
      this.#fault(node.at, path, simple.type, `${mustBe(simple, expected)}, is ${kindOf(node)}`);
      return undefined;
    }
    const { text } = node;
    const breaches = breachesOf(simple, text);
    for (const { rule, detail } of breaches) this.#fault(node.at, path, rule, detail);
    return breaches.length === 0 ? keptValue(simple, text) : undefined;
  }

  #refuseUnknown(node: JsonObject, field: Field, path: string): void {
    const fields = field.content.kind === 'element' ? field.content.schema.byName : valueAlone;
    if (node.members.size === 0) return;
    for (const [name, member] of node.members) {
      if (fields.has(name) || field.attributeByName.has(name)) continue;
      this.#unknown(name, member, field, path);
    }
  }

  #unknown(name: string, member: JsonMember, field: Field, path: string): void {
    if (!this.#faults.hasRoom()) return;
    const element = field.content.kind === 'element';
    const known = field.content.kind === 'element' ? [...field.content.schema.byName.keys()] : ['value'];
    const detail = `is not known here${suggestion(shown(name), [...known, ...field.attributeByName.keys()])}`;
    const rule = element ? 'unknown-element' : 'unknown-attribute';
    this.#fault(member.at, under(path, element ? name : `@${name}`), rule, detail);
  }

  #missing(node: JsonObject, path: string): void {
    this.#fault(node.at, path, 'required', 'must be there');
  }

  #fault(at: number, path: string, rule: string, detail: string): void {
    if (this.#faults.hasRoom()) this.#faults.add(path, { rule, detail }, this.#positionOf(at));
  }
}

/** The members of an object that stands for a field with attributes, besides them. */
const valueAlone: ReadonlySet<string> = new Set(['value']);

function mustBe({ type }: Simple, expected: 'number' | 'boolean' | 'string'): string {
  if (type === 'decimal') return 'must be sent as a string of digits, such as "12.30"';
  return `must be a JSON ${expected}`;
}

function kindOf(node: JsonNode): string {
  if (node.kind === 'null') return 'null; what has no value is left out';
  if (node.kind === 'number') return `the number ${shown(node.text)}`;
  return node.kind === 'array' || node.kind === 'object' ? `an ${node.kind}` : `a ${node.kind}`;
}
