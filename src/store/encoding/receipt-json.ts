import type { MadeChange } from '../state/state.ts';
import type { Receipt, StoredItem, StoredReceipt } from '../store.ts';
import { isRecordValue } from '../value.ts';
import { formatIsoDate } from './iso-date.ts';
import { formatMembers, quoted } from './item-json.ts';
import { isCount, isObject, timeOf } from './json-value.ts';

/** Formats the receipt of a change for its journal line, as JSON. */
export function formatLoggedReceipt({ receipt, kind, created, entry }: StoredReceipt): string {
  const members = membersOf(receipt);
  if (kind !== 'delete') return `{${members},"created":${created}}`;
  return `{${members},"former":${formatItem(entry)}}`;
}

/** Formats a change with its receipt for a line of a snapshot or an export, as JSON. */
export function formatReceiptedChange({ receipt, kind, created, collection, entry }: StoredReceipt): string {
  const change = `"kind":"${kind}","created":${created},"collection":${quoted(collection)}`;
  return `{"receipt":{${membersOf(receipt)}},${change},"item":${formatItem(entry)}}`;
}

/** Returns the change of a journal line with its receipt, as `formatLoggedReceipt` formats it; undefined if it is not one. */
export function withLoggedReceipt(change: MadeChange, source: unknown): StoredReceipt | undefined {
  const receipt = receiptOf(source);
  if (receipt === undefined || !isObject(source)) return undefined;
  const { kind, collection, id, sequence, revision, modified, value } = change;
  const { created = false, former } = source;
  if (typeof created !== 'boolean' || (former === undefined) === (kind === 'delete')) return undefined;
  const entry = value === undefined ? itemOf(former) : { id, sequence, revision, modified, value };
  return entry === undefined ? undefined : { receipt, kind, created, collection, entry };
}

/** Parses a line of a snapshot, with or without a comma at its end. Returns undefined if it is not a change with a receipt. */
export function parseReceiptedChange(line: string): StoredReceipt | undefined {
  try {
    const source: unknown = JSON.parse(line.endsWith(',') ? line.slice(0, -1) : line);
    return receiptedChangeOf(source);
  } catch {
    return undefined;
  }
}

/** Reads a change with a receipt from a parsed value. Returns undefined if it is not one. */
export function receiptedChangeOf(source: unknown): StoredReceipt | undefined {
  if (!isObject(source)) return undefined;
  const { kind, created, collection } = source;
  const [receipt, entry] = [receiptOf(source['receipt']), itemOf(source['item'])];
  if (receipt === undefined || entry === undefined) return undefined;
  if (kind !== 'create' && kind !== 'put' && kind !== 'delete') return undefined;
  if (typeof created !== 'boolean' || typeof collection !== 'string') return undefined;
  return { receipt, kind, created, collection, entry };
}

function membersOf({ key, fingerprint, until, user }: Receipt): string {
  const owner = user === undefined ? '' : `,"user":${quoted(user)}`;
  return `"key":${quoted(key)},"fingerprint":${quoted(fingerprint)},"until":"${formatIsoDate(until)}"${owner}`;
}

function formatItem(entry: StoredItem): string {
  return `{${formatMembers(entry, JSON.stringify(entry.value))}}`;
}

function receiptOf(source: unknown): Receipt | undefined {
  if (!isObject(source)) return undefined;
  const { key, fingerprint, user } = source;
  const until = timeOf(source['until']);
  if (typeof key !== 'string' || typeof fingerprint !== 'string' || until === undefined) return undefined;
  if (user === undefined) return { key, fingerprint, until };
  return typeof user === 'string' ? { key, fingerprint, until, user } : undefined;
}

function itemOf(source: unknown): StoredItem | undefined {
  if (!isObject(source)) return undefined;
  const { id, sequence, revision, value } = source;
  const modified = timeOf(source['modified']);
  if (typeof id !== 'string' || modified === undefined || !isRecordValue(value)) return undefined;
  if (!isCount(sequence) || !isCount(revision)) return undefined;
  return { id, sequence, revision, modified, value };
}
