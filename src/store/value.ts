import type { RecordValue } from './store.ts';

/** How deep a value may nest: far beyond any schema, and far below what a stack bears. */
const deepest = 256;

/** Whether this is a record of plain JSON that reads back as it was written (so no null, NaN or Infinity). */
export function isRecordValue(value: unknown): value is RecordValue {
  return isRecord(value) && isPlain(value, deepest);
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isPlain(value: unknown, depth: number): boolean {
  if (typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null || depth === 0) return false;
  const parts: unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (const part of parts) if (!isPlain(part, depth - 1)) return false;
  return true;
}
