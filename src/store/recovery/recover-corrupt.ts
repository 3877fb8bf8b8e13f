import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { NonceClaim } from '../../principal.ts';
import { CorruptionError, type CorruptionLocation } from '../corruption-error.ts';
import { parseReceiptedChange, readItem } from '../encoding/item-json.ts';
import { JsonFields } from '../encoding/json-fields.ts';
import type { Disk } from '../files/disk.ts';
import { readLines } from '../files/read-chunks.ts';
import { parseJournalHeader, parseJournalLine } from '../journal/line.ts';
import { formatChecksum, formatLogName, parseLogName, readCheckedLine } from '../log/line.ts';
import { readNumbers, readSnapshot } from '../snapshot/reader.ts';
import { previousName, snapshotName } from '../snapshot/writer.ts';
import { counterNumber } from '../state/reserved-ids.ts';
import type { State } from '../state/state.ts';
import type { MadeChange, StoredItem } from '../store.ts';
import { StateLoader } from '../transfer.ts';

/** The readable data of a corrupt store. */
interface RecoveredData {
  readonly state: State;
  /** Descriptions of lost and doubtful data, one sentence each, with file and line. */
  readonly lost: readonly string[];
  readonly nonces: readonly NonceClaim[];
}

/**
 * Reads all readable data of a data directory, and changes nothing. If the newest snapshot is corrupt, the previous one
 * is read too. The newest revision of each item is used.
 */
export function recoverCorrupt(disk: Disk, directory: string): Promise<RecoveredData> {
  return new CorruptStoreReader(disk, directory).run();
}

class CorruptStoreReader {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #loader = new StateLoader();
  readonly #lost: string[] = [];
  readonly #nonces: NonceClaim[] = [];

  constructor(disk: Disk, directory: string) {
    this.#disk = disk;
    this.#directory = directory;
  }

  async run(): Promise<RecoveredData> {
    const generation = await this.#readSnapshots();
    const names = await this.#disk.list(this.#directory);
    const generations = names
      .map((name) => parseLogName('journal', name))
      .filter((each) => each !== undefined);
    generations.sort((one, other) => one - other);
    let before: number | undefined;
    for (const [index, each] of generations.entries()) {
      if (each < generation) continue;
      const former = generations[index - 1];
      if (former !== undefined && former >= generation && former + 1 !== each)
        this.#lost.push(
          `${this.#path(formatLogName('journal', former + 1))} is missing with all its changes`,
        );
      before = await this.#readJournal(formatLogName('journal', each), before);
    }
    return { state: this.#loader.load(), lost: this.#lost, nonces: this.#nonces };
  }

  /** Reads the snapshots. Returns the generation of the first journal to read. */
  async #readSnapshots(): Promise<number> {
    const generation = await this.#readValid(snapshotName);
    if (generation !== undefined) return generation;
    await this.#readParts(snapshotName);
    if ((await this.#readValid(previousName)) === undefined) await this.#readParts(previousName);
    return 0;
  }

  /** Reads a snapshot. Returns its generation, or undefined if it is missing or corrupt. */
  async #readValid(name: string): Promise<number | undefined> {
    try {
      const snapshot = await readSnapshot(this.#disk, this.#path(name));
      if (snapshot === undefined) return undefined;
      this.#loader.raiseRevision(snapshot.state.revision);
      for (const receipt of snapshot.state.receipts) this.#loader.addReceipt(receipt);
      for (const { path, entries, ...numbers } of snapshot.state.collections()) {
        this.#loader.raise(path, numbers);
        for (const entry of entries) this.#loader.add(path, entry);
      }
      return snapshot.head.generation;
    } catch (error) {
      if (error instanceof CorruptionError) return undefined;
      throw error;
    }
  }

  /** Reads the readable lines of a corrupt snapshot. */
  async #readParts(name: string): Promise<void> {
    const path = this.#path(name);
    let collection: string | undefined;
    let receipts = false;
    let [first, taken] = [0, 0];
    const exists = await readSnapshotLines(this.#disk, path, (line) => {
      const at = line.location.line;
      if (line.kind === 'block') receipts = line.text.endsWith('"receipts":[');
      if (receipts) this.#readReceipt(path, line);
      else if (line.kind === 'block') {
        collection = this.#readBlock(path, line);
        [first, taken] = [at, 0];
        if (collection === undefined)
          this.#lost.push(`${path}, line ${at}: the collection of the items that follow`);
      } else if (line.kind === 'item') {
        const entry = parseItem(line.text);
        if (collection === undefined || entry === undefined)
          this.#lost.push(
            `${path}, line ${at}: an item${collection === undefined ? '' : ` of ${collection}`}`,
          );
        else {
          this.#loader.add(collection, entry);
          taken += 1;
        }
      } else if (line.kind === 'end') {
        if (!line.matches && taken > 0)
          this.#lost.push(
            `${path}, lines ${first} to ${at}: recovered, but perhaps not as they were written`,
          );
        collection = undefined;
      } else if (line.kind === 'other') this.#lost.push(`${path}, line ${at}: it cannot be read`);
    });
    this.#lost.push(
      exists ? `${path}: it is damaged, and data that is not listed here may be lost` : `${path} is missing`,
    );
  }

  /** Reads a line of a block of receipts. */
  #readReceipt(path: string, { kind, text, location, matches }: SnapshotLine): void {
    const receipt = kind === 'item' ? parseReceiptedChange(text) : undefined;
    if (receipt !== undefined) this.#loader.addReceipt(receipt);
    const lost = (kind === 'item' && receipt === undefined) || (kind === 'end' && !matches);
    if (lost) this.#lost.push(`${path}, line ${location.line}: receipts of repeatable requests`);
  }

  #readBlock(path: string, { text, location }: SnapshotLine): string | undefined {
    try {
      const document = new JsonFields(path, location);
      const members = document.members(JSON.parse(`${text}]}`), 'this line');
      const collection = document.text(members.get('collection'), 'collection');
      this.#loader.raise(collection, readNumbers(document, members, collection).numbers);
      return collection;
    } catch {
      return undefined;
    }
  }

  /** Applies the readable changes of a journal. Returns the number of the last one. */
  async #readJournal(name: string, before: number | undefined): Promise<number | undefined> {
    const path = this.#path(name);
    let [last, number] = [before, 0];
    const takeLine = (line: Buffer, whole: boolean): void => {
      // Preallocated space.
      if (!whole && line.every((byte) => byte === 0)) return;
      number += 1;
      const text = readCheckedLine(line);
      const change = text === undefined ? undefined : parseJournalLine(text);
      const header = text === undefined ? undefined : parseJournalHeader(text);
      if (change !== undefined) {
        const { seq } = change;
        if (last !== undefined && seq > last + 1)
          this.#lost.push(`${path}, before line ${number}: ${changesFrom(last + 1, seq - 1)}`);
        last = Math.max(last ?? 0, seq);
        this.#apply(change.change);
        if (change.receipted !== undefined) this.#loader.addReceipt(change.receipted);
        if (change.nonce !== undefined) this.#nonces.push(change.nonce);
      } else if (header !== undefined) {
        this.#loader.raiseRevision(header.revision);
        if (last !== undefined && header.sequence > last)
          this.#lost.push(`before ${path}: ${changesFrom(last + 1, header.sequence)}`);
        last = Math.max(last ?? 0, header.sequence);
      } else this.#lost.push(`${path}, line ${number}: it cannot be read`);
    };
    await readLines(this.#disk, path, takeLine);
    return last;
  }

  #apply({ kind, collection, id, sequence, revision, modified, value }: MadeChange): void {
    const counter = kind === 'create' ? (counterNumber(id) ?? 0) : 0;
    this.#loader.raise(collection, { counter, sequence, revision, modified });
    if (kind === 'delete') this.#loader.remove(collection, id, revision);
    else this.#loader.add(collection, { id, sequence, revision, modified, value: value ?? {} });
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}

function changesFrom(first: number, last: number): string {
  return first === last ? `change ${first} is lost` : `changes ${first} to ${last} are lost`;
}

/** Parses a line as an item. Returns undefined if it is not one. */
function parseItem(text: string): StoredItem | undefined {
  try {
    return readItem(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** A line of a snapshot, which may be corrupt. */
interface SnapshotLine {
  readonly kind: 'head' | 'block' | 'item' | 'end' | 'footer' | 'other';
  /** The line without its end, and without the comma after an item. */
  readonly text: string;
  readonly location: CorruptionLocation;
  /** At the end of a block: whether the block matches its checksum. */
  readonly matches: boolean;
}

/** The length of `{"crc":"89abcdef",`. */
const checksumLength = 18;

/** Calls `onLine` with each line of a snapshot. Returns whether there is such a file. */
function readSnapshotLines(disk: Disk, path: string, onLine: (line: SnapshotLine) => void): Promise<boolean> {
  const lines = new SnapshotLineReader(onLine);
  return readLines(disk, path, (line) => lines.take(line));
}

class SnapshotLineReader {
  readonly #onLine: (line: SnapshotLine) => void;
  #line = 0;
  #byte = 0;
  /** The checksum in the first line of the current block, and that of its lines so far. */
  #expected = '';
  #sum = 0;

  constructor(onLine: (line: SnapshotLine) => void) {
    this.#onLine = onLine;
  }

  take(bytes: Buffer): void {
    this.#line += 1;
    const line = bytes.toString('utf8').replace(/\r$/, '');
    const location = { line: this.#line, byte: this.#byte };
    const kind = classifyLine(line);
    if (kind === 'block') {
      this.#expected = line.slice(8, 16);
      this.#sum = 0;
    }
    const counted = kind === 'end' ? bytes.subarray(0, 2) : bytes;
    this.#sum = crc32(kind === 'block' ? counted.subarray(checksumLength) : counted, this.#sum);
    const matches = kind === 'end' && this.#expected === formatChecksum(this.#sum);
    this.#sum = crc32('\n', this.#sum);
    this.#byte += bytes.length + 1;
    this.#onLine({ kind, text: kind === 'item' ? line.replace(/,\s*$/, '') : line, location, matches });
  }
}

function classifyLine(line: string): SnapshotLine['kind'] {
  if (line.startsWith('{"version"')) return 'head';
  if (line.startsWith('{"crc"')) return 'block';
  if (line === ']}' || line === ']},') return 'end';
  if (line.startsWith('],"footer"')) return 'footer';
  return /^\s*\{/.test(line) ? 'item' : 'other';
}
