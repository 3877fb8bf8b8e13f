/** The values of fields that clients cannot send. */

import type { Call } from '../pipeline/resource.ts';
import type { StoredItem, StoredRecord, StoredValue } from '../store/store.ts';
import { readMember } from './fields/record.ts';
import type { Field, Shape } from './fields/schema.ts';

/**
 * Returns what is stored of the fields that a client sent: with the values that the server sets, and those of the item before which no
 * client can change.
 * @param before the item before the change; undefined if it is created
 */
export function addServerValues(
  { readOnlyFields }: Shape,
  sent: StoredRecord,
  call: Pick<Call, 'now' | 'principal'>,
  before: StoredRecord | undefined,
): StoredRecord {
  if (readOnlyFields.length === 0) return sent;
  const values: Record<string, StoredValue> = { ...sent };
  for (const field of readOnlyFields) {
    const value = before === undefined ? createValue(field, call) : keepValue(field, call, before);
    if (value !== undefined) values[field.name] = value;
  }
  return values;
}

/** Returns the value of an item that changes because another one was deleted. */
export function stampChange(
  { readOnlyFields }: Shape,
  value: StoredRecord,
  { now }: Pick<Call, 'now'>,
): StoredRecord {
  const stamped = readOnlyFields.filter(({ set }) => set === 'modified').map(({ name }) => name);
  return { ...value, ...Object.fromEntries(stamped.map((name) => [name, new Date(now).toISOString()])) };
}

function createValue({ set }: Field, { now, principal }: Pick<Call, 'now' | 'principal'>) {
  if (set === 'creator') return principal?.name;
  return set === 'created' || set === 'modified' ? new Date(now).toISOString() : undefined;
}

function keepValue({ name, set }: Field, { now }: Pick<Call, 'now'>, before: StoredRecord) {
  return set === 'modified' ? new Date(now).toISOString() : readMember(before, name);
}

/** Returns the fields of an item as clients see them: with its id, if a field has it. */
export function showValues(
  { idField }: Shape,
  { id, value }: Pick<StoredItem, 'id' | 'value'>,
): StoredRecord {
  return idField === undefined ? value : { ...value, [idField]: id };
}
