// The JSON of items and receipts, which is the same in journals, snapshots and exports.
import type { MadeChange, Receipt, StoredItem, StoredReceipt } from '../store.ts';
import { isRecordValue } from '../value.ts';
import { formatIsoDate, parseIsoDate } from './iso-date.ts';

/**
 * Formats the members of an item as JSON, without the braces. Journals, snapshots and exports contain the same members.
 * @param value the value as JSON; undefined for a deleted item
 * @param date the time of the item's last change
 */
export function formatMembers(
  { id, sequence, revision, modified }: Omit<StoredItem, 'value'>,
  value: string | undefined,
  date = formatIsoDate(modified),
): string {
  // JSON.stringify of the whole item takes twice as long.
  const members = `"id":${quote(id)},"sequence":${sequence},"revision":${revision},"modified":"${date}"`;
  return value === undefined ? members : `${members},"value":${value}`;
}

/** Formats an item as JSON. */
export function formatItem(item: StoredItem): string {
  return `{${formatMembers(item, JSON.stringify(item.value))}}`;
}

/** Reads an item from a parsed value. Returns undefined if it is not one. */
export function readItem(source: unknown): StoredItem | undefined {
  if (!isObject(source)) return undefined;
  const { id, sequence, revision, value } = source;
  const modified = readTime(source['modified']);
  if (typeof id !== 'string' || modified === undefined || !isRecordValue(value)) return undefined;
  if (!isCount(sequence) || !isCount(revision)) return undefined;
  return { id, sequence, revision, modified, value };
}

/** Formats the receipt of a change for its journal line, as JSON. */
export function formatLoggedReceipt({ receipt, kind, created, entry }: StoredReceipt): string {
  const members = formatReceiptMembers(receipt);
  if (kind !== 'delete') return `{${members},"created":${created}}`;
  return `{${members},"former":${formatItem(entry)}}`;
}

/** Formats a change with its receipt for a line of a snapshot or an export, as JSON. */
export function formatReceiptedChange({ receipt, kind, created, collection, entry }: StoredReceipt): string {
  const change = `"kind":"${kind}","created":${created},"collection":${quote(collection)}`;
  return `{"receipt":{${formatReceiptMembers(receipt)}},${change},"item":${formatItem(entry)}}`;
}

/** Returns the change of a journal line with its receipt, as `formatLoggedReceipt` formats it; undefined if it is not one. */
export function addLoggedReceipt(change: MadeChange, source: unknown): StoredReceipt | undefined {
  const receipt = readReceipt(source);
  if (receipt === undefined || !isObject(source)) return undefined;
  const { kind, collection, id, sequence, revision, modified, value } = change;
  const { created = false, former } = source;
  if (typeof created !== 'boolean' || (former === undefined) === (kind === 'delete')) return undefined;
  const entry = value === undefined ? readItem(former) : { id, sequence, revision, modified, value };
  return entry === undefined ? undefined : { receipt, kind, created, collection, entry };
}

/** Parses a line of a snapshot, with or without a comma at its end. Returns undefined if it is not a change with a receipt. */
export function parseReceiptedChange(line: string): StoredReceipt | undefined {
  try {
    const source: unknown = JSON.parse(line.endsWith(',') ? line.slice(0, -1) : line);
    return readReceiptedChange(source);
  } catch {
    return undefined;
  }
}

/** Reads a change with a receipt from a parsed value. Returns undefined if it is not one. */
export function readReceiptedChange(source: unknown): StoredReceipt | undefined {
  if (!isObject(source)) return undefined;
  const { kind, created, collection } = source;
  const [receipt, entry] = [readReceipt(source['receipt']), readItem(source['item'])];
  if (receipt === undefined || entry === undefined) return undefined;
  if (kind !== 'create' && kind !== 'put' && kind !== 'delete') return undefined;
  if (typeof created !== 'boolean' || typeof collection !== 'string') return undefined;
  return { receipt, kind, created, collection, entry };
}

function formatReceiptMembers({ key, fingerprint, until, user }: Receipt): string {
  const owner = user === undefined ? '' : `,"user":${quote(user)}`;
  return `"key":${quote(key)},"fingerprint":${quote(fingerprint)},"until":"${formatIsoDate(until)}"${owner}`;
}

function readReceipt(source: unknown): Receipt | undefined {
  if (!isObject(source)) return undefined;
  const { key, fingerprint, user } = source;
  const until = readTime(source['until']);
  if (typeof key !== 'string' || typeof fingerprint !== 'string' || until === undefined) return undefined;
  if (user === undefined) return { key, fingerprint, until };
  return typeof user === 'string' ? { key, fingerprint, until, user } : undefined;
}

/** Formats a text as JSON. Most texts need no escapes, and checking that is faster than JSON.stringify. */
export function quote(text: string): string {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return JSON.stringify(text);
  }
  return `"${text}"`;
}

/** Returns whether a parsed value is an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns whether a parsed value is a safe integer of at least 0. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Returns the time (ms) of a date; undefined if the parsed value is not a date as `formatIsoDate` formats it. */
export function readTime(value: unknown): number | undefined {
  return typeof value === 'string' ? parseIsoDate(value) : undefined;
}
