// Reads store.json section by section: its first line, its blocks and its footer. A section ends where a line begins like the next
// one, so that a damaged section does not hide those after it.
import { crc32 } from 'node:zlib';
import { CorruptionError, type CorruptionLocation } from '../corruption-error.ts';
import { Members, parseJson, RecordFault } from '../encoding/members.ts';
import type { Disk } from '../files/disk.ts';
import { readInChunks } from '../files/read-chunks.ts';
import { formatChecksum } from '../log/line.ts';
import {
  type HeadRecord,
  type Record,
  readCollection,
  readItem,
  readReceipt,
  readSnapshotHead,
  readVerifiedItems,
  VersionFault,
} from '../record.ts';
import { State } from '../state/state.ts';

/** Reports progress: the bytes read, the length of the file, and the number of records read. */
export type Progress = (done: number, size: number, records: number) => void;

/** The content of store.json. */
export interface Snapshot {
  readonly head: HeadRecord;
  /** The number of the last change that the snapshot may contain. */
  readonly reached: number;
  readonly state: State;
}

/** What the user can do about a corrupt snapshot. */
const advice =
  'Restore a copy of it with its journals, or write what can be read to a new directory with "countersign check --repair NEWDIR"; to edit items, use "countersign export" and "countersign import"';

/** The length of `{"crc":"89abcdef",`. */
const checksumLength = 18;
const newline = 0x0a;
const blockStart = '{"crc":"';
const footerStart = '],"footer"';
/** The first line of a block of receipts, after its checksum. */
const receiptsStart = '"receipts":[';

/** Reads a snapshot. Returns undefined if there is no such file. Verifies all checksums. Throws CorruptionError. */
export async function readSnapshot(
  disk: Disk,
  path: string,
  progress: Progress = () => {},
): Promise<Snapshot | undefined> {
  const state = new State();
  const reader = new SnapshotReader(path, (record) => state.take(record), undefined);
  if (!(await readAll(disk, path, reader, progress))) return undefined;
  return { ...reader.end(), state };
}

/**
 * Reads what can be read of a snapshot that may be damaged.
 *
 * @param take called with each record
 * @param onLost called with a description of each part that is skipped or doubtful
 * @returns its head; undefined if it is damaged or missing
 */
export async function salvageSnapshot(
  disk: Disk,
  path: string,
  take: (record: Record) => void,
  onLost: (what: string) => void,
): Promise<HeadRecord | undefined> {
  const reader = new SnapshotReader(path, take, onLost);
  if (!(await readAll(disk, path, reader, () => {}))) {
    onLost(`${path} is missing`);
    return undefined;
  }
  const { head } = reader.end();
  if (!reader.isDamaged) return head;
  onLost(`${path}: it is damaged, and data that is not listed here may be lost`);
  return undefined;
}

/** Reads a file from start to end. Returns whether there is one. */
function readAll(disk: Disk, path: string, reader: SnapshotReader, progress: Progress): Promise<boolean> {
  return readInChunks(disk, path, (bytes, ended, size) => {
    const taken = reader.take(bytes, ended);
    progress(reader.byte, size, reader.items);
    return taken;
  });
}

class SnapshotReader {
  readonly #path: string;
  readonly #take: (record: Record) => void;
  readonly #onLost: ((what: string) => void) | undefined;
  /** The sequence of the last item of each collection. */
  readonly #reachedItems = new Map<string, number>();
  #head = noHead;
  #sum = 0;
  #blocks = 0;
  #reached = 0;
  /** Whether a section was skipped. */
  isDamaged = false;
  /** The sections that may follow. */
  #next: 'head' | 'block or footer' | 'block' | 'footer' | 'nothing' = 'head';
  /** The first line of the current section, and its position. */
  #line = 1;
  byte = 0;
  /** The number of items read. */
  items = 0;

  /** @param onLost called with what is skipped. Default: the first fault is thrown as CorruptionError. */
  constructor(path: string, take: (record: Record) => void, onLost: ((what: string) => void) | undefined) {
    this.#path = path;
    this.#take = take;
    this.#onLost = onLost;
  }

  /** Reads all complete sections. Returns their length in bytes. */
  take(bytes: Buffer, ended: boolean): number {
    let at = 0;
    while (at < bytes.length) {
      const end = this.#findEnd(bytes, at) ?? (ended ? bytes.length : undefined);
      if (end === undefined) break;
      this.#takeSection(bytes.subarray(at, end));
      at = end;
    }
    return at;
  }

  /** Returns the result, once all bytes are read. */
  end(): Omit<Snapshot, 'state'> {
    if (this.#next !== 'nothing') this.#attempt(() => fail('the file is truncated here'));
    return { head: this.#head, reached: this.#reached };
  }

  /** Returns the end of the section that begins at a position; undefined if it is not in these bytes. */
  #findEnd(bytes: Buffer, at: number): number | undefined {
    const isLine = this.#next === 'head' || this.#next === 'nothing' || startsWith(bytes, at, footerStart);
    if (isLine) return after(bytes.indexOf(newline, at));
    const block = bytes.indexOf(`\n${blockStart}`, at);
    const footer = bytes.subarray(0, block < 0 ? bytes.length : block).indexOf(`\n${footerStart}`, at);
    return after(footer < 0 ? block : footer);
  }

  #takeSection(section: Buffer): void {
    const isValid = this.#attempt(() => this.#takeValid(section));
    if (!isValid && startsWith(section, 0, blockStart)) this.#salvage(section);
    this.#line += countLines(section);
    this.byte += section.length;
  }

  #takeValid(section: Buffer): void {
    if (this.#next === 'nothing') fail('something follows the end of the snapshot');
    if (this.#next === 'head') this.#takeHead(section);
    else if (startsWith(section, 0, blockStart)) this.#takeBlock(section);
    else if (startsWith(section, 0, footerStart)) this.#takeFooter(section);
    else fail('neither a block nor the footer begins here');
  }

  #takeHead(section: Buffer): void {
    this.#next = 'block or footer';
    this.#sum = crc32(section);
    const text = section.toString('utf8').trimEnd();
    const whole = text.endsWith('[') ? `${text}]}` : completeVersion(text);
    if (!isJson(whole)) fail('this is not JSON');
    this.#head = readSnapshotHead(whole);
    this.#take(this.#head);
  }

  #takeBlock(section: Buffer): void {
    const follows = section.subarray(-5).toString('latin1').endsWith('\n]},\n');
    const end = section.length - (follows ? 2 : 1);
    const block = section.subarray(0, end);
    if (this.#next === 'footer') fail('the last block has no comma, and another one follows');
    this.#next = follows ? 'block' : 'footer';
    if (section[section.length - 1] !== newline) fail('the file is truncated here');
    const checksum = formatChecksum(crc32(block.subarray(checksumLength)));
    if (block.toString('latin1', 0, checksumLength) !== `${blockStart}${checksum}",`)
      this.#failChecksum(block.toString());
    this.#takeLines(block.subarray(checksumLength, -1));
    this.#sum = crc32(checksum, this.#sum);
    this.#blocks += 1;
  }

  /** Reads the lines of a block whose checksum is correct, from its first comma up to its last bracket. */
  #takeLines(block: Buffer): void {
    const start = block.indexOf(newline) + 1;
    const first = block.toString('utf8', 0, start - 1);
    const lines = block.subarray(start, -1);
    if (first === receiptsStart) {
      for (const line of parseLines(lines.toString())) this.#takeReceipt(new Members(line, 'the receipt'));
      return;
    }
    const collection = readCollection(Members.parse(`{${first}]}`).only(blockNames, 'this part'));
    this.#take(collection);
    const items = readVerifiedItems(lines.toString());
    let reached = this.#reachedItems.get(collection.path) ?? 0;
    for (const entry of items) {
      if (entry.sequence <= reached || entry.sequence > collection.sequence)
        fail('the items of this block are invalid, or do not follow those of the previous block');
      reached = entry.sequence;
      this.#take({ kind: 'item', collection: collection.path, entry });
    }
    this.#reachedItems.set(collection.path, reached);
    this.items += items.length;
  }

  #takeReceipt(members: Members): void {
    this.#take({ kind: 'receipt', change: readReceipt(members) });
  }

  #takeFooter(section: Buffer): void {
    if (this.#next === 'block') fail('neither a block nor the footer begins here');
    this.#next = 'nothing';
    const [, checksum, rest = ''] =
      /^\],"footer":\{"crc":"([0-9a-f]{8})"(,.*\}\})\n$/.exec(section.toString('utf8')) ?? [];
    if (checksum === undefined) fail('this is not the footer of a snapshot');
    if (checksum !== formatChecksum(crc32(rest, this.#sum)))
      fail('the first line and the blocks do not match the checksum of the footer');
    const members = Members.parse(`{${rest.slice(1, -1)}`).only(['blocks', 'items', 'sequence'], 'this part');
    this.#reached = members.count('sequence');
    if (members.get('blocks') !== this.#blocks || members.get('items') !== this.items)
      fail(`the footer counts ${members.get('blocks')} blocks and ${members.get('items')} items`);
  }

  /** Reads what can be read of a damaged block, line by line. */
  #salvage(section: Buffer): void {
    const lines = section.toString('utf8').trimEnd().split('\n');
    const [first = '', ...others] = lines;
    let taken = 0;
    let collection: string | undefined;
    const isOfReceipts = first.endsWith(receiptsStart);
    const what = isOfReceipts ? 'receipts of repeatable requests' : 'it cannot be read';
    const attempt = (index: number, read: () => void): void => {
      try {
        read();
        taken += 1;
      } catch (error) {
        if (!(error instanceof RecordFault)) throw error;
        this.#onLost?.(`${this.#path}, line ${this.#line + index}: ${what}`);
      }
    };
    if (!isOfReceipts)
      attempt(0, () => {
        const counters = readCollection(Members.parse(`${first}]}`));
        this.#take(counters);
        collection = counters.path;
      });
    taken = 0;
    for (const [index, line] of others.entries()) {
      if (line.startsWith(']}')) continue;
      attempt(index + 1, () => {
        const members = Members.parse(line.replace(/,\s*$/, ''));
        if (isOfReceipts) this.#takeReceipt(members);
        else if (collection === undefined) throw new RecordFault('its collection is not known');
        else this.#take({ kind: 'item', collection, entry: readItem(members) });
      });
    }
    const last = this.#line + lines.length - 1;
    if (taken > 0)
      this.#onLost?.(
        `${this.#path}, lines ${this.#line} to ${last}: recovered, but perhaps not as they were written`,
      );
  }

  /** Throws a fault of a block with a wrong checksum: the first line that is not JSON, or all lines. */
  #failChecksum(text: string): never {
    const lines = text.split('\n');
    let byte = this.byte;
    for (const [index, line] of lines.entries()) {
      const first = index === 0 ? `${line}]}` : line.replace(/,$/, '');
      if (!isJson(index === lines.length - 1 ? '0' : first))
        throw this.#corruption('this is not JSON', { line: this.#line + index, byte });
      byte += Buffer.byteLength(line) + 1;
    }
    fail(`lines ${this.#line} to ${this.#line + lines.length - 1} do not match their checksum`);
  }

  /** Calls a function. Returns whether it succeeded; if nothing is skipped, throws CorruptionError instead. */
  #attempt(read: () => void): boolean {
    try {
      read();
      return true;
    } catch (error) {
      const fault = error instanceof RecordFault ? this.#toCorruption(error) : error;
      if (!(fault instanceof CorruptionError) || this.#onLost === undefined) throw fault;
      this.isDamaged = true;
      return false;
    }
  }

  #toCorruption(fault: RecordFault): CorruptionError {
    // Nothing is wrong with a file of another version, so there is no place of a fault, and nothing to repair.
    if (fault instanceof VersionFault) return new CorruptionError(this.#path, fault.message);
    return this.#corruption(fault.message, { line: this.#line, byte: this.byte });
  }

  #corruption(reason: string, location: CorruptionLocation): CorruptionError {
    return new CorruptionError(this.#path, reason, location, advice);
  }
}

/** The head before any was read. */
const noHead: HeadRecord = { kind: 'head', storeId: '', generation: 0, revision: 0, sequence: 0, at: 0 };

const blockNames = ['collection', 'counter', 'chosen', 'sequence', 'revision', 'modified', 'items'];

/** Returns the first line of a file of another version as an object, which may be of any form, with the version only. */
function completeVersion(text: string): string {
  const version = /^\{"version":([0-9]{1,9}),/.exec(text)?.[1];
  return version === undefined ? text : `{"version":${version}}`;
}

function fail(reason: string): never {
  throw new RecordFault(reason);
}

function* parseLines(text: string): Generator<unknown> {
  for (const line of text.split('\n')) if (line !== '') yield parseJson(line.replace(/,$/, ''));
}

function startsWith(bytes: Buffer, at: number, text: string): boolean {
  return bytes.toString('latin1', at, at + text.length) === text;
}

/** Returns the position after a line end that was found; undefined if none was. */
function after(found: number): number | undefined {
  return found < 0 ? undefined : found + 1;
}

function countLines(section: Buffer): number {
  let lines = 0;
  for (let at = section.indexOf(newline); at >= 0; at = section.indexOf(newline, at + 1)) lines += 1;
  return lines;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
