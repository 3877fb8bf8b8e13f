import { crc32 } from '../encoding/crc32.ts';
import { formatIsoDate, parseIsoDate } from '../encoding/iso-date.ts';
import { formatMembers, quoted } from '../encoding/item-json.ts';
import { formatChecksum } from '../snapshot/writer.ts';
import type { MadeChange } from '../state/state.ts';
import type { StoredNonce } from '../store.ts';
import { isRecordValue } from '../value.ts';

/** The version of the form of a journal. */
export const journalVersion = 1;

/** `{"crc":"89abcdef",` */
export const prefixLength = 18;

/** The first line of a journal. */
export interface JournalHeader {
  readonly lineage: string;
  readonly generation: number;
  /** The highest revision drawn before it. */
  readonly revision: number;
  /** The number of the last line before it, in the journal before; all up to that one is on the medium. */
  readonly sequence: number;
  /** When it was begun (ms). */
  readonly opened: number;
}

/** A line of a journal: a change, and the nonce of its request. */
export interface JournalLine {
  /** Counts up by one with each line, from one journal to the next too. */
  readonly seq: number;
  /** The number of the last line that was on the medium when this one was written. */
  readonly durable: number;
  readonly change: MadeChange;
  readonly nonce?: StoredNonce | undefined;
}

/** The first line of a journal as text, with its end. */
export function formatJournalHeader(header: JournalHeader): string {
  const { lineage, generation, revision, sequence, opened } = header;
  const numbers = { journal: journalVersion, lineage, generation, revision, sequence };
  return sealed(JSON.stringify({ ...numbers, opened: formatIsoDate(opened) }).slice(1));
}

/** What a line has but for the members of its item. */
export interface JournalLineHead extends Omit<JournalLine, 'change'> {
  readonly change: Pick<MadeChange, 'kind' | 'collection'>;
}

/** A line as text, with its end. */
export function formatJournalLine(line: JournalLine): string {
  const { value } = line.change;
  return sealed(formatLineBody(line, formatMembers(line.change, value && JSON.stringify(value))));
}

/** The text of a line from behind its checksum on, without its end; `members` are those of the item. */
export function formatLineBody({ seq, durable, change, nonce }: JournalLineHead, members: string): string {
  const { kind, collection } = change;
  const made = `{"kind":"${kind}","collection":${quoted(collection)},${members}}`;
  const kept = nonce === undefined ? '' : `,"nonce":${formatNonce(nonce)}`;
  return `"seq":${seq},"durable":${durable},"change":${made}${kept}}`;
}

function formatNonce({ user, nonce, until }: StoredNonce): string {
  return JSON.stringify([user, nonce, formatIsoDate(until)]);
}

function sealed(rest: string): string {
  return `{"crc":"${formatChecksum(crc32(rest))}",${rest}\n`;
}

/** The text of a line without its end, if its checksum fits; else undefined. */
export function checkedLine(line: Buffer): string | undefined {
  const checksum = formatChecksum(crc32(line.subarray(prefixLength)));
  const text = line.toString('utf8');
  return text.startsWith(`{"crc":"${checksum}",`) ? text : undefined;
}

/** The version that a first line says; undefined when it is not that of a journal. */
export function journalVersionOf(text: string): number | undefined {
  const version = membersOf(text)?.['journal'];
  return isCount(version) ? version : undefined;
}

/** Reads a first line whose checksum fits; undefined when it is none that this version writes. */
export function parseJournalHeader(text: string): JournalHeader | undefined {
  const { journal, lineage, generation, revision, sequence, opened } = membersOf(text) ?? {};
  const time = timeOf(opened);
  if (journal !== journalVersion || typeof lineage !== 'string' || time === undefined) return undefined;
  if (!isCount(generation) || !isCount(revision) || !isCount(sequence)) return undefined;
  return { lineage, generation, revision, sequence, opened: time };
}

/** Reads a line whose checksum fits; undefined when it is none that this version writes. */
export function parseJournalLine(text: string): JournalLine | undefined {
  const { seq, durable, change: made, nonce: kept } = membersOf(text) ?? {};
  const change = changeOf(made);
  if (!isCount(seq) || !isCount(durable) || durable >= seq || change === undefined) return undefined;
  if (kept === undefined) return { seq, durable, change };
  const nonce = nonceOf(kept);
  return nonce === undefined ? undefined : { seq, durable, change, nonce };
}

function changeOf(value: unknown): MadeChange | undefined {
  if (!isObject(value)) return undefined;
  const { kind, collection, id, sequence, revision, modified: date, value: content } = value;
  const modified = timeOf(date);
  if (typeof collection !== 'string' || typeof id !== 'string' || modified === undefined) return undefined;
  if (!isCount(sequence) || !isCount(revision)) return undefined;
  const made = { collection, id, sequence, revision, modified };
  if (kind === 'delete') return content === undefined ? { kind, ...made } : undefined;
  if ((kind !== 'create' && kind !== 'put') || !isRecordValue(content)) return undefined;
  return { kind, ...made, value: content };
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
