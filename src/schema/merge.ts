import type { RecordValue, Value } from '../store/store.ts';
import { memberOf } from './record.ts';
import type { Shape } from './schema.ts';

/**
 * The item after a partial change: the fields sent are as sent, the others as they were before, those too that are
 * kept from an earlier declaration.
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
