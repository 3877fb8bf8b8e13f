import { join } from 'node:path';
import type { NonceClaim } from '../../principal.ts';
import { CorruptionError } from '../corruption-error.ts';
import { JsonFields } from '../encoding/json-fields.ts';
import { parseReceiptedChange } from '../encoding/receipt-json.ts';
import type { Disk } from '../files/disk.ts';
import { readLines } from '../files/read-chunks.ts';
import { parseJournalHeader, parseJournalLine } from '../journal/line.ts';
import { formatLogName, parseLogName, readCheckedLine } from '../log/line.ts';
import { readSnapshotLines, type SnapshotLine } from '../snapshot/lines.ts';
import { readNumbers, readSnapshot } from '../snapshot/reader.ts';
import { counterNumber, ReservedIds } from '../state/reserved-ids.ts';
import { type CollectionNumbers, type MadeChange, State } from '../state/state.ts';
import type { StoredItem, StoredReceipt } from '../store.ts';
import { isRecordValue } from '../value.ts';
import { previousName, snapshotName } from './recovery.ts';

/** The readable data of a corrupt store. */
export interface RecoveredData {
  readonly state: State;
  /** Descriptions of lost and doubtful data, one sentence each, with file and line. */
  readonly lost: readonly string[];
  readonly nonces: readonly NonceClaim[];
}

/** The readable data of a collection. */
interface RecoveredCollection {
  readonly entries: Map<string, StoredItem>;
  numbers: CollectionNumbers;
}

const noNumbers: CollectionNumbers = { counter: 0, sequence: 0, revision: 0, modified: 0 };

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
  readonly #collections = new Map<string, RecoveredCollection>();
  readonly #lost: string[] = [];
  readonly #nonces: NonceClaim[] = [];
  readonly #receipts: StoredReceipt[] = [];
  #revision = 0;

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
    return { state: this.#build(), lost: this.#lost, nonces: this.#nonces };
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
      this.#revision = Math.max(this.#revision, snapshot.state.revision);
      this.#receipts.push(...snapshot.state.receipts);
      for (const { path, entries, ...numbers } of snapshot.state.collections()) {
        this.#raise(path, numbers);
        for (const entry of entries) this.#add(path, entry);
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
        const entry = itemOf(line.text);
        if (collection === undefined || entry === undefined)
          this.#lost.push(
            `${path}, line ${at}: an item${collection === undefined ? '' : ` of ${collection}`}`,
          );
        else {
          this.#add(collection, entry);
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
    if (receipt !== undefined) this.#receipts.push(receipt);
    const lost = (kind === 'item' && receipt === undefined) || (kind === 'end' && !matches);
    if (lost) this.#lost.push(`${path}, line ${location.line}: receipts of repeatable requests`);
  }

  #readBlock(path: string, { text, location }: SnapshotLine): string | undefined {
    try {
      const document = new JsonFields(path, location);
      const members = document.members(JSON.parse(`${text}]}`), 'this line');
      const collection = document.text(members.get('collection'), 'collection');
      this.#raise(collection, readNumbers(document, members, collection).numbers);
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
        if (change.receipted !== undefined) this.#receipts.push(change.receipted);
        if (change.nonce !== undefined) this.#nonces.push(change.nonce);
      } else if (header !== undefined) {
        this.#revision = Math.max(this.#revision, header.revision);
        if (last !== undefined && header.sequence > last)
          this.#lost.push(`before ${path}: ${changesFrom(last + 1, header.sequence)}`);
        last = Math.max(last ?? 0, header.sequence);
      } else this.#lost.push(`${path}, line ${number}: it cannot be read`);
    };
    await readLines(this.#disk, path, takeLine);
    return last;
  }

  #apply(change: MadeChange): void {
    const { collection, id, sequence, revision, modified, value } = change;
    const number = change.kind === 'create' ? (counterNumber(id) ?? 0) : 0;
    this.#raise(collection, { counter: number, sequence, revision, modified });
    if (change.kind !== 'delete')
      this.#add(collection, { id, sequence, revision, modified, value: value ?? {} });
    else if ((this.#collectionOf(collection).entries.get(id)?.revision ?? revision) < revision)
      this.#collectionOf(collection).entries.delete(id);
  }

  #add(collection: string, entry: StoredItem): void {
    const { entries } = this.#collectionOf(collection);
    if ((entries.get(entry.id)?.revision ?? 0) < entry.revision) entries.set(entry.id, entry);
    this.#raise(collection, { ...noNumbers, sequence: entry.sequence, revision: entry.revision });
  }

  #raise(collection: string, numbers: CollectionNumbers): void {
    const found = this.#collectionOf(collection);
    const { counter, sequence, revision, modified } = found.numbers;
    found.numbers = {
      counter: Math.max(counter, numbers.counter),
      sequence: Math.max(sequence, numbers.sequence),
      revision: Math.max(revision, numbers.revision),
      modified: Math.max(modified, numbers.modified),
    };
    this.#revision = Math.max(this.#revision, numbers.revision);
  }

  #collectionOf(collection: string): RecoveredCollection {
    const found = this.#collections.get(collection) ?? {
      entries: new Map<string, StoredItem>(),
      numbers: noNumbers,
    };
    this.#collections.set(collection, found);
    return found;
  }

  #build(): State {
    const state = new State(this.#revision);
    for (const [path, { entries, numbers }] of this.#collections) {
      const sorted = [...entries.values()].sort((one, other) => one.sequence - other.sequence);
      const ordered: StoredItem[] = [];
      for (const entry of sorted) {
        // If two items have the same sequence, the second one is moved.
        const sequence = Math.max(entry.sequence, (ordered.at(-1)?.sequence ?? 0) + 1);
        ordered.push({ ...entry, sequence });
      }
      const sequence = Math.max(numbers.sequence, ordered.at(-1)?.sequence ?? 0);
      state.restore(path, { ...numbers, sequence }, reservedIdsOf(entries.keys(), numbers.counter), ordered);
    }
    for (const receipt of this.#receipts) state.receipts.restore(receipt);
    return state;
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}

/** Returns the ids above the counter. */
function reservedIdsOf(ids: Iterable<string>, counter: number): ReservedIds {
  const chosen = new ReservedIds();
  for (const id of ids) {
    const number = counterNumber(id);
    if (number !== undefined && number > counter) chosen.add(number);
  }
  return chosen;
}

/** Parses a line as an item; returns undefined if it is not one. */
function itemOf(text: string): StoredItem | undefined {
  try {
    const document = new JsonFields('');
    const members = document.object(JSON.parse(text), '', [
      'id',
      'sequence',
      'revision',
      'modified',
      'value',
    ]);
    const value = members.get('value');
    if (!isRecordValue(value)) return undefined;
    return {
      id: document.text(members.get('id'), ''),
      sequence: document.count(members.get('sequence'), ''),
      revision: document.count(members.get('revision'), ''),
      modified: document.time(members.get('modified'), ''),
      value,
    };
  } catch {
    return undefined;
  }
}

function changesFrom(first: number, last: number): string {
  return first === last ? `change ${first} is lost` : `changes ${first} to ${last} are lost`;
}
