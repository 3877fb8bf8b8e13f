// The only reader of a store on disk: replays journals over the newest intact snapshot, and says what has to be repaired. A torn end
// of the last journal is an effect of a crash; other damage is rejected, or skipped.
import { join } from 'node:path';
import { delay } from '../timers.ts';
import { CorruptionError, type CorruptionLocation } from './corruption-error.ts';
import { RecordFault } from './encoding/members.ts';
import { formatTornName, previousName, snapshotName } from './files/data-files.ts';
import { rejectIncompleteCopy } from './files/directory.ts';
import { type Disk, nodeDisk } from './files/disk.ts';
import { findHolder } from './files/lock.ts';
import { formatLogName, listLogNumbers } from './log/line.ts';
import { type LogContent, type LogFormat, readLogFile } from './log/reader.ts';
import {
  type ChangeRecord,
  type HeadRecord,
  type JournalRecord,
  type Record,
  readJournalRecord,
} from './record.ts';
import { readSnapshot, type Snapshot, salvageSnapshot } from './snapshot/reader.ts';
import { State } from './state/state.ts';

/** A change to the files of a data directory that repairs the effects of a crash. */
export type Repair =
  /** Renames an unreadable file. */
  | { readonly kind: 'set aside'; readonly name: string }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  /** Truncates a file, and saves its end in another file. */
  | { readonly kind: 'cut'; readonly name: string; readonly at: number; readonly savedAs: string }
  /** Removes a file, and saves its content in another file unless `savedAs` is undefined. */
  | { readonly kind: 'remove'; readonly name: string; readonly savedAs: string | undefined };

/** A journal that was read. */
interface ScannedJournal {
  readonly generation: number;
  readonly path: string;
  /** The length of the lines in bytes. Preallocated space may follow. */
  readonly bytes: number;
  /** Identifies the declarations to which all items conform; undefined if that is not known. */
  readonly declarations: string | undefined;
}

/** The content of a data directory. */
export interface Scanned {
  /** The id of the store; undefined if there is no store yet, or only the remains of a first start that failed. */
  readonly storeId: string | undefined;
  readonly state: State;
  /** The generation of the snapshot; 0 if there is none. */
  readonly generation: number;
  /** The number of the last change in the journals. */
  readonly sequence: number;
  /** The journals from the generation of the snapshot on, in order. The last one is continued. */
  readonly journals: readonly ScannedJournal[];
  /** The number of changes in the journals. */
  readonly changes: number;
  /** Descriptions of what a start repairs, one sentence each. */
  readonly reports: readonly string[];
  /** The repairs that are necessary before the files can be changed. */
  readonly repairs: readonly Repair[];
  /** Descriptions of skipped and doubtful data, one sentence each. If there are any, there are no journals, and no store id. */
  readonly lost: readonly string[];
}

/** Reports progress: the file, the bytes read, its length, and the number of items or changes read. */
export type OnProgress = (file: string, done: number, size: number, count: number) => void;

/** The options of a scan. */
export interface ScanOptions {
  readonly directory: string;
  readonly disk?: Disk | undefined;
  readonly onProgress?: OnProgress | undefined;
  /**
   * Whether a server may be using the directory: files that do not match are read again, because it may be replacing them, and the end
   * of a journal that it is writing is not reported. Default: false.
   */
  readonly isShared?: boolean | undefined;
  /** Whether corrupt records are rejected with CorruptionError, or skipped. Default: `reject`. */
  readonly corrupt?: 'reject' | 'skip' | undefined;
}

/** The number of attempts to read files that a server is using. */
const attemptsInUse = 10;
/** The number of attempts to read files that no process of this host uses, but perhaps one in another container. */
const attemptsWithoutServer = 3;

/** The delay before the second attempt (ms); it increases by this with every attempt. */
const firstDelay = 20;

/** What the user can do about a corrupt file. */
const advice =
  'Restore a copy of the whole directory, or write what can be read to a new directory with "countersign check --repair NEWDIR"';

/**
 * Reads the files of a data directory without changing them. Throws CorruptionError for damage that no crash causes, DirectoryError
 * if a copy into the directory was interrupted.
 */
export async function scan(options: ScanOptions): Promise<Scanned> {
  const { directory, disk = nodeDisk, isShared = false, corrupt = 'reject' } = options;
  const isInUse = isShared && (await findHolder(directory)) !== undefined;
  const attempts = isInUse ? attemptsInUse : isShared ? attemptsWithoutServer : 1;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const scanned = await new Scan(directory, disk, options.onProgress).run();
      return isInUse ? { ...scanned, reports: [] } : scanned;
    } catch (error) {
      if (!(error instanceof CorruptionError)) throw error;
      if (attempt < attempts) await delay(firstDelay * attempt);
      else if (corrupt === 'skip')
        return new Scan(directory, disk, options.onProgress).salvage(error.message);
      else throw error;
    }
  }
}

/** The numbers of the journals from a snapshot on. */
interface JournalPosition {
  readonly generation: number;
  readonly isLast: boolean;
  /** The number of the last change before the journal. */
  readonly before: number;
}

/** A journal that was read up to its first invalid line. */
interface JournalContent extends LogContent<HeadRecord> {
  /** The highest `durable` in the valid lines that follow the invalid one; 0 if there are none. */
  readonly highestDurable: number;
}

const journalFormat = { name: 'journal', preallocated: true, read: readJournalRecord } as const;

/** One attempt to read a directory. */
class Scan {
  readonly #directory: string;
  readonly #disk: Disk;
  readonly #onProgress: OnProgress | undefined;
  readonly #reports: string[] = [];
  readonly #repairs: Repair[] = [];
  readonly #journals: ScannedJournal[] = [];
  #snapshot: Snapshot | undefined;
  #state = new State();
  #storeId: string | undefined;
  #changes = 0;

  constructor(directory: string, disk: Disk, onProgress: OnProgress | undefined) {
    this.#directory = directory;
    this.#disk = disk;
    this.#onProgress = onProgress;
  }

  /** Reads the directory up to the first damage. Throws CorruptionError. */
  async run(): Promise<Scanned> {
    const names = await this.#disk.list(this.#directory);
    rejectIncompleteCopy(this.#directory, names);
    const generations = listLogNumbers('journal', names);
    const snapshot = await this.#findSnapshot(generations);
    if (snapshot !== undefined) {
      this.#snapshot = snapshot;
      this.#state = snapshot.state;
      this.#storeId = snapshot.head.storeId;
    }
    const own = generations.filter((generation) => generation >= (snapshot?.head.generation ?? 0));
    this.#rejectGaps(own);
    let sequence = snapshot?.head.sequence ?? 0;
    for (const generation of own) {
      const position = { generation, isLast: generation === own.at(-1), before: sequence };
      sequence = await this.#takeJournal(position);
    }
    this.#rejectLoss(sequence);
    return {
      storeId: this.#storeId,
      state: this.#state,
      generation: snapshot?.head.generation ?? 0,
      sequence,
      journals: this.#journals,
      changes: this.#changes,
      reports: this.#reports,
      repairs: this.#repairs,
      lost: [],
    };
  }

  /**
   * Reads what can be read of a damaged directory. If the newest snapshot is damaged, the previous one is read too. The newest revision
   * of each item is used. The journals cannot be continued.
   * @param reason why the directory cannot be used
   */
  async salvage(reason: string): Promise<Scanned> {
    const lost = [reason];
    const newest = await this.#salvageSnapshot(snapshotName, lost);
    if (newest === undefined) await this.#salvageSnapshot(previousName, lost);
    let [before, former]: (number | undefined)[] = [];
    for (const generation of listLogNumbers('journal', await this.#disk.list(this.#directory))) {
      if (generation < (newest?.generation ?? 0)) continue;
      if (former !== undefined && former + 1 !== generation)
        lost.push(`${this.#path(formatLogName('journal', former + 1))} is missing with all its changes`);
      before = await this.#salvageJournal(generation, before, lost);
      former = generation;
    }
    const nothing = { storeId: undefined, generation: 0, sequence: 0, journals: [], changes: 0 };
    return { ...nothing, state: this.#state, reports: [], repairs: [], lost };
  }

  #salvageSnapshot(name: string, lost: string[]): Promise<HeadRecord | undefined> {
    const take = (record: Record): void => this.#state.take(record);
    return salvageSnapshot(this.#disk, this.#path(name), take, (what) => lost.push(what));
  }

  /** Adds the readable changes of a journal. Returns the number of the last one. */
  async #salvageJournal(
    generation: number,
    before: number | undefined,
    lost: string[],
  ): Promise<number | undefined> {
    const path = this.#path(formatLogName('journal', generation));
    let last = before;
    await readLogFile<HeadRecord, ChangeRecord>(this.#disk, path, {
      ...journalFormat,
      take: (record, { line }) => {
        const [where, reached, next] =
          record.kind === 'head'
            ? [`before ${path}`, record.sequence, record.sequence + 1]
            : [`${path}, before line ${line}`, record.seq, record.seq];
        if (last !== undefined && next > last + 1)
          lost.push(`${where}: ${describeChanges(last + 1, next - 1)}`);
        last = Math.max(last ?? 0, reached);
        this.#state.take(record);
      },
      skip: ({ line }) => lost.push(`${path}, line ${line}: it cannot be read`),
      reject: (fault) => fault,
    });
    return last;
  }

  /** Reads the newest valid snapshot. Without one, the journals must contain all changes from the first one on. */
  async #findSnapshot(generations: readonly number[]): Promise<Snapshot | undefined> {
    const newest = await this.#tryRead(snapshotName);
    if (newest.snapshot !== undefined) return newest.snapshot;
    const previous = await this.#tryRead(previousName);
    const { damage } = newest;
    if (previous.snapshot !== undefined) {
      this.#replaceSnapshot(damage, `${previousName} and all journals since are used`);
      this.#repairs.push({ kind: 'rename', from: previousName, to: snapshotName });
      return previous.snapshot;
    }
    const first = generations[0];
    const hasNone = damage === undefined && previous.damage === undefined;
    if (first === undefined && hasNone) return undefined;
    if (
      first !== undefined &&
      previous.damage === undefined &&
      (await this.#isWholeHistory(first, hasNone))
    ) {
      if (damage !== undefined)
        this.#replaceSnapshot(
          damage,
          'the journals are used, which contain all changes from the first one on',
        );
      return undefined;
    }
    const reason = `it is missing, although there is ${formatLogName('journal', first ?? 0)}`;
    throw damage ?? previous.damage ?? this.#corruption(snapshotName, reason);
  }

  /** Reports that something else is used in place of the newest snapshot, which is missing or damaged. */
  #replaceSnapshot(damage: CorruptionError | undefined, used: string): void {
    if (damage === undefined) {
      this.#reports.push(`${this.#path(snapshotName)} is missing; ${used}`);
      return;
    }
    this.#reports.push(`${damage.message} Instead, ${used}; the damaged file is renamed`);
    this.#repairs.push({ kind: 'set aside', name: snapshotName });
  }

  async #tryRead(name: string): Promise<{ snapshot?: Snapshot; damage?: CorruptionError }> {
    try {
      const snapshot = await readSnapshot(this.#disk, this.#path(name), this.#progress(name));
      return snapshot === undefined ? {} : { snapshot };
    } catch (error) {
      if (error instanceof CorruptionError) return { damage: error };
      throw error;
    }
  }

  /**
   * Returns whether a journal begins with the first change. If `isAlone`, a journal without a head counts too: a first
   * start was creating it.
   */
  async #isWholeHistory(generation: number, isAlone: boolean): Promise<boolean> {
    const content = await this.#readJournal(generation, () => {});
    if (content === undefined) return true;
    const { head, more } = content;
    if (head === undefined) return isAlone && generation <= 1 && !more;
    return head.sequence === 0 && head.revision === 0;
  }

  #rejectGaps(own: readonly number[]): void {
    const generation = this.#snapshot?.head.generation;
    if (generation !== undefined && own[0] !== generation)
      throw this.#corruption(
        formatLogName('journal', generation),
        `it is missing, although ${snapshotName} has this generation`,
      );
    for (const [index, each] of own.entries()) {
      const next = own[index + 1];
      if (next !== undefined && next !== each + 1)
        throw this.#corruption(
          formatLogName('journal', each + 1),
          `it is missing, although there is ${formatLogName('journal', next)}`,
        );
    }
  }

  /** Adds a journal to the state. Returns the number of its last change, or of the last one before it. */
  async #takeJournal(position: JournalPosition): Promise<number> {
    const content = await this.#readJournal(position.generation, (record) => {
      if (record.kind === 'head') this.#checkHead(record, position);
      this.#state.take(record);
    });
    if (content === undefined) return position.before;
    if (content.head === undefined) this.#checkWithoutHead(content, position);
    else {
      const { generation } = position;
      this.#changes += content.lines - 1;
      const path = this.#path(formatLogName('journal', generation));
      const { declarations } = content.head;
      this.#journals.push({ generation, path, bytes: content.bytes, declarations });
      this.#checkEnd(content, position);
    }
    return content.head === undefined ? position.before : content.sequence;
  }

  /** Reads a journal. Calls `take` with each record before the first invalid line. Returns undefined if there is no such file. */
  async #readJournal(
    generation: number,
    take: (record: JournalRecord) => void,
  ): Promise<JournalContent | undefined> {
    const name = formatLogName('journal', generation);
    let highestDurable = 0;
    const format: LogFormat<HeadRecord, ChangeRecord> = {
      ...journalFormat,
      take,
      reject: ({ message }, position) => this.#corruption(name, message, position),
      onStray: ({ durable }) => {
        highestDurable = Math.max(highestDurable, durable);
      },
    };
    const content = await readLogFile(this.#disk, this.#path(name), format, (done, size, lines) =>
      this.#onProgress?.(name, done, size, Math.max(0, lines - 1)),
    );
    return content && { ...content, highestDurable };
  }

  #checkHead(head: HeadRecord, { generation, before }: JournalPosition): void {
    if (head.generation !== generation) throw new RecordFault(`its header has generation ${head.generation}`);
    if (this.#storeId !== undefined && head.storeId !== this.#storeId)
      throw new RecordFault('it belongs to another store: its lineage is different');
    // A snapshot is begun after the journal of its generation, perhaps some changes later.
    const isFirst = generation === this.#snapshot?.head.generation;
    if (isFirst ? head.sequence > before : head.sequence !== before)
      throw new RecordFault(`it begins after change ${head.sequence}, although ${before} was the last one`);
    this.#storeId = head.storeId;
  }

  /** Checks whether a crash can have caused the invalid end of a journal. */
  #checkEnd(content: JournalContent, { generation, isLast }: JournalPosition): void {
    const { broken, sequence, highestDurable } = content;
    if (broken === undefined) return;
    const name = formatLogName('journal', generation);
    const reject = (proof: string): never => {
      throw this.#corruption(name, `${broken.reason}, although ${proof}`, broken);
    };
    if (!isLast) reject('a later journal was created after it');
    if (highestDurable > sequence) reject('a later line shows that it was on the disk');
    if ((this.#snapshot?.reached ?? 0) > sequence)
      reject(`${snapshotName} was written after it was on the disk`);
    const savedAs = formatTornName(generation, broken.byte);
    this.#reports.push(
      `${this.#path(name)} has an incomplete end, as after a crash, from line ${broken.line}, at byte ${broken.byte}, on: ${broken.reason}; nothing shows that it was on the disk; it is moved to ${savedAs}`,
    );
    this.#repairs.push({ kind: 'cut', name, at: broken.byte, savedAs });
  }

  /** Checks a journal without a valid head: the server ended while creating it, or it is corrupt. */
  #checkWithoutHead({ broken, more }: JournalContent, { generation, isLast }: JournalPosition): void {
    const name = formatLogName('journal', generation);
    const reason = broken?.reason ?? 'it is empty';
    const reject = (proof: string): never => {
      throw this.#corruption(name, `${reason}${proof}`, { line: 1, byte: 0 });
    };
    if (!isLast) reject(', although a later journal was created after it');
    if (generation === this.#snapshot?.head.generation)
      reject(`, although ${snapshotName} was written after the journal was created`);
    if (more) reject('');
    const savedAs = broken === undefined ? undefined : formatTornName(generation, 0);
    this.#reports.push(
      `${this.#path(name)} was being created when the server ended, and has no lines; it is ${savedAs === undefined ? 'removed' : `renamed to ${savedAs}`}`,
    );
    this.#repairs.push({ kind: 'remove', name, savedAs });
  }

  /** Throws if changes are missing: a snapshot is only written when all its changes are on the disk in the journals. */
  #rejectLoss(sequence: number): void {
    const snapshot = this.#snapshot;
    if (snapshot === undefined || sequence >= snapshot.reached) return;
    const generation = this.#journals.at(-1)?.generation ?? snapshot.head.generation;
    const reason = `the journals end at change ${sequence}, although ${snapshotName} was written after change ${snapshot.reached} was on the disk`;
    throw this.#corruption(formatLogName('journal', generation), reason);
  }

  #progress(name: string): (done: number, size: number, count: number) => void {
    return (done, size, count) => this.#onProgress?.(name, done, size, count);
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }

  #corruption(name: string, reason: string, location?: CorruptionLocation): CorruptionError {
    const where = location === undefined ? undefined : { line: location.line, byte: location.byte };
    return new CorruptionError(this.#path(name), reason, where, advice);
  }
}

function describeChanges(first: number, last: number): string {
  return first === last ? `change ${first} is lost` : `changes ${first} to ${last} are lost`;
}
