import type { NonceClaim } from '../../principal.ts';
import { formatIsoDate } from '../encoding/iso-date.ts';
import {
  addLoggedReceipt,
  formatLoggedReceipt,
  isCount,
  isObject,
  quote,
  readTime,
} from '../encoding/item-json.ts';
import { formatLine } from '../log/line.ts';
import type { MadeChange, StoredReceipt } from '../store.ts';
import { isRecordValue } from '../value.ts';

/** The version of the format of a journal. */
export const journalVersion = 1;

/** The first line of a journal. */
export interface JournalHeader {
  readonly storeId: string;
  readonly generation: number;
  /** The highest revision that was assigned before. */
  readonly revision: number;
  /** The number of the last line of the previous journal. All lines up to it are on the disk. */
  readonly sequence: number;
  /** The time of its creation (ms). */
  readonly opened: number;
}

/** A line of a journal: a change, and the nonce and the receipt of its request. */
export interface JournalLine {
  /** The number of the line. It increases by one from line to line, across journals. */
  readonly seq: number;
  /** The number of the last line that was on the disk when this one was written. */
  readonly durable: number;
  readonly change: MadeChange;
  readonly nonce?: NonceClaim | undefined;
  /** The change with its receipt, if it has one. */
  readonly receipted?: StoredReceipt | undefined;
}

/** Formats the first line of a journal, with its line end. */
export function formatJournalHeader(header: JournalHeader): string {
  const { storeId, generation, revision, sequence, opened } = header;
  const numbers = { journal: journalVersion, lineage: storeId, generation, revision, sequence };
  return formatLine(JSON.stringify({ ...numbers, opened: formatIsoDate(opened) }).slice(1));
}

/** A line without the members of its item. */
export interface JournalLineHead extends Omit<JournalLine, 'change'> {
  readonly change: Pick<MadeChange, 'kind' | 'collection'>;
}

/** Formats a line, with its line end. `members` are the members of its item, as JSON. */
export function formatChangeLine(
  { seq, durable, change, nonce, receipted }: JournalLineHead,
  members: string,
): string {
  const { kind, collection } = change;
  const changed = `{"kind":"${kind}","collection":${quote(collection)},${members}}`;
  const member = nonce === undefined ? '' : `,"nonce":${formatNonce(nonce)}`;
  const receipt = receipted === undefined ? '' : `,"receipt":${formatLoggedReceipt(receipted)}`;
  return formatLine(`"seq":${seq},"durable":${durable},"change":${changed}${member}${receipt}}`);
}

function formatNonce({ user, nonce, until }: NonceClaim): string {
  return JSON.stringify([user, nonce, formatIsoDate(until)]);
}

/** Returns the version in a first line with a correct checksum; undefined if it is not the header of a journal. */
export function parseJournalVersion(text: string): number | undefined {
  const version = parseMembers(text)?.['journal'];
  return isCount(version) ? version : undefined;
}

/** Parses a first line with a correct checksum. Returns undefined if it is not a header of this version. */
export function parseJournalHeader(text: string): JournalHeader | undefined {
  const { journal, lineage: storeId, generation, revision, sequence, opened } = parseMembers(text) ?? {};
  const time = readTime(opened);
  if (journal !== journalVersion || typeof storeId !== 'string' || time === undefined) return undefined;
  if (!isCount(generation) || !isCount(revision) || !isCount(sequence)) return undefined;
  return { storeId, generation, revision, sequence, opened: time };
}

/** Parses a line with a correct checksum. Returns undefined if it is not a change of this version. */
export function parseJournalLine(text: string): JournalLine | undefined {
  const {
    seq,
    durable,
    change: changeValue,
    nonce: nonceValue,
    receipt: receiptValue,
  } = parseMembers(text) ?? {};
  const change = readChange(changeValue);
  if (!isCount(seq) || !isCount(durable) || durable >= seq || change === undefined) return undefined;
  const nonce = nonceValue === undefined ? undefined : readNonce(nonceValue);
  if (nonce === undefined && nonceValue !== undefined) return undefined;
  const line = nonce === undefined ? { seq, durable, change } : { seq, durable, change, nonce };
  if (receiptValue === undefined) return line;
  const receipted = addLoggedReceipt(change, receiptValue);
  return receipted === undefined ? undefined : { ...line, receipted };
}

function readChange(value: unknown): MadeChange | undefined {
  if (!isObject(value)) return undefined;
  const { kind, collection, id, sequence, revision, modified: date, value: content } = value;
  const modified = readTime(date);
  if (typeof collection !== 'string' || typeof id !== 'string' || modified === undefined) return undefined;
  if (!isCount(sequence) || !isCount(revision)) return undefined;
  const members = { collection, id, sequence, revision, modified };
  if (kind === 'delete') return content === undefined ? { kind, ...members } : undefined;
  if ((kind !== 'create' && kind !== 'put') || !isRecordValue(content)) return undefined;
  return { kind, ...members, value: content };
}

function readNonce(value: unknown): NonceClaim | undefined {
  if (!Array.isArray(value) || value.length !== 3) return undefined;
  const [user, nonce, date]: unknown[] = value;
  const until = readTime(date);
  if (typeof user !== 'string' || typeof nonce !== 'string' || until === undefined) return undefined;
  return { user, nonce, until };
}

function parseMembers(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
