// Replays journals over the newest intact snapshot. A torn last line is cut off and kept aside; other damage prevents the start.

import { join } from 'node:path';
import type { NonceClaim } from '../../principal.ts';
import { CorruptionError, type CorruptionLocation } from '../corruption-error.ts';
import { rejectIncompleteCopy } from '../files/directory.ts';
import { type Disk, nodeDisk } from '../files/disk.ts';
import type { JournalHeader } from '../journal/line.ts';
import { type JournalContent, readJournal } from '../journal/reader.ts';
import { formatLogName, parseLogName } from '../log/line.ts';
import { readSnapshot, type Snapshot } from '../snapshot/reader.ts';
import { previousName, snapshotName } from '../snapshot/writer.ts';
import { State } from '../state/state.ts';
import { recoverCorrupt } from './recover-corrupt.ts';
import { applyRecoveryActions, type RecoveryAction } from './recovery-actions.ts';

/** A journal that is read. */
interface FoundJournal {
  readonly generation: number;
  readonly path: string;
  /** The length of the lines in bytes. Preallocated space may follow. */
  readonly bytes: number;
  readonly header: JournalHeader;
}

/** The content of a data directory. */
export interface Recovered {
  /** The id of the store; undefined if there is no store yet, or only the remains of a first start that failed. */
  readonly storeId: string | undefined;
  readonly state: State;
  /** The generation of the snapshot; 0 if there is none. */
  readonly generation: number;
  /** The number of the last line of the journals. */
  readonly sequence: number;
  /** The nonces in the journals, in order. */
  readonly nonces: readonly NonceClaim[];
  /** The journals from the generation of the snapshot on, in order. The last one is continued. */
  readonly journals: readonly FoundJournal[];
  /** The number of changes in the journals. */
  readonly changes: number;
  /** Descriptions of what is repaired, one sentence each. */
  readonly reports: readonly string[];
}

/** Reports progress: the file, the bytes read, its length, and the number of items or changes read. */
export type OnProgress = (file: string, done: number, size: number, count: number) => void;

/** The options of a recovery. */
interface RecoveryOptions {
  readonly directory: string;
  readonly disk?: Disk | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/** The options of an examination. */
interface ExamineOptions extends RecoveryOptions {
  /** Whether a server uses the directory: if files do not match, it may have replaced them, and they are read again. */
  readonly inUse?: boolean | undefined;
  /** Whether corrupt records are rejected with CorruptionError, or skipped. Default: `reject`. */
  readonly corrupt?: 'reject' | 'skip' | undefined;
}

/** The content of a data directory, and the actions that are necessary before it can be changed. */
export interface Examined extends Recovered {
  readonly actions: readonly RecoveryAction[];
  /** Descriptions of skipped and doubtful data, one sentence each. If there are any, there are no journals, and no store id. */
  readonly lost: readonly string[];
}

/** What the user can do about a corrupt file. */
const advice =
  'Restore a copy of the whole directory, or write what can be read to a new directory with "countersign check --repair NEWDIR"';

/**
 * Reads the files of a data directory, and repairs the effects of a crash: an incomplete end of a journal is moved to a
 * file of its own, and an unreadable snapshot is renamed. The caller holds the lock of the directory. Throws
 * CorruptionError for damage that no crash causes, and then changes nothing.
 */
export async function recover(options: RecoveryOptions): Promise<Recovered> {
  const examined = await examine(options);
  const disk = options.disk ?? nodeDisk;
  await applyRecoveryActions(disk, options.directory, examined.actions);
  // The files and their names may be in the cache of the operating system only. They must be on the disk before
  // they are used.
  const last = examined.journals.at(-1);
  if (last === undefined) return examined;
  await disk.truncate(last.path, last.bytes);
  await disk.syncDirectory(options.directory);
  return examined;
}

/**
 * Reads the files of a data directory without changing them. A server may be using it: the end of a journal may then
 * be incomplete. Throws CorruptionError, or DirectoryError if a copy into the directory was interrupted.
 */
export async function examine(options: ExamineOptions): Promise<Examined> {
  const { directory, disk = nodeDisk, inUse = false, corrupt = 'reject' } = options;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await new Examination(options).run();
    } catch (error) {
      if (!(error instanceof CorruptionError)) throw error;
      if (inUse && attempt < maxAttempts) continue;
      if (corrupt === 'reject') throw error;
      const { lost, ...found } = await recoverCorrupt(disk, directory);
      return { ...nothing, ...found, lost: [error.message, ...lost] };
    }
  }
}

/** The number of attempts to read files that a server may be replacing. */
const maxAttempts = 4;

const nothing = {
  storeId: undefined,
  generation: 0,
  sequence: 0,
  journals: [],
  changes: 0,
  reports: [],
  actions: [],
};

/** The position of a journal among the others. */
interface JournalPosition {
  readonly last: boolean;
  /** The number of the last change before it. */
  readonly before: number;
  readonly snapshot: Snapshot | undefined;
}

class Examination {
  readonly #options: RecoveryOptions;
  readonly #disk: Disk;
  readonly #reports: string[] = [];
  readonly #actions: RecoveryAction[] = [];
  readonly #nonces: NonceClaim[] = [];
  readonly #journals: FoundJournal[] = [];
  #state = new State();
  #storeId: string | undefined;
  #changes = 0;

  constructor(options: RecoveryOptions) {
    this.#options = options;
    this.#disk = options.disk ?? nodeDisk;
  }

  async run(): Promise<Examined> {
    const { directory } = this.#options;
    const names = await this.#disk.list(directory);
    rejectIncompleteCopy(directory, names);
    const generations = names
      .map((name) => parseLogName('journal', name))
      .filter((generation) => generation !== undefined);
    generations.sort((one, other) => one - other);
    const snapshot = await this.#snapshot(generations);
    if (snapshot !== undefined) {
      this.#state = snapshot.state;
      this.#storeId = snapshot.head.storeId;
    }
    const own = generations.filter((generation) => generation >= (snapshot?.head.generation ?? 0));
    this.#rejectGaps(own, snapshot);
    let sequence = snapshot?.head.sequence ?? 0;
    for (const generation of own) {
      const last = generation === own.at(-1);
      const content = await this.#readJournal(generation, sequence, snapshot);
      if (content === undefined) continue;
      this.#checkEnd(generation, content, { last, before: sequence, snapshot });
      if (content.header !== undefined) sequence = content.seq;
    }
    this.#rejectLoss(sequence, snapshot);
    const { head } = snapshot ?? {};
    return {
      storeId: this.#storeId,
      state: this.#state,
      generation: head?.generation ?? 0,
      sequence,
      nonces: this.#nonces,
      journals: this.#journals,
      changes: this.#changes,
      reports: this.#reports,
      actions: this.#actions,
      lost: [],
    };
  }

  /** Reads the newest valid snapshot. Without one, the journals must contain all changes from the first one on. */
  async #snapshot(generations: readonly number[]): Promise<Snapshot | undefined> {
    const newest = await this.#tryRead(snapshotName);
    if (newest.snapshot !== undefined) return newest.snapshot;
    const previous = await this.#tryRead(previousName);
    const { damage } = newest;
    if (previous.snapshot !== undefined) {
      const from = `${previousName} and all journals since are used`;
      if (damage === undefined) this.#reports.push(`${this.#path(snapshotName)} is missing; ${from}`);
      else {
        this.#reports.push(`${damage.message} Instead, ${from}; the damaged file is renamed`);
        this.#actions.push({ kind: 'set aside', name: snapshotName });
      }
      this.#actions.push({ kind: 'rename', from: previousName, to: snapshotName });
      return previous.snapshot;
    }
    const first = generations[0];
    if (
      first !== undefined &&
      previous.damage === undefined &&
      (await this.#isWholeHistory(first, damage === undefined))
    ) {
      if (damage === undefined) return undefined;
      const from = 'the journals are used, which contain all changes from the first one on';
      this.#reports.push(`${damage.message} Instead, ${from}; the damaged file is renamed`);
      this.#actions.push({ kind: 'set aside', name: snapshotName });
      return undefined;
    }
    if (first !== undefined && damage === undefined && previous.damage === undefined)
      throw this.#corruption(
        snapshotName,
        `it is missing, although there is ${formatLogName('journal', first)}`,
      );
    if (damage !== undefined) throw damage;
    if (previous.damage !== undefined) throw previous.damage;
    return undefined;
  }

  async #tryRead(name: string): Promise<{ snapshot?: Snapshot; damage?: CorruptionError }> {
    const path = this.#path(name);
    try {
      const snapshot = await readSnapshot(this.#disk, path, this.#progress(name));
      return snapshot === undefined ? {} : { snapshot };
    } catch (error) {
      if (error instanceof CorruptionError) return { damage: error };
      throw error;
    }
  }

  /**
   * Returns whether a journal begins with the first change. If `alone`, a journal without a header counts too: a first
   * start was creating it.
   */
  async #isWholeHistory(generation: number, alone: boolean): Promise<boolean> {
    const content = await readJournal(this.#disk, this.#path(formatLogName('journal', generation)), () => {});
    if (content === undefined) return true;
    if (content.header === undefined)
      return alone && generation <= 1 && !content.more && content.broken?.torn !== false;
    return content.header.sequence === 0 && content.header.revision === 0;
  }

  #rejectGaps(own: readonly number[], snapshot: Snapshot | undefined): void {
    const generation = snapshot?.head.generation;
    const first = own[0];
    if (generation !== undefined && first !== generation)
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

  #readJournal(
    generation: number,
    before: number,
    snapshot: Snapshot | undefined,
  ): Promise<JournalContent | undefined> {
    const name = formatLogName('journal', generation);
    let headerChecked = false;
    return readJournal(
      this.#disk,
      this.#path(name),
      ({ change, nonce, receipted }, header) => {
        if (!headerChecked) this.#checkHeader(generation, header, before, snapshot);
        headerChecked = true;
        this.#state.replay(change, receipted);
        if (nonce !== undefined) this.#nonces.push(nonce);
      },
      this.#progress(name),
    );
  }

  #checkHeader(
    generation: number,
    header: JournalHeader,
    before: number,
    snapshot: Snapshot | undefined,
  ): void {
    const name = formatLogName('journal', generation);
    const location = { line: 1, byte: 0 };
    if (header.generation !== generation)
      throw this.#corruption(name, `its header has generation ${header.generation}`, location);
    if (this.#storeId !== undefined && header.storeId !== this.#storeId)
      throw this.#corruption(name, 'it belongs to another store: its lineage is different', location);
    // A snapshot is begun after the journal of its generation, perhaps some changes later.
    const first = generation === snapshot?.head.generation;
    if (first ? header.sequence > before : header.sequence !== before)
      throw this.#corruption(
        name,
        `it begins after change ${header.sequence}, although ${before} was the last one`,
        location,
      );
    this.#storeId = header.storeId;
  }

  /** Checks whether a crash can have caused the invalid end of a journal. */
  #checkEnd(generation: number, content: JournalContent, { last, before, snapshot }: JournalPosition): void {
    const name = formatLogName('journal', generation);
    const { header, broken, bytes, changes } = content;
    if (header === undefined) {
      this.#checkWithoutHeader(generation, content, last, snapshot);
      return;
    }
    if (changes === 0) this.#checkHeader(generation, header, before, snapshot);
    this.#changes += changes;
    this.#journals.push({ generation, path: this.#path(name), bytes, header });
    if (broken === undefined) return;
    const location = { line: broken.line, byte: broken.byte };
    if (!broken.torn) throw this.#corruption(name, broken.reason, location);
    if (!last)
      throw this.#corruption(
        name,
        `${broken.reason}, although a later journal was created after it`,
        location,
      );
    const missing = content.seq + 1;
    if (content.highestDurable >= missing)
      throw this.#corruption(
        name,
        `${broken.reason}, although a later line shows that it was on the disk`,
        location,
      );
    if ((snapshot?.reached ?? 0) >= missing)
      throw this.#corruption(
        name,
        `${broken.reason}, although ${snapshotName} was written after it was on the disk`,
        location,
      );
    const savedAs = `torn-${generation}-${broken.byte}.bin`;
    this.#reports.push(
      `${this.#path(name)} has an incomplete end, as after a crash, from line ${broken.line}, at byte ${broken.byte}, on: ${broken.reason}; nothing shows that it was on the disk; it is moved to ${savedAs}`,
    );
    this.#actions.push({ kind: 'cut', name, at: broken.byte, savedAs });
  }

  /** Checks a journal without a valid header: the server ended while creating it, or it is corrupt. */
  #checkWithoutHeader(
    generation: number,
    { broken, more }: JournalContent,
    last: boolean,
    snapshot: Snapshot | undefined,
  ): void {
    const name = formatLogName('journal', generation);
    const location = { line: 1, byte: 0 };
    const reason = broken?.reason ?? 'it is empty';
    if (!last)
      throw this.#corruption(name, `${reason}, although a later journal was created after it`, location);
    if (generation === snapshot?.head.generation)
      throw this.#corruption(
        name,
        `${reason}, although ${snapshotName} was written after the journal was created`,
        location,
      );
    if (more || broken?.torn === false) throw this.#corruption(name, reason, location);
    const savedAs = broken === undefined ? undefined : `torn-${generation}-0.bin`;
    this.#reports.push(
      `${this.#path(name)} was being created when the server ended, and has no lines; it is ${savedAs === undefined ? 'removed' : `renamed to ${savedAs}`}`,
    );
    this.#actions.push({ kind: 'remove', name, savedAs });
  }

  /** Throws if changes are missing: a snapshot is only written when all its changes are on the disk in the journals. */
  #rejectLoss(sequence: number, snapshot: Snapshot | undefined): void {
    if (snapshot === undefined || sequence >= snapshot.reached) return;
    const last = this.#journals.at(-1);
    const reason = `the journals end at change ${sequence}, although ${snapshotName} was written after change ${snapshot.reached} was on the disk`;
    throw this.#corruption(
      last === undefined
        ? formatLogName('journal', snapshot.head.generation)
        : formatLogName('journal', last.generation),
      reason,
    );
  }

  #progress(name: string): (done: number, size: number, count: number) => void {
    return (done, size, count) => this.#options.onProgress?.(name, done, size, count);
  }

  #path(name: string): string {
    return join(this.#options.directory, name);
  }

  #corruption(name: string, reason: string, location?: CorruptionLocation): CorruptionError {
    return new CorruptionError(this.#path(name), reason, location, advice);
  }
}
