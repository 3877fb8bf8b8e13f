import type { RecordValue, Value } from '../store/store.ts';
import { memberOf } from './record.ts';
import type { Shape } from './schema.ts';

/**
 * Merges a partial change into an item. Fields that were not sent keep their values, including undeclared
 * ones that an earlier declaration had.
 */
export function merge(shape: Shape, before: RecordValue, partial: RecordValue): RecordValue {
  const undeclared = Object.entries(before).filter(([name]) => !shape.schema.byName.has(name));
  const merged: Record<string, Value> = Object.fromEntries(undeclared);
  for (const { name } of shape.schema.fields) {
    const value = memberOf(partial, name) ?? memberOf(before, name);
    if (value !== undefined) merged[name] = value;
  }
  return merged;
}
