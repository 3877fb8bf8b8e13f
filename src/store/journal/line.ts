import { crc32 } from 'node:zlib';
import { formatChecksum } from '../encoding/checksum.ts';
import { formatIsoDate, parseIsoDate } from '../encoding/iso-date.ts';
import { formatMembers, quoted } from '../encoding/item-json.ts';
import type { MadeChange } from '../state/state.ts';
import type { StoredNonce } from '../store.ts';
import { isRecordValue } from '../value.ts';

/** The version of the format of a journal. */
export const journalVersion = 1;

/** The length of `{"crc":"89abcdef",`. */
const prefixLength = 18;

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

/** A line of a journal: a change and the nonce of its request. */
export interface JournalLine {
  /** The number of the line. It increases by one from line to line, across journals. */
  readonly seq: number;
  /** The number of the last line that was on the disk when this one was written. */
  readonly durable: number;
  readonly change: MadeChange;
  readonly nonce?: StoredNonce | undefined;
}

/** Formats the first line of a journal, with its line end. */
export function formatJournalHeader(header: JournalHeader): string {
  const { storeId, generation, revision, sequence, opened } = header;
  const numbers = { journal: journalVersion, lineage: storeId, generation, revision, sequence };
  return withChecksum(JSON.stringify({ ...numbers, opened: formatIsoDate(opened) }).slice(1));
}

/** A line without the members of its item. */
export interface JournalLineHead extends Omit<JournalLine, 'change'> {
  readonly change: Pick<MadeChange, 'kind' | 'collection'>;
}

/** Formats a line, with its line end. */
export function formatJournalLine(line: JournalLine): string {
  const { value } = line.change;
  return formatLine(line, formatMembers(line.change, value && JSON.stringify(value)));
}

/** Formats a line, with its line end. `members` are the members of its item, as JSON. */
export function formatLine({ seq, durable, change, nonce }: JournalLineHead, members: string): string {
  const { kind, collection } = change;
  const changed = `{"kind":"${kind}","collection":${quoted(collection)},${members}}`;
  const member = nonce === undefined ? '' : `,"nonce":${formatNonce(nonce)}`;
  return withChecksum(`"seq":${seq},"durable":${durable},"change":${changed}${member}}`);
}

function formatNonce({ user, nonce, until }: StoredNonce): string {
  return JSON.stringify([user, nonce, formatIsoDate(until)]);
}

function withChecksum(rest: string): string {
  return `{"crc":"${formatChecksum(crc32(rest))}",${rest}\n`;
}

/** Returns the text of a line, which is given without its end; undefined if the checksum is wrong. */
export function checkedLine(line: Buffer): string | undefined {
  const checksum = formatChecksum(crc32(line.subarray(prefixLength)));
  const text = line.toString('utf8');
  return text.startsWith(`{"crc":"${checksum}",`) ? text : undefined;
}

/** Returns the version in a first line with a correct checksum; undefined if it is not the header of a journal. */
export function journalVersionOf(text: string): number | undefined {
  const version = membersOf(text)?.['journal'];
  return isCount(version) ? version : undefined;
}

/** Parses a first line with a correct checksum. Returns undefined if it is not a header of this version. */
export function parseJournalHeader(text: string): JournalHeader | undefined {
  const { journal, lineage: storeId, generation, revision, sequence, opened } = membersOf(text) ?? {};
  const time = timeOf(opened);
  if (journal !== journalVersion || typeof storeId !== 'string' || time === undefined) return undefined;
  if (!isCount(generation) || !isCount(revision) || !isCount(sequence)) return undefined;
  return { storeId, generation, revision, sequence, opened: time };
}

/** Parses a line with a correct checksum. Returns undefined if it is not a change of this version. */
export function parseJournalLine(text: string): JournalLine | undefined {
  const { seq, durable, change: changeValue, nonce: nonceValue } = membersOf(text) ?? {};
  const change = changeOf(changeValue);
  if (!isCount(seq) || !isCount(durable) || durable >= seq || change === undefined) return undefined;
  if (nonceValue === undefined) return { seq, durable, change };
  const nonce = nonceOf(nonceValue);
  return nonce === undefined ? undefined : { seq, durable, change, nonce };
}

function changeOf(value: unknown): MadeChange | undefined {
  if (!isObject(value)) return undefined;
  const { kind, collection, id, sequence, revision, modified: date, value: content } = value;
  const modified = timeOf(date);
  if (typeof collection !== 'string' || typeof id !== 'string' || modified === undefined) return undefined;
  if (!isCount(sequence) || !isCount(revision)) return undefined;
  const members = { collection, id, sequence, revision, modified };
  if (kind === 'delete') return content === undefined ? { kind, ...members } : undefined;
  if ((kind !== 'create' && kind !== 'put') || !isRecordValue(content)) return undefined;
  return { kind, ...members, value: content };
}

function nonceOf(value: unknown): StoredNonce | undefined {
  if (!Array.isArray(value) || value.length !== 3) return undefined;
  const [user, nonce, date]: unknown[] = value;
  const until = timeOf(date);
  if (typeof user !== 'string' || typeof nonce !== 'string' || until === undefined) return undefined;
  return { user, nonce, until };
}

function membersOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function timeOf(value: unknown): number | undefined {
  return typeof value === 'string' ? parseIsoDate(value) : undefined;
}
