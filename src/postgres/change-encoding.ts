import { latest } from '../store/nonces/time.ts';
import { formatTemplateExpression, selectRules } from '../store/state/references.ts';
import { counterNumber } from '../store/state/reserved-ids.ts';
import type {
  Receipt,
  ReferenceRules,
  ReferenceTarget,
  StoreChange,
  StoredRecord,
  StoreResult,
  UniqueConflict,
  UniqueRules,
} from '../store/store.ts';
import { isRecordValue } from '../store/value.ts';
import { computeDigest, escapeText, unescapeText } from './text.ts';

/** The maximum length of a path and of an id in bytes: PostgreSQL indexes no longer texts. */
const maxKeyLength = 2000;
/** The expectations that are no revision, as numbers. The last one never holds. */
const [absent, present, impossible] = [-1, -2, -3];
const kinds = { create: 0, put: 1, delete: 2 } as const;

/** A change as a parameter of `apply_changes`. */
export interface EncodedChange {
  readonly change: StoreChange;
  readonly path: string;
  /** Whether the change may create its collection. */
  readonly creates: boolean;
  /** The members that do not depend on the batch, as JSON without braces. */
  readonly members: string;
  /** The key of the receipt: no other change of the batch may have the same. */
  readonly receipt: string | undefined;
  /** The changes that are made in the same step. */
  readonly also: readonly EncodedChange[];
}

/**
 * Encodes a change. Throws TypeError if the value is not plain JSON; RangeError if the time is out of range, or if the id or
 * the path is too long.
 */
export function encodeChange(change: StoreChange): EncodedChange {
  const at = Math.floor(change.at);
  if (!(Math.abs(at) <= latest)) throw new RangeError('the time of a change is out of range');
  const path = encodeKey(change.collection);
  const members: Record<string, unknown> = { k: kinds[change.kind], a: at };
  if (change.kind !== 'delete') members['v'] = encodeValue(change.value);
  if (change.kind !== 'create') {
    members['d'] = encodeKey(change.id);
    members['e'] = encodeExpected(change.expected);
  }
  if (change.kind === 'put' && change.expected === 'absent') members['m'] = counterNumber(change.id);
  const { receipt } = change;
  if (receipt !== undefined) members['r'] = encodeReceipt(receipt);
  return {
    change,
    path,
    creates: change.kind === 'create' || (change.kind === 'put' && change.expected === 'absent'),
    members: JSON.stringify(members).slice(1, -1),
    receipt: receipt && computeDigest(receipt.key),
    also: change.kind === 'delete' ? (change.also ?? []).map(encodeChange) : [],
  };
}

/** Returns whether a path or an id is short enough to be stored. */
export function isStorableKey(key: string): boolean {
  return Buffer.byteLength(escapeText(key)) <= maxKeyLength;
}

function encodeKey(key: string): string {
  if (!isStorableKey(key)) throw new RangeError(`a path or an id is longer than ${maxKeyLength} bytes`);
  return escapeText(key);
}

function encodeValue(value: StoredRecord): string {
  if (!isRecordValue(value)) throw new TypeError('the value of an item must be a record of plain JSON');
  return JSON.stringify(value);
}

function encodeExpected(expected: number | 'absent' | 'present'): number {
  if (expected === 'absent') return absent;
  if (expected === 'present') return present;
  return Number.isSafeInteger(expected) && expected > 0 ? expected : impossible;
}

function encodeReceipt(receipt: Receipt): object {
  const { key, fingerprint, until } = receipt;
  if (!(Math.abs(until) <= latest)) throw new RangeError('the time of a receipt is out of range');
  const { user } = receipt;
  return {
    k: computeDigest(key),
    n: escapeText(key),
    u: Math.floor(until),
    f: escapeText(fingerprint),
    o: user === undefined ? undefined : encodeKey(user),
  };
}

/** Encodes the parameter `groups` of a batch. */
export function encodeBatch(changes: readonly EncodedChange[]): string {
  const groups = new Map<string, Group>();
  const groupOf = (path: string): Group => {
    const group = groups.get(path) ?? { creates: false, rules: undefined, sources: undefined, members: [] };
    groups.set(path, group);
    return group;
  };
  for (const [index, { change, path, creates, members }] of changes.entries()) {
    const group = groupOf(path);
    const { references } = change;
    group.rules ??= change.unique;
    group.creates ||= creates;
    group.members.push(`{"i":${index + 1},${members}}`);
    if (references === undefined) continue;
    if (change.kind === 'delete') group.sources = encodeSources(references);
    // The collections of the items are locked, so that these are not deleted meanwhile.
    else for (const { to } of selectRules(references, change.collection)) groupOf(encodeKey(to));
    group.references ??= encodeReferences(references, change.collection);
  }
  const encoded = [...groups]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, group]) => encodeGroup(path, group));
  return `[${encoded.join()}]`;
}

/** The changes of one collection. */
interface Group {
  creates: boolean;
  rules: UniqueRules | undefined;
  /** The fields that refer to items; undefined if there are none. */
  references?: string | undefined;
  /** The collections that may refer to a deleted item; undefined if none is deleted that they may refer to. */
  sources: string | undefined;
  readonly members: string[];
}

function encodeGroup(path: string, { creates, rules, references, sources, members }: Group): string {
  const unique = rules === undefined ? '' : `"u":${JSON.stringify(rules)},`;
  const fields = references === undefined ? '' : `"f":${JSON.stringify(references)},`;
  const referring = sources === undefined ? '' : `"b":${JSON.stringify(sources)},`;
  const changes = members.length === 0 ? '' : `,"c":[${members.join()}]`;
  return `{"p":${JSON.stringify(path)},${unique}${fields}${referring}"n":${creates}${changes}}`;
}

/** Encodes the fields of a collection that refer to items: `[["product","/products"]]`; undefined if there are none. */
function encodeReferences(references: ReferenceRules, path: string): string | undefined {
  const rules = selectRules(references, path);
  return rules.length === 0
    ? undefined
    : JSON.stringify(rules.map(({ field, to }) => [field, encodeKey(to)]));
}

/** Encodes all collections that refer to items: expressions for their paths, and the fields. */
export function encodeSources(references: ReferenceRules): string {
  const sources = new Set(references.map(({ from }) => from));
  return JSON.stringify(
    Array.from(sources, (from) => [formatTemplateExpression(from), encodeReferences(references, from)]),
  );
}

const notApplied: StoreResult = { applied: false };

/** Decodes the results of a batch. Throws TypeError if they do not match. */
export function decodeResults(changes: readonly EncodedChange[], text: string): StoreResult[] {
  const results: unknown = JSON.parse(text);
  if (!Array.isArray(results) || results.length !== changes.length) {
    throw new TypeError('PostgreSQL returned results of another batch');
  }
  return changes.map(({ change }, index) => decodeResult(change, results[index]));
}

function decodeResult(change: StoreChange, result: unknown): StoreResult {
  if (result === null) return notApplied;
  if (!Array.isArray(result)) return { applied: false, ...decodeReason(change, result) };
  const [sequence, revision, modified, last] = result.map((each: unknown) => each);
  const numbers = { sequence: Number(sequence), revision: Number(revision), modified: Number(modified) };
  const id = change.kind === 'create' ? String(last) : change.id;
  const value = change.kind === 'delete' ? decodeValue(String(last)) : change.value;
  return { applied: true, entry: { id, ...numbers, value } };
}

/** Decodes the conflict with another item, or the missing one. Throws TypeError if it is neither. */
function decodeReason(
  { unique, references, collection }: StoreChange,
  result: unknown,
): { readonly conflict: UniqueConflict } | { readonly missing: ReferenceTarget } {
  const { r: rule, m: reference, d: id } = Object(result);
  const fields = unique?.[Number(rule) - 1];
  if (fields !== undefined && typeof id === 'string') return { conflict: { fields, id: decodeKey(id) } };
  const found = references && selectRules(references, collection)[Number(reference) - 1];
  if (found === undefined || typeof id !== 'string')
    throw new TypeError('PostgreSQL returned a result that is no array and no reason');
  return { missing: { field: found.field, collection: found.to, id: decodeKey(id) } };
}

/** Parses a stored value. */
export function decodeValue(text: string): StoredRecord {
  return JSON.parse(text);
}

/** Decodes a stored path or id. */
export function decodeKey(text: string): string {
  return unescapeText(text);
}
