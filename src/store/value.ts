import type { StoredRecord } from './store.ts';

/** The maximum nesting of a value. No schema reaches it, and the stack is large enough for it. */
const maxDepth = 256;

/** Returns whether this is an object of plain JSON that can be parsed to the same value (so no null, NaN or Infinity). */
export function isRecordValue(value: unknown): value is StoredRecord {
  return isRecord(value) && isPlain(value, maxDepth);
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
