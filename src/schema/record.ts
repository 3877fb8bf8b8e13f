import type { RecordValue, Value } from '../store/store.ts';
import type { Field, Schema } from './schema.ts';

/** Values by their places in a declaration; what was not given is undefined. */
export type FieldValues = readonly (Value | undefined)[];

/** An element as it is kept: its fields and then its attributes, in the order declared. */
export function buildElement(
  field: Field,
  schema: Schema,
  fields: FieldValues,
  attributes: FieldValues,
): RecordValue {
  const record: Record<string, Value> = {};
  for (const { name, index } of schema.fields) put(record, name, fields[index]);
  for (const { name, index } of field.attributes) put(record, name, attributes[index]);
  return record;
}

/** Any other field as it is kept: its content alone, or beside its attributes where some are declared. */
export function buildValue(field: Field, content: Value, attributes: FieldValues): Value {
  if (field.attributes.length === 0) return content;
  const record: Record<string, Value> = { value: content };
  for (const { name, index } of field.attributes) put(record, name, attributes[index]);
  return record;
}

/** The member of a record; undefined where it has none of its own, whatever its prototype has. */
export function memberOf(record: RecordValue, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Whether a value is a record. */
export function isRecord(value: Value): value is RecordValue {
  return typeof value === 'object' && !Array.isArray(value);
}

/** Whether a value is a list. */
export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

// Names are those of a declaration, which cannot be `__proto__`.
function put(record: Record<string, Value>, name: string, value: Value | undefined): void {
  if (value !== undefined) record[name] = value;
}
