// The records of which every file of a store, an export and a transfer consist, and the JSON of each. Files differ only in what
// surrounds it: lines with checksums in a log, blocks with checksums in a snapshot, plain lines in an export.
import { formatIsoDate } from './encoding/iso-date.ts';
import { Members, RecordFault, readCount, readList, readTime } from './encoding/members.ts';
import type { NonceClaim } from './nonces/nonces.ts';
import type { Span } from './nonces/time.ts';
import type {
  MadeChange,
  NumberRange,
  Receipt,
  StoredItem,
  StoredReceipt,
  TransferPart,
  TransferredCollection,
} from './store.ts';

/** One record of a store. */
export type Record = HeadRecord | ChangeRecord | TransferPart;

/** A record of a journal. */
export type JournalRecord = HeadRecord | ChangeRecord;

/** A record of a snapshot. */
type SnapshotRecord = SnapshotHead | BlockRecord | EndRecord;

/** The first record of a snapshot. */
export interface SnapshotHead {
  readonly kind: 'head';
  /** The lines of a snapshot are numbered from 1. */
  readonly sequence: 0;
  readonly store: HeadRecord;
}

/** Some parts of a store: receipts, or the counters of a collection and some of its items. */
export interface BlockRecord {
  readonly kind: 'block';
  /** The number of the line. */
  readonly seq: number;
  readonly parts: readonly TransferPart[];
}

/** The last record of a snapshot. */
export interface EndRecord {
  readonly kind: 'end';
  readonly seq: number;
  /** The number of the last change that the snapshot may contain. */
  readonly reached: number;
}

/** The first record of a journal, and what the first one of a snapshot contains. */
export interface HeadRecord {
  readonly kind: 'head';
  readonly storeId: string;
  /** The number of the journal. A snapshot has that of the first journal with changes that may be missing in it. */
  readonly generation: number;
  /** The highest revision that was assigned before. */
  readonly revision: number;
  /** The number of the last change before. All changes up to it are on the disk. */
  readonly sequence: number;
  /** The time at which it was written (ms). */
  readonly at: number;
  /**
   * Identifies the declarations to which all items conform, also those that later changes of this journal add. Undefined if that
   * is not known. Only in a journal.
   */
  readonly declarations?: string | undefined;
}

/** A change, with the receipt of its request. */
export interface ChangeRecord {
  readonly kind: 'change';
  /** The number of the change. It increases by one from record to record, across journals. */
  readonly seq: number;
  /** The number of the last change that was on the disk when this one was written. */
  readonly durable: number;
  readonly change: MadeChange;
  /** The changes of other items that were made in the same step. */
  readonly also?: readonly MadeChange[] | undefined;
  /** The change with its receipt, if it has one. */
  readonly receipted?: StoredReceipt | undefined;
}

/** A claim of a nonce. */
export interface ClaimRecord {
  readonly kind: 'claim';
  /** The number of the claim. It increases by one from record to record, across files. */
  readonly seq: number;
  readonly claim: NonceClaim;
}

/** A record of a file of nonces. */
type NoncesRecord = NoncesHead | ClaimRecord;

/** The first record of a file of nonces. */
export interface NoncesHead {
  readonly kind: 'head';
  /** The number of the last claim before. */
  readonly sequence: number;
  /** The time of its creation, by the clock (ms). */
  readonly opened: number;
  /** The boot id of the host; undefined if the host does not provide one. */
  readonly boot: string | undefined;
  /** The maximum difference between a date and the clock (ms), from which `until` of claims is computed. */
  readonly window: number;
  /** Whether the earlier files are on the disk. */
  readonly synced: boolean;
  /** Whether the file was created by an orderly stop: it is then the last one, and has no claims. */
  readonly closed: boolean;
  /** The spans of time whose claims are unknown. */
  readonly forgotten: readonly Span[];
  /** The number of the first file that is needed. All from it on are. */
  readonly first: number;
}

/** The files that begin with a head, and the name and the version of their format. */
const storeVersions = { journal: 1, snapshot: 2 } as const;
const noncesVersion = 3;
export const exportFormat = 'countersign-export';
export const exportVersion = 1;

/**
 * Formats the members of an item as JSON, without the braces.
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

/** Formats the counters of a collection as JSON, without the braces. */
export function formatCollection(part: Omit<TransferredCollection, 'kind'>): string {
  const { path, counter, chosen, sequence, revision, modified } = part;
  const ranges = chosen.map(({ first, last }) => [first, last]);
  const date = formatIsoDate(modified);
  const members = { collection: path, counter, chosen: ranges, sequence, revision, modified: date };
  return JSON.stringify(members).slice(1, -1);
}

/** Formats a change with its receipt as JSON. */
export function formatReceipt({ receipt, kind, created, collection, entry }: StoredReceipt): string {
  const change = `"kind":"${kind}","created":${created},"collection":${quote(collection)}`;
  return `{"receipt":{${formatReceiptMembers(receipt)}},${change},"item":${formatItem(entry)}}`;
}

/** Formats the head of a journal or a snapshot as JSON, without the opening brace. */
export function formatHead(file: keyof typeof storeVersions, head: HeadInit): string {
  const { storeId, generation, revision, sequence, at, declarations } = head;
  const numbers = { [file]: storeVersions[file], lineage: storeId, generation, revision, sequence };
  return JSON.stringify({ ...numbers, opened: formatIsoDate(at), declarations }).slice(1);
}

/**
 * Formats a line of a snapshot, without the opening brace. A tab precedes each part and follows the last one: no JSON contains tabs
 * otherwise, so that parts of a damaged line can be found.
 * @param start the members before the list, and the name of the list
 * @param parts the elements of the list, as JSON
 */
export function formatBlock(seq: number, start: string, parts: readonly string[]): string {
  return `"seq":${seq},${start}:[${parts.map((part) => `\t${part}`).join()}\t]}`;
}

/** Formats the last line of a snapshot, without the opening brace. */
export function formatSnapshotEnd({ seq, reached }: Omit<EndRecord, 'kind'>): string {
  return `"seq":${seq},"reached":${reached}}`;
}

/** Formats the head of a file of nonces as JSON, without the opening brace. */
export function formatNoncesHead(head: Omit<NoncesHead, 'kind'>): string {
  const { sequence, opened, boot, window, synced, closed, forgotten, first } = head;
  const members = {
    version: noncesVersion,
    sequence,
    opened: formatIsoDate(opened),
    boot,
    window,
    synced,
    closed,
    forgotten: forgotten.map(({ from, to }) => [formatIsoDate(from), formatIsoDate(to)]),
    first,
  };
  return JSON.stringify(members).slice(1);
}

/** A head without its kind. */
export type HeadInit = Omit<HeadRecord, 'kind'>;

/** A change of which only the kind, the collection and the numbers are known: its item is formatted before. */
interface ChangeInit extends Omit<ChangeRecord, 'kind' | 'change' | 'also'> {
  readonly change: ChangedPlace;
}

type ChangedPlace = Pick<MadeChange, 'kind' | 'collection'>;

/**
 * Formats a change as JSON, without the opening brace.
 * @param members the members of its item, as JSON
 * @param also the changes in the same step, as JSON
 */
export function formatChange(
  { seq, durable, change, receipted }: ChangeInit,
  members: string,
  also: readonly string[] = [],
): string {
  const others = also.length === 0 ? '' : `,"also":[${also.join()}]`;
  const receipt = receipted === undefined ? '' : `,"receipt":${formatChangeReceipt(receipted)}`;
  return `"seq":${seq},"durable":${durable},"change":${formatMadeChange(change, members)}${others}${receipt}}`;
}

/** Formats the change of one item as JSON. `members` are the members of the item, as JSON. */
export function formatMadeChange({ kind, collection }: ChangedPlace, members: string): string {
  return `{"kind":"${kind}","collection":${quote(collection)},${members}}`;
}

/** Formats a claim as JSON, without the opening brace. */
export function formatClaim(seq: number, { user, nonce, until }: NonceClaim): string {
  const time = formatIsoDate(Math.ceil(until));
  return `"seq":${seq},"until":"${time}","user":${quote(user)},"nonce":${quote(nonce)}}`;
}

/** Reads a line of a journal. Throws RecordFault. */
export function readJournalRecord(text: string): JournalRecord {
  const members = Members.parse(text);
  return members.has('journal') ? readHead(members, 'journal') : readChange(members);
}

function readNoncesHead(members: Members): NoncesHead {
  checkVersion(members.count('version'), noncesVersion);
  return {
    kind: 'head',
    sequence: members.count('sequence'),
    opened: members.time('opened'),
    boot: members.has('boot') ? members.text('boot') : undefined,
    window: members.count('window'),
    synced: members.flag('synced'),
    closed: members.flag('closed'),
    forgotten: members.list('forgotten').map((span) => {
      const [from, to] = readList(span, 'a span of forgotten');
      return { from: readTime(from, 'a start of forgotten'), to: readTime(to, 'an end of forgotten') };
    }),
    first: members.count('first'),
  };
}

/** Reads a line of a snapshot. The items are not checked, except for ids and dates. Throws RecordFault. */
export function readSnapshotRecord(text: string): SnapshotRecord {
  const members = Members.parse(text);
  if (members.has('snapshot')) return { kind: 'head', sequence: 0, store: readHead(members, 'snapshot') };
  const seq = members.count('seq');
  if (members.has('reached')) return { kind: 'end', seq, reached: members.count('reached') };
  if (members.has('receipts'))
    return { kind: 'block', seq, parts: members.list('receipts').map(readReceiptPart) };
  const collection = readCollection(members);
  const { path } = collection;
  const items = members.list('items').map((item): TransferPart => {
    const entry = readVerifiedItem(item);
    return { kind: 'item', collection: path, entry };
  });
  return { kind: 'block', seq, parts: [collection, ...items] };
}

/**
 * Reads the parts of a damaged line of a snapshot that are valid JSON. Their content may not be what was written.
 * @param onLost called with the number of each part that is not, from 1; 0 for the counters of a collection
 */
export function* salvageBlock(text: string, onLost: (part: number) => void): Generator<TransferPart> {
  const [first = '', ...others] = text.split('\t');
  const isOfReceipts = first.endsWith('"receipts":[');
  let collection: string | undefined;
  for (const [index, piece] of [`${first}]}`, ...others.slice(0, -1)].entries()) {
    try {
      const members = Members.parse(piece.replace(/,$/, ''));
      if (index > 0 && isOfReceipts) yield { kind: 'receipt', change: readReceipt(members) };
      else if (index === 0 && !isOfReceipts) {
        const counters = readCollection(members);
        collection = counters.path;
        yield counters;
      } else if (collection !== undefined) yield { kind: 'item', collection, entry: readItem(members) };
      else if (!isOfReceipts) throw new RecordFault('its collection is not known');
    } catch (error) {
      if (!(error instanceof RecordFault)) throw error;
      onLost(index);
    }
  }
}

function readChange(members: Members): ChangeRecord {
  if (!members.has('change'))
    throw new RecordFault('this is neither the first line of a journal nor a change');
  const [seq, durable] = [members.count('seq'), members.count('durable')];
  if (durable >= seq) throw new RecordFault('this is not a change: its durable is not below its seq');
  const change = readMadeChange(members.object('change'));
  const made = { kind: 'change', seq, durable, change } as const;
  const record = members.has('also')
    ? { ...made, also: members.list('also').map((each) => readMadeChange(new Members(each, 'also'))) }
    : made;
  // Most changes have no receipt. Spreading an object takes as long as reading it.
  if (!members.has('receipt')) return record;
  return { ...record, receipted: readChangeReceipt(change, members.object('receipt')) };
}

/** How an item is read that a person may have written. */
interface EditedItem {
  /** The values of missing members. A revision of 0 is replaced later. */
  readonly defaults: Pick<StoredItem, 'sequence' | 'revision' | 'modified'>;
  /** The highest number. */
  readonly max: number;
}

/** Reads an item. Throws RecordFault. */
export function readItem(members: Members, edited?: EditedItem): StoredItem {
  const { defaults, max } = edited ?? {};
  const item = {
    id: members.text('id'),
    sequence: members.count('sequence', { fallback: defaults?.sequence, max }),
    revision: members.count('revision', { fallback: defaults?.revision, max }),
    modified: members.time('modified', defaults?.modified),
    value: members.value('value'),
  };
  if (edited === undefined && (item.sequence === 0 || item.revision === 0))
    throw new RecordFault('this is not an item: it has no sequence or no revision');
  return item;
}

/** Reads an item, of which only the id and the date are checked, because a checksum of it was verified. Throws RecordFault. */
function readVerifiedItem(written: unknown): StoredItem {
  if (!isWrittenItem(written)) throw new RecordFault('this is not an item');
  const { id, sequence, revision, modified, value } = written;
  const time = Date.parse(modified);
  if (Number.isNaN(time)) throw new RecordFault('this is not an item');
  return { id, sequence, revision, modified: time, value };
}

/** An item in JSON. */
interface WrittenItem extends Omit<StoredItem, 'modified'> {
  /** ISO 8601. */
  readonly modified: string;
}

function isWrittenItem(value: unknown): value is WrittenItem {
  if (typeof value !== 'object' || value === null || !('id' in value && 'modified' in value)) return false;
  return typeof value.id === 'string' && typeof value.modified === 'string';
}

/**
 * Reads the counters of a collection. Missing ones are 0.
 * @param max the highest counter. Default: the highest safe integer
 * @throws RecordFault
 */
export function readCollection(members: Members, max?: number): TransferredCollection {
  const path = members.text('collection');
  const rules = { fallback: 0, max };
  const counter = members.count('counter', rules);
  return {
    kind: 'collection',
    path,
    counter,
    chosen: members.has('chosen') ? readChosen(members.list('chosen'), counter) : [],
    sequence: members.count('sequence', rules),
    revision: members.count('revision', rules),
    modified: members.time('modified', 0),
  };
}

/** Reads a change with its receipt. Throws RecordFault. */
export function readReceipt(members: Members): StoredReceipt {
  return {
    receipt: readReceiptMembers(members.object('receipt')),
    kind: readKind(members),
    created: members.flag('created'),
    collection: members.text('collection'),
    entry: readItem(members.object('item')),
  };
}

function readReceiptPart(written: unknown): TransferPart {
  return { kind: 'receipt', change: readReceipt(new Members(written, 'the receipt')) };
}

/** Reads the lines of a file of nonces. Many claims have the same date. */
export class NoncesReader {
  #date: unknown;
  #time = Number.NaN;

  /** Reads a line. Throws RecordFault. */
  read(text: string): NoncesRecord {
    const members = Members.parse(text);
    if (!members.has('seq')) return readNoncesHead(members);
    const date = members.get('until');
    if (date !== this.#date) {
      this.#time = members.time('until');
      this.#date = date;
    }
    const claim = { user: members.text('user'), nonce: members.text('nonce'), until: this.#time };
    return { kind: 'claim', seq: members.count('seq'), claim };
  }
}

/** Formats a text as JSON. Most texts need no escapes, and checking that is faster than JSON.stringify. */
function quote(text: string): string {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return JSON.stringify(text);
  }
  return `"${text}"`;
}

function checkVersion(found: number, known: number): void {
  const remedy = 'export the data with the version that wrote it, and import them with this one';
  if (found !== known)
    throw new RecordFault(`its version is ${found}, and this program reads ${known}; ${remedy}`);
}

function readHead(members: Members, file: keyof typeof storeVersions): HeadRecord {
  checkVersion(members.count(file), storeVersions[file]);
  return {
    kind: 'head',
    storeId: members.text('lineage'),
    generation: members.count('generation'),
    revision: members.count('revision'),
    sequence: members.count('sequence'),
    at: members.time('opened'),
    ...(members.has('declarations') && { declarations: members.text('declarations') }),
  };
}

function readKind(members: Members): MadeChange['kind'] {
  const kind = members.text('kind');
  if (kind === 'create' || kind === 'put' || kind === 'delete') return kind;
  throw new RecordFault('kind is not one of create, put, delete');
}

function readMadeChange(members: Members): MadeChange {
  const kind = readKind(members);
  const [collection, id] = [members.text('collection'), members.text('id')];
  const [sequence, revision] = [members.count('sequence'), members.count('revision')];
  const modified = members.time('modified');
  if (kind !== 'delete')
    return { kind, collection, id, sequence, revision, modified, value: members.value('value') };
  if (members.has('value')) throw new RecordFault('a deletion has a value');
  return { kind, collection, id, sequence, revision, modified };
}

/** Formats the receipt of a change for the record of the change, as JSON. */
function formatChangeReceipt({ receipt, kind, created, entry }: StoredReceipt): string {
  const members = formatReceiptMembers(receipt);
  if (kind !== 'delete') return `{${members},"created":${created}}`;
  return `{${members},"former":${formatItem(entry)}}`;
}

/** Reads the receipt in the record of a change, as `formatChangeReceipt` formats it. */
function readChangeReceipt(change: MadeChange, members: Members): StoredReceipt {
  const receipt = readReceiptMembers(members);
  const { kind, collection, value, id, sequence, revision, modified } = change;
  if (value === undefined)
    return { receipt, kind, created: false, collection, entry: readItem(members.object('former')) };
  const entry = { id, sequence, revision, modified, value };
  return { receipt, kind, created: members.flag('created'), collection, entry };
}

function formatReceiptMembers({ key, fingerprint, until, user }: Receipt): string {
  const owner = user === undefined ? '' : `,"user":${quote(user)}`;
  return `"key":${quote(key)},"fingerprint":${quote(fingerprint)},"until":"${formatIsoDate(until)}"${owner}`;
}

function readReceiptMembers(members: Members): Receipt {
  const receipt = {
    key: members.text('key'),
    fingerprint: members.text('fingerprint'),
    until: members.time('until'),
  };
  return members.has('user') ? { ...receipt, user: members.text('user') } : receipt;
}

/** Reads the ranges of ids that clients chose. All are above the counter, in ascending order. */
function readChosen(list: readonly unknown[], counter: number): readonly NumberRange[] {
  let former = counter;
  return list.map((range) => {
    const [first, last] = readList(range, 'a range of chosen');
    const from = readCount(first, 'the start of a range of chosen');
    const to = readCount(last, 'the end of a range of chosen');
    if (from <= former || to < from) throw new RecordFault('chosen is not in ascending order');
    former = to;
    return { first: from, last: to };
  });
}
