import { crc32 } from 'node:zlib';
import { CorruptionError, type CorruptionLocation, describeVersion } from '../corruption-error.ts';
import { parseReceiptedChange } from '../encoding/item-json.ts';
import { JsonFields } from '../encoding/json-fields.ts';
import type { Disk } from '../files/disk.ts';
import { readInChunks } from '../files/read-chunks.ts';
import { formatChecksum } from '../log/line.ts';
import { ReservedIds } from '../state/reserved-ids.ts';
import { State } from '../state/state.ts';
import type { CollectionNumbers, StoredItem } from '../store.ts';
import { type SnapshotHead, snapshotVersion } from './writer.ts';

/** The content of store.json. */
export interface Snapshot {
  readonly head: SnapshotHead;
  /** The number of the last journal line whose change the snapshot may contain. */
  readonly reached: number;
  readonly state: State;
}

/** Reports progress: the bytes read, the length of the file, and the number of items or changes read. */
export type Progress = (done: number, size: number, items: number) => void;

/** What the user can do about a corrupt snapshot. */
const advice =
  'Restore a copy of it with its journals, or write what can be read to a new directory with "countersign check --repair NEWDIR"; to edit items, use "countersign export" and "countersign import"';

/** The length of `{"crc":"89abcdef",`. */
const checksumLength = 18;
const [newline, comma, brace, bracket] = [0x0a, 0x2c, 0x7b, 0x5d];
const blockEnd = '\n]}';
/** The first line of a block of receipts, after its checksum. */
const receiptsStart = '"receipts":[';

/**
 * Reads a snapshot. Returns undefined if there is no such file. The checksums of all blocks are verified. Throws
 * CorruptionError.
 */
export async function readSnapshot(
  disk: Disk,
  path: string,
  progress: Progress = () => {},
): Promise<Snapshot | undefined> {
  const file = await disk.openToRead(path);
  if (file === undefined) return undefined;
  const reader = new BlockReader(path);
  try {
    await readInChunks(file, (bytes, ended) => {
      const taken = reader.take(bytes, ended);
      progress(reader.bytes, file.size, reader.items);
      return taken;
    });
  } finally {
    await file.close();
  }
  return reader.end();
}

/** Reads the parts of a snapshot: its first line, its blocks and its footer. */
class BlockReader {
  readonly #path: string;
  #state = new State();
  #head: SnapshotHead | undefined;
  #line = 1;
  #sum = 0;
  #blocks = 0;
  #reached: number | undefined;
  /** The parts that may follow. */
  #next: 'head' | 'block or footer' | 'block' | 'footer' | 'nothing' = 'head';
  /** The number of bytes and items read. */
  bytes = 0;
  items = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Reads all complete parts. Returns their length in bytes. */
  take(bytes: Buffer, ended: boolean): number {
    let at = 0;
    while (at < bytes.length) {
      const length = this.#takePart(bytes, at, ended);
      if (length === 0) break;
      at += length;
      this.bytes += length;
    }
    if (ended && at < bytes.length) throw this.#corruption('the file is truncated here');
    return at;
  }

  /** Returns the content, once all bytes are read. */
  end(): Snapshot {
    if (this.#head === undefined || this.#reached === undefined)
      throw this.#corruption('the file is truncated here');
    return { head: this.#head, reached: this.#reached, state: this.#state };
  }

  #takePart(bytes: Buffer, at: number, ended: boolean): number {
    if (this.#next === 'nothing') throw this.#corruption('something follows the end of the snapshot');
    if (this.#next === 'head') return this.#takeHead(bytes, ended);
    if (bytes[at] === brace && this.#next !== 'footer') return this.#takeBlock(bytes, at);
    if (bytes[at] === bracket && this.#next !== 'block') return this.#takeFooter(bytes, at);
    throw this.#corruption('neither a block nor the footer begins here');
  }

  #takeHead(bytes: Buffer, ended: boolean): number {
    const end = bytes.indexOf(newline) + 1;
    if (end === 0 && !ended) return 0;
    const line = bytes.toString('utf8', 0, end);
    const version = Number(
      /^\{"version":([0-9]{1,9}),/.exec(bytes.toString('latin1', 0, 32))?.[1] ?? snapshotVersion,
    );
    if (version !== snapshotVersion)
      throw new CorruptionError(this.#path, describeVersion(version, snapshotVersion));
    const document = this.#document();
    const members = this.#object(document, `${line}]}`, [
      'version',
      'lineage',
      'generation',
      'revision',
      'sequence',
      'written',
      'blocks',
    ]);
    const head = {
      storeId: document.text(members.get('lineage'), 'lineage'),
      generation: document.count(members.get('generation'), 'generation'),
      revision: document.count(members.get('revision'), 'revision'),
      sequence: document.count(members.get('sequence'), 'sequence'),
      written: document.time(members.get('written'), 'written'),
    };
    this.#head = head;
    this.#state = new State(head.revision);
    this.#sum = crc32(bytes.subarray(0, end));
    this.#next = 'block or footer';
    this.#line += 1;
    return end;
  }

  #takeBlock(bytes: Buffer, at: number): number {
    const found = bytes.indexOf(blockEnd, at);
    const end = found + blockEnd.length;
    // The two bytes after a block show whether another block follows.
    if (found < 0 || end + 2 > bytes.length) return 0;
    const block = bytes.subarray(at, end);
    const checksum = formatChecksum(crc32(block.subarray(checksumLength)));
    if (block.toString('latin1', 0, checksumLength) !== `{"crc":"${checksum}",`)
      throw this.#blockError(block.toString());
    this.#restore(block);
    this.#sum = crc32(checksum, this.#sum);
    this.#blocks += 1;
    const follows = bytes[end] === comma;
    if (bytes[follows ? end + 1 : end] !== newline)
      throw this.#corruption('neither a comma nor a line end follows the block');
    this.#next = follows ? 'block' : 'footer';
    return end - at + (follows ? 2 : 1);
  }

  #restore(block: Buffer): void {
    const start = block.indexOf(newline) + 1;
    const document = this.#document();
    if (block.toString('latin1', checksumLength, start - 1) === receiptsStart) {
      this.#restoreReceipts(block.subarray(start, 1 - blockEnd.length));
      return;
    }
    const names = ['crc', 'collection', 'counter', 'chosen', 'sequence', 'revision', 'modified', 'items'];
    const members = this.#object(document, `${block.toString('utf8', 0, start)}]}`, names);
    const path = document.text(members.get('collection'), 'collection');
    const { numbers, chosen } = readNumbers(document, members, path);
    this.#state.restoreNumbers(path, numbers, chosen);
    const lines = block.subarray(start, 1 - blockEnd.length);
    const items = parseItems(lines);
    if (items === undefined || !this.#state.restoreItems(path, items))
      throw this.#corruption(
        'the items of this block are invalid, or do not follow those of the previous block',
      );
    this.items += items.length;
    this.#line += items.length + 2;
  }

  #restoreReceipts(lines: Buffer): void {
    this.#line += 1;
    for (let at = 0; at < lines.length; this.#line += 1) {
      const end = lines.indexOf(newline, at);
      const receipt = parseReceiptedChange(lines.toString('utf8', at, end));
      if (receipt === undefined) throw this.#corruption('this is not a receipt');
      this.#state.receipts.restore(receipt);
      at = end + 1;
    }
    this.#line += 1;
  }

  #takeFooter(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(newline, at) + 1;
    if (end === 0) return 0;
    const line = bytes.toString('utf8', at, end);
    const [, checksum, rest = ''] = /^\],"footer":\{"crc":"([0-9a-f]{8})"(,.*\}\})\n$/.exec(line) ?? [];
    if (checksum === undefined) throw this.#corruption('this is not the footer of a snapshot');
    if (checksum !== formatChecksum(crc32(rest, this.#sum)))
      throw this.#corruption('the first line and the blocks do not match the checksum of the footer');
    const document = this.#document();
    const members = this.#object(document, `{${rest.slice(1, -1)}`, ['blocks', 'items', 'sequence']);
    this.#reached = document.count(members.get('sequence'), 'sequence');
    if (members.get('blocks') !== this.#blocks || members.get('items') !== this.items)
      throw this.#corruption(
        `the footer counts ${members.get('blocks')} blocks and ${members.get('items')} items`,
      );
    this.#next = 'nothing';
    this.#line += 1;
    return end - at;
  }

  #object(document: JsonFields, text: string, names: readonly string[]): ReadonlyMap<string, unknown> {
    try {
      const value: unknown = JSON.parse(text);
      return document.object(value, 'this part', names);
    } catch (error) {
      throw error instanceof SyntaxError ? this.#corruption('this is not JSON') : error;
    }
  }

  /** Creates the error for a block with a wrong checksum: the first line that is not JSON, or all lines. */
  #blockError(text: string): CorruptionError {
    const lines = text.split('\n');
    const last = this.#line + lines.length - 1;
    let byte = this.bytes;
    for (const [index, line] of lines.entries()) {
      const first = index === 0 ? `${line}]}` : line.replace(/,$/, '');
      if (!isJson(index === lines.length - 1 ? '0' : first))
        return this.#corruption('this is not JSON', { line: this.#line + index, byte });
      byte += Buffer.byteLength(line) + 1;
    }
    return this.#corruption(`lines ${this.#line} to ${last} do not match their checksum`);
  }

  #document(): JsonFields {
    return new JsonFields(this.#path, this.#location(), advice);
  }

  #location(): CorruptionLocation {
    return { line: this.#line, byte: this.bytes };
  }

  #corruption(reason: string, location = this.#location()): CorruptionError {
    return new CorruptionError(this.#path, reason, location, advice);
  }
}

/** An item in the form that it has in a snapshot. */
interface SnapshotItem extends Omit<StoredItem, 'modified'> {
  /** ISO 8601. */
  readonly modified: string;
}

/**
 * Parses the lines of a block. Returns undefined if they are not JSON, or an id or a date is none. Other types are not checked,
 * because the checksum of the block was verified.
 */
function parseItems(lines: Buffer): readonly StoredItem[] | undefined {
  try {
    const items: readonly SnapshotItem[] = JSON.parse(`[${lines.toString()}]`);
    const read = items.map(
      ({ id, sequence, revision, modified, value }): StoredItem => ({
        id,
        sequence,
        revision,
        modified: Date.parse(modified),
        value,
      }),
    );
    return read.every(isItem) ? read : undefined;
  } catch {
    return undefined;
  }
}

function isItem({ id, modified }: StoredItem): boolean {
  return typeof id === 'string' && !Number.isNaN(modified);
}

/** Reads the counters of a collection from the first line of a block. */
export function readNumbers(
  document: JsonFields,
  members: ReadonlyMap<string, unknown>,
  path: string,
): { readonly numbers: CollectionNumbers; readonly chosen: ReservedIds } {
  const name = `the collection ${JSON.stringify(path)}`;
  const numbers = {
    counter: document.count(members.get('counter'), `counter of ${name}`),
    sequence: document.count(members.get('sequence'), `sequence of ${name}`),
    revision: document.count(members.get('revision'), `revision of ${name}`),
    modified: document.time(members.get('modified'), `modified of ${name}`),
  };
  return { numbers, chosen: readChosen(document, members.get('chosen'), numbers.counter, name) };
}

/** Reads the ranges of ids that clients chose. All must be above the counter. `name` is that of the collection in messages. */
export function readChosen(document: JsonFields, value: unknown, counter: number, name: string): ReservedIds {
  const chosen = new ReservedIds();
  let former = counter;
  for (const part of document.array(value, `chosen of ${name}`)) {
    const [first, last] = document.array(part, `a range of chosen of ${name}`);
    const from = document.count(first, `the start of a range of chosen of ${name}`);
    const to = document.count(last, `the end of a range of chosen of ${name}`);
    if (from <= former || to < from) throw document.corruption(`chosen of ${name} is not in ascending order`);
    chosen.append({ first: from, last: to });
    former = to;
  }
  return chosen;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
