/** Writes items as XML, with the fields in declaration order. */

import type { StoredRecord, StoredValue } from '../../../store/store.ts';
import { escapeAttribute, escapeText } from '../../../xml/writer.ts';
import { isList, isRecord, readMember } from '../../fields/record.ts';
import type { Attribute, Content, Field, Schema, Shape } from '../../fields/schema.ts';
import { type ListForm, type ListItem, StoredValueError } from '../list-item.ts';

/** Writes the document of one item. */
export function writeItemXml({ root, schema }: Shape, value: StoredRecord): string {
  return root.open + fieldElements(schema, value) + root.close;
}

/** Writes one item of a collection's document, with its `href`. */
export function writeListedXml({ root, schema }: Shape, { href, value }: ListItem): string {
  return `${root.begin} href="${escapeAttribute(href)}">${fieldElements(schema, value)}${root.close}`;
}

/** Returns the beginning, separator and end of a collection's document. */
export function listFormXml({ element }: Shape): ListForm {
  return { begin: `<${element}>`, separator: '', end: `</${element}>` };
}

function fieldElements(schema: Schema, record: StoredRecord): string {
  let written = '';
  for (const field of schema.fields) {
    const value = readMember(record, field.name);
    if (value !== undefined) written += fieldElement(field, value);
  }
  return written;
}

function fieldElement(field: Field, value: StoredValue): string {
  const { content, attributes } = field;
  if (attributes.length === 0) return field.open + writeContent(field, content, value) + field.close;
  if (!isRecord(value)) throw new StoredValueError(field.name);
  const inner = content.kind === 'element' ? value : readMember(value, 'value');
  if (inner === undefined) throw new StoredValueError(field.name);
  return `${field.begin}${writeAttributes(attributes, value)}>${writeContent(field, content, inner)}${field.close}`;
}

function writeContent({ name }: Field, content: Content, value: StoredValue): string {
  if (content.kind === 'simple') {
    if (typeof value === 'object') throw new StoredValueError(name);
    return typeof value === 'string' ? escapeText(value) : String(value);
  }
  if (content.kind === 'element') {
    if (!isRecord(value)) throw new StoredValueError(name);
    return fieldElements(content.schema, value);
  }
  if (!isList(value)) throw new StoredValueError(name);
  let items = '';
  for (const item of value) items += fieldElement(content.of, item);
  return items;
}

function writeAttributes(attributes: readonly Attribute[], record: StoredRecord): string {
  let written = '';
  for (const attribute of attributes) {
    const value = readMember(record, attribute.name);
    if (value !== undefined) written += `${attribute.begin}${escapeAttribute(String(value))}"`;
  }
  return written;
}
