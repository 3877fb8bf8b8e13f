/** Validates a JSON document against a schema and converts its values to their stored form. */

import { didYouMean } from '../../../did-you-mean.ts';
import { JsonError, type JsonNode, type Position, readJson } from '../../../http/json.ts';
import { toPrintable } from '../../../http/syntax/characters.ts';
import type { StoredRecord, StoredValue } from '../../../store/store.ts';
import { maxJsonDepth } from '../../fields/any-json.ts';
import { buildElement, buildValue } from '../../fields/record.ts';
import {
  type Attribute,
  type Field,
  findCountViolation,
  type ListContent,
  type Schema,
  type Shape,
} from '../../fields/schema.ts';
import { readSimple, type Simple } from '../../fields/simple-type.ts';
import { describeReadOnly, joinPath, type ValidationErrors } from '../validation-errors.ts';

type JsonObject = Extract<JsonNode, { kind: 'object' }>;
type Plain = Simple | ListContent;
type Slot = StoredValue | undefined;

/**
 * What a document is: sent by a client, part of a seed, which can have read-only fields, or of the stored form, in which a value of the
 * type `json` is a text.
 */
type ContentForm = 'sent' | 'seed' | 'stored';

/** Validates one document. */
export class JsonContent {
  readonly #errors: ValidationErrors;
  readonly #findPosition: (at: number) => Position | undefined;
  readonly #form: ContentForm;

  /**
   * @param findPosition returns the line and column of an index into the document; called for errors only
   * @param form what the document is
   */
  constructor(
    errors: ValidationErrors,
    findPosition: (at: number) => Position | undefined,
    form: ContentForm = 'sent',
  ) {
    this.#errors = errors;
    this.#findPosition = findPosition;
    this.#form = form;
  }

  /** Returns the item; undefined if it has an error. */
  item({ root, schema }: Shape, node: JsonNode, partial: boolean): StoredRecord | undefined {
    if (node.kind === 'object') return this.#element(root, schema, node, '', partial);
    this.#report(node.at, root.name, 'root', `must be an object of fields, is ${describeNode(node)}`);
    return undefined;
  }

  #field(field: Field, node: JsonNode, path: string): StoredValue | undefined {
    const { content } = field;
    if (content.kind === 'element') {
      if (node.kind === 'object') return this.#element(field, content.schema, node, path, false);
      this.#report(node.at, path, 'element', `must be an object of fields, is ${describeNode(node)}`);
      return undefined;
    }
    if (field.attributes.length === 0) return this.#content(content, node, path);
    if (node.kind === 'object') return this.#attributed(field, content, node, path);
    const must = 'must be an object with the member value and its attributes';
    this.#report(node.at, path, 'attributes', `${must}, is ${describeNode(node)}`);
    return undefined;
  }

  #element(field: Field, schema: Schema, node: JsonObject, path: string, partial: boolean): StoredRecord {
    const fields: Slot[] = [];
    const attributes: Slot[] = [];
    for (const [name, { at, value }] of node.members) {
      const child = schema.byName.get(name);
      if (child === undefined) this.#attribute(field, name, at, value, path, attributes);
      else if (child.readOnly && this.#form === 'sent')
        this.#report(at, joinPath(path, name), 'read-only', describeReadOnly(child));
      else fields[child.index] = this.#field(child, value, joinPath(path, name));
    }
    if (!partial) this.#require(schema.fields, node, path, '');
    this.#require(field.attributes, node, path, '@');
    return buildElement(field, schema, fields, attributes, partial);
  }

  /** Reads a value that has attributes. */
  #attributed(field: Field, content: Plain, node: JsonObject, path: string): StoredValue | undefined {
    let inner: StoredValue | undefined;
    const attributes: Slot[] = [];
    for (const [name, { at, value }] of node.members) {
      if (name === 'value') inner = this.#content(content, value, path);
      else this.#attribute(field, name, at, value, path, attributes);
    }
    if (!node.members.has('value')) this.#report(node.at, path, 'required', 'must have the member value');
    this.#require(field.attributes, node, path, '@');
    return inner === undefined ? undefined : buildValue(field, inner, attributes);
  }

  #attribute(field: Field, name: string, at: number, node: JsonNode, path: string, into: Slot[]): void {
    const attribute = field.attributeByName.get(name);
    if (attribute === undefined) this.#unknown(field, name, at, path);
    else into[attribute.index] = this.#simple(attribute.content, node, joinPath(path, `@${name}`));
  }

  /** Reports required fields or attributes that are missing. */
  #require(declared: readonly (Field | Attribute)[], node: JsonObject, path: string, mark: string): void {
    for (const { name, required } of declared) {
      if (!required || node.members.has(name)) continue;
      this.#report(node.at, joinPath(path, mark + name), 'required', 'is required');
    }
  }

  #unknown({ content, attributeByName }: Field, name: string, at: number, path: string): void {
    if (!this.#errors.hasRoom()) return;
    const element = content.kind === 'element';
    const allowed = content.kind === 'element' ? [...content.schema.byName.keys()] : ['value'];
    const sent = toPrintable(name);
    const detail = `is not known here${didYouMean(sent, [...allowed, ...attributeByName.keys()])}`;
    const rule = element ? 'unknown-element' : 'unknown-attribute';
    this.#report(at, joinPath(path, element ? sent : `@${sent}`), rule, detail);
  }

  #content(content: Plain, node: JsonNode, path: string): StoredValue | undefined {
    if (content.kind === 'simple') return this.#simple(content, node, path);
    if (node.kind !== 'array') {
      this.#report(node.at, path, 'list', `must be an array, is ${describeNode(node)}`);
      return undefined;
    }
    const violation = findCountViolation(content, node.items.length);
    if (violation !== undefined) this.#report(node.at, path, violation.rule, violation.detail);
    const { of } = content;
    const items: StoredValue[] = [];
    node.items.forEach((item, index) => {
      const value = this.#field(of, item, `${joinPath(path, of.name)}[${index + 1}]`);
      if (value !== undefined) items.push(value);
    });
    return items;
  }

  #simple(simple: Simple, node: JsonNode, path: string): StoredValue | undefined {
    if (simple.type === 'json' && this.#form !== 'stored')
      return this.#text(simple, node, writeAnyJson(node), path);
    const expected = simple.type === 'integer' ? 'number' : simple.type === 'boolean' ? 'boolean' : 'string';
    if (node.kind !== expected) {
      this.#report(node.at, path, simple.type, `${mustBe(simple, expected)}, is ${describeNode(node)}`);
      return undefined;
    }
    return this.#text(simple, node, node.text, path);
  }

  #text(simple: Simple, { at }: JsonNode, text: string, path: string): StoredValue | undefined {
    return readSimple(simple, text, ({ rule, detail }) => this.#report(at, path, rule, detail));
  }

  #report(at: number, path: string, rule: string, detail: string): void {
    if (this.#errors.hasRoom()) this.#errors.add(path, { rule, detail }, this.#findPosition(at));
  }
}

function mustBe({ type }: Simple, expected: 'number' | 'boolean' | 'string'): string {
  if (type === 'decimal') return 'must be sent as a string of digits, such as "12.30"';
  return `must be a JSON ${expected}`;
}

function describeNode(node: JsonNode): string {
  if (node.kind === 'null') return 'null; omit a member that has no value';
  if (node.kind === 'number') return `the number ${toPrintable(node.text)}`;
  return node.kind === 'array' || node.kind === 'object' ? `an ${node.kind}` : `a ${node.kind}`;
}

/**
 * Returns a value as the text in which a field of the type `json` is stored: without white space, with the members in the order and
 * the numbers in the digits that were sent.
 */
function writeAnyJson(node: JsonNode): string {
  switch (node.kind) {
    case 'string':
      return quote(node.text);
    case 'number':
    case 'boolean':
    case 'null':
      return node.text;
    case 'array':
      return `[${node.items.map(writeAnyJson).join(',')}]`;
    case 'object':
      return `{${Array.from(node.members, ([name, { value }]) => `${quote(name)}:${writeAnyJson(value)}`).join(',')}}`;
  }
}

/** XML cannot represent these two characters; JSON.stringify escapes all others that it cannot (XML §2.2). */
function quote(text: string): string {
  return JSON.stringify(text).replace(/[\ufffe\uffff]/g, (character) =>
    character === '\ufffe' ? '\\ufffe' : '\\uffff',
  );
}

/** Reads the text of a field of the type `json`. Returns it as it is stored, or the error. */
export function readAnyJson(text: string): { readonly value: string } | { readonly fault: string } {
  try {
    return { value: writeAnyJson(readJson(text.trim(), maxJsonDepth)) };
  } catch (error) {
    if (error instanceof JsonError) return { fault: error.message };
    throw error;
  }
}
