import type { StoredRecord, StoredValue } from '../../store/store.ts';
import { readMember } from './record.ts';
import type { Shape } from './schema.ts';

/**
 * Merges a partial change into an item. Fields that were not sent keep their values, including undeclared
 * ones that an earlier declaration had.
 */
export function merge(shape: Shape, before: StoredRecord, partial: StoredRecord): StoredRecord {
  const undeclared = Object.entries(before).filter(([name]) => !shape.schema.byName.has(name));
  const merged: Record<string, StoredValue> = Object.fromEntries(undeclared);
  for (const { name } of shape.schema.fields) {
    const value = readMember(partial, name) ?? readMember(before, name);
    if (value !== undefined) merged[name] = value;
  }
  return merged;
}
