/** Writes items as JSON, with the fields in declaration order. */

import type { StoredRecord, StoredValue } from '../../../store/store.ts';
import { isJsonText } from '../../fields/any-json.ts';
import { isList, isRecord, readMember } from '../../fields/record.ts';
import type { Attribute, Content, Field, Schema, Shape } from '../../fields/schema.ts';
import { type ItemAddress, type ListForm, type ListItem, StoredValueError } from '../list-item.ts';

/** Writes the document of one item, after its address, if that is given. */
export function writeItemJson({ schema }: Shape, value: StoredRecord, address?: ItemAddress): string {
  return `{${fieldMembers(schema, value, address === undefined ? '' : addressMembers(address))}}`;
}

/** Writes one item of a collection's document, with its `href`. */
export function writeListedJson({ schema }: Shape, { href, id, value }: ListItem): string {
  return `{${fieldMembers(schema, value, addressMembers({ id, href }))}}`;
}

function addressMembers({ id, href }: { readonly id: string | undefined; readonly href: string }): string {
  const address = `"href":${JSON.stringify(href)}`;
  return id === undefined ? address : `"id":${JSON.stringify(id)},${address}`;
}

/** Returns the beginning, separator and end of a collection's document. */
export function listFormJson({ element }: Shape): ListForm {
  return { begin: `{"${element}":[`, separator: ',', end: ']}' };
}

/** Appends the fields as members. */
function fieldMembers(schema: Schema, record: StoredRecord, before: string): string {
  let written = before;
  for (const field of schema.fields) {
    const value = readMember(record, field.name);
    if (value === undefined) continue;
    if (written !== '') written += ',';
    written += field.key + fieldValue(field, value);
  }
  return written;
}

function fieldValue(field: Field, value: StoredValue): string {
  const { content, attributes } = field;
  if (content.kind !== 'element' && attributes.length === 0) return contentValue(field.name, content, value);
  if (!isRecord(value)) throw new StoredValueError(field.name);
  if (content.kind === 'element') {
    return `{${attributeMembers(attributes, value, fieldMembers(content.schema, value, ''))}}`;
  }
  const inner = readMember(value, 'value');
  if (inner === undefined) throw new StoredValueError(field.name);
  return `{${attributeMembers(attributes, value, `"value":${contentValue(field.name, content, inner)}`)}}`;
}

function contentValue(
  name: string,
  content: Exclude<Content, { kind: 'element' }>,
  value: StoredValue,
): string {
  if (content.kind === 'simple') {
    if (typeof value === 'object') throw new StoredValueError(name);
    if (content.type === 'json') return jsonText(name, value);
    return JSON.stringify(value);
  }
  if (!isList(value)) throw new StoredValueError(name);
  let items = '';
  for (const item of value) items += (items === '' ? '' : ',') + fieldValue(content.of, item);
  return `[${items}]`;
}

/** Returns the text of any JSON. It may have been stored as a value of another type. */
function jsonText(name: string, value: string | number | boolean): string {
  const text = String(value);
  if (!isJsonText(text)) throw new StoredValueError(name);
  return text;
}

function attributeMembers(attributes: readonly Attribute[], record: StoredRecord, before: string): string {
  let written = before;
  for (const attribute of attributes) {
    const value = readMember(record, attribute.name);
    if (value === undefined) continue;
    if (written !== '') written += ',';
    written += attribute.key + JSON.stringify(value);
  }
  return written;
}
