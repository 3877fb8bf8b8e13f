import type { StoredRecord, StoredValue } from '../../store/store.ts';
import type { Field, Schema } from './schema.ts';

/** Values by their index in a declaration; undefined if absent. */
type FieldValues = readonly (StoredValue | undefined)[];

/**
 * Builds the stored form of an element: its fields, then its attributes, in declaration order.
 * @param partial whether fields that are not sent stay as they are, instead of having their default
 */
export function buildElement(
  field: Field,
  schema: Schema,
  fields: FieldValues,
  attributes: FieldValues,
  partial: boolean,
): StoredRecord {
  const record: Record<string, StoredValue> = {};
  for (const { name, index, default: missing } of schema.fields)
    put(record, name, fields[index] ?? (partial ? undefined : missing));
  for (const { name, index } of field.attributes) put(record, name, attributes[index]);
  return record;
}

/**
 * Builds the stored form of any other field: its content, or an object with the content and the attributes if
 * it has any.
 */
export function buildValue(field: Field, content: StoredValue, attributes: FieldValues): StoredValue {
  if (field.attributes.length === 0) return content;
  const record: Record<string, StoredValue> = { value: content };
  for (const { name, index } of field.attributes) put(record, name, attributes[index]);
  return record;
}

/** Returns an own member of a record; undefined if there is none. */
export function readMember(record: StoredRecord, name: string): StoredValue | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Returns whether a value is a record. */
export function isRecord(value: StoredValue): value is StoredRecord {
  return typeof value === 'object' && !Array.isArray(value);
}

/** Returns whether a value is a list. */
export function isList(value: StoredValue): value is readonly StoredValue[] {
  return Array.isArray(value);
}

// Declared names are never `__proto__`.
function put(record: Record<string, StoredValue>, name: string, value: StoredValue | undefined): void {
  if (value !== undefined) record[name] = value;
}
