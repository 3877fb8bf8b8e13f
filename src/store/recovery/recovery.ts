import { join } from 'node:path';
import { CorruptionError, type CorruptionLocation } from '../corruption-error.ts';
import { type Disk, nodeDisk } from '../files/disk.ts';
import type { JournalHeader } from '../journal/line.ts';
import { type JournalContent, readJournal } from '../journal/reader.ts';
import { readSnapshot, type Snapshot } from '../snapshot/reader.ts';
import { State } from '../state/state.ts';
import type { StoredNonce } from '../store.ts';
import { applyRecoveryActions, type RecoveryAction } from './recovery-actions.ts';

/** The names of the files of a store, beside its journals. */
export const snapshotName = 'store.json';
export const previousName = 'store.previous.json';

/** The name of a journal. */
export function journalName(generation: number): string {
  return `journal-${generation}.jsonl`;
}

/** The generation of a journal; undefined for any other name. */
export function journalGeneration(name: string): number | undefined {
  const digits = /^journal-(0|[1-9][0-9]{0,14})\.jsonl$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** A journal that counts. */
export interface FoundJournal {
  readonly generation: number;
  readonly path: string;
  /** How many bytes its lines have; what follows is allocated space. */
  readonly bytes: number;
  readonly header: JournalHeader;
}

/** What a directory holds. */
export interface Recovered {
  /** Undefined when there is nothing yet, or only what a first start left that came to nothing. */
  readonly lineage: string | undefined;
  readonly state: State;
  /** That of the snapshot; 0 when there is none. */
  readonly generation: number;
  /** The number of the last line of the journals. */
  readonly sequence: number;
  /** The nonces that came with the changes of the journals, in their order. */
  readonly nonces: readonly StoredNonce[];
  /** The journals from that of the snapshot on, in order; the last one is written on. */
  readonly journals: readonly FoundJournal[];
  /** How many changes they have. */
  readonly changes: number;
  /** What was found and is mended, a sentence each. */
  readonly told: readonly string[];
}

/** Tells how far loading is: which file, how many bytes of how many, and how many items or changes that are. */
export type OnProgress = (file: string, done: number, size: number, count: number) => void;

/** What a directory is looked at with. */
export interface RecoveryOptions {
  readonly directory: string;
  readonly disk?: Disk;
  readonly loading?: OnProgress;
}

/** What was found, and what has to be done before it can be written on. */
export interface Examined extends Recovered {
  readonly mends: readonly RecoveryAction[];
}

/** What can be done about a journal that is not what was written. */
const choices =
  'Put back a copy of the whole directory, or "countersign check --repair NEWDIR" saves what can be read';

/**
 * Finds out what the files of a directory hold, and mends what a crash left: a torn end is cut off and kept beside, a
 * snapshot that cannot be read is put aside. The directory is the caller's own. Throws CorruptionError for all that no
 * crash makes, and then changes nothing.
 */
export async function recover(looking: RecoveryOptions): Promise<Recovered> {
  const examined = await examine(looking);
  const disk = looking.disk ?? nodeDisk;
  await applyRecoveryActions(disk, looking.directory, examined.mends);
  // What is read back may be with the system alone, and so may the names; before anybody sees it, it has to be on the
  // medium.
  const last = examined.journals.at(-1);
  if (last === undefined) return examined;
  await disk.truncate(last.path, last.bytes);
  await disk.syncDirectory(looking.directory);
  return examined;
}

/** The same without changing anything; also of a directory that a server writes to, though then it may find it torn. */
export async function examine(looking: RecoveryOptions): Promise<Examined> {
  return new Examination(looking).run();
}

/** Where a journal stands among the others. */
interface Standing {
  readonly last: boolean;
  /** The number of the last change before it. */
  readonly before: number;
  readonly snapshot: Snapshot | undefined;
}

class Examination {
  readonly #looking: RecoveryOptions;
  readonly #disk: Disk;
  readonly #told: string[] = [];
  readonly #mends: RecoveryAction[] = [];
  readonly #nonces: StoredNonce[] = [];
  readonly #journals: FoundJournal[] = [];
  #state = new State();
  #lineage: string | undefined;
  #changes = 0;

  constructor(looking: RecoveryOptions) {
    this.#looking = looking;
    this.#disk = looking.disk ?? nodeDisk;
  }

  async run(): Promise<Examined> {
    const names = await this.#disk.list(this.#looking.directory);
    const generations = names.map(journalGeneration).filter((generation) => generation !== undefined);
    generations.sort((one, other) => one - other);
    const snapshot = await this.#snapshot(generations);
    if (snapshot !== undefined) {
      this.#state = snapshot.state;
      this.#lineage = snapshot.head.lineage;
    }
    const own = generations.filter((generation) => generation >= (snapshot?.head.generation ?? 0));
    this.#refuseGaps(own, snapshot);
    let sequence = snapshot?.head.sequence ?? 0;
    for (const generation of own) {
      const last = generation === own.at(-1);
      const content = await this.#readJournal(generation, sequence, snapshot);
      if (content === undefined) continue;
      this.#judge(generation, content, { last, before: sequence, snapshot });
      if (content.header !== undefined) sequence = content.seq;
    }
    this.#refuseLoss(sequence, snapshot);
    const { head } = snapshot ?? {};
    return {
      lineage: this.#lineage,
      state: this.#state,
      generation: head?.generation ?? 0,
      sequence,
      nonces: this.#nonces,
      journals: this.#journals,
      changes: this.#changes,
      told: this.#told,
      mends: this.#mends,
    };
  }

  /** The newest snapshot that can be read. Without one the journals must have everything, from the first change on. */
  async #snapshot(generations: readonly number[]): Promise<Snapshot | undefined> {
    const newest = await this.#tryRead(snapshotName);
    if (newest.snapshot !== undefined) return newest.snapshot;
    const previous = await this.#tryRead(previousName);
    const { damage } = newest;
    if (previous.snapshot !== undefined) {
      const from = `the state is that of ${previousName} and all journals since`;
      if (damage === undefined) this.#told.push(`${this.#path(snapshotName)} is missing; ${from}`);
      else {
        this.#told.push(`${damage.message} Instead, ${from}; the damaged file is kept aside`);
        this.#mends.push({ kind: 'set aside', name: snapshotName });
      }
      this.#mends.push({ kind: 'rename', from: previousName, to: snapshotName });
      return previous.snapshot;
    }
    const first = generations[0];
    if (
      first !== undefined &&
      previous.damage === undefined &&
      (await this.#isWholeHistory(first, damage === undefined))
    ) {
      if (damage === undefined) return undefined;
      const from = 'the journals have all changes from the first on';
      this.#told.push(`${damage.message} Instead, ${from}; the damaged file is kept aside`);
      this.#mends.push({ kind: 'set aside', name: snapshotName });
      return undefined;
    }
    if (first !== undefined && damage === undefined && previous.damage === undefined)
      throw this.#damage(snapshotName, `it is missing, though there is ${journalName(first)}`);
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

  /** Whether a journal begins with the first change ever, or, where it is alone, was being begun by a first start. */
  async #isWholeHistory(generation: number, alone: boolean): Promise<boolean> {
    const content = await readJournal(this.#disk, this.#path(journalName(generation)), () => {});
    if (content === undefined) return true;
    if (content.header === undefined)
      return alone && generation <= 1 && !content.more && content.broken?.torn !== false;
    return content.header.sequence === 0 && content.header.revision === 0;
  }

  #refuseGaps(own: readonly number[], snapshot: Snapshot | undefined): void {
    const generation = snapshot?.head.generation;
    const first = own[0];
    if (generation !== undefined && first !== generation)
      throw this.#damage(
        journalName(generation),
        `it is missing, though ${snapshotName} is of its generation`,
      );
    for (const [index, each] of own.entries()) {
      const next = own[index + 1];
      if (next !== undefined && next !== each + 1)
        throw this.#damage(journalName(each + 1), `it is missing, though there is ${journalName(next)}`);
    }
  }

  #readJournal(
    generation: number,
    before: number,
    snapshot: Snapshot | undefined,
  ): Promise<JournalContent | undefined> {
    const name = journalName(generation);
    let known = false;
    return readJournal(
      this.#disk,
      this.#path(name),
      ({ change, nonce }, header) => {
        if (!known) this.#judgeHeader(generation, header, before, snapshot);
        known = true;
        this.#state.replay(change);
        if (nonce !== undefined) this.#nonces.push(nonce);
      },
      this.#progress(name),
    );
  }

  #judgeHeader(
    generation: number,
    header: JournalHeader,
    before: number,
    snapshot: Snapshot | undefined,
  ): void {
    const name = journalName(generation);
    const place = { line: 1, byte: 0 };
    if (header.generation !== generation)
      throw this.#damage(name, `it says that it is of generation ${header.generation}`, place);
    if (this.#lineage !== undefined && header.lineage !== this.#lineage)
      throw this.#damage(name, 'it is of another store: its lineage is another', place);
    // The copy of a snapshot is begun after its journal, and may be begun some changes later.
    const first = generation === snapshot?.head.generation;
    if (first ? header.sequence > before : header.sequence !== before)
      throw this.#damage(
        name,
        `it begins after change ${header.sequence}, where ${before} was the last`,
        place,
      );
    this.#lineage = header.lineage;
  }

  /** Decides whether what a journal ends with is the trace of a crash. */
  #judge(generation: number, content: JournalContent, { last, before, snapshot }: Standing): void {
    const name = journalName(generation);
    const { header, broken, bytes, changes } = content;
    if (header === undefined) {
      this.#judgeUnbegun(generation, content, last, snapshot);
      return;
    }
    if (changes === 0) this.#judgeHeader(generation, header, before, snapshot);
    this.#changes += changes;
    this.#journals.push({ generation, path: this.#path(name), bytes, header });
    if (broken === undefined) return;
    const place = { line: broken.line, byte: broken.byte };
    if (!broken.torn) throw this.#damage(name, broken.what, place);
    if (!last) throw this.#damage(name, `${broken.what}, though a later journal was begun after it`, place);
    const missing = content.seq + 1;
    if (content.shown >= missing)
      throw this.#damage(name, `${broken.what}, though a later line says that it was safe`, place);
    if ((snapshot?.reached ?? 0) >= missing)
      throw this.#damage(name, `${broken.what}, though ${snapshotName} was made after it was safe`, place);
    const kept = `torn-${generation}-${broken.byte}.bin`;
    this.#told.push(
      `${this.#path(name)} has a torn end, as a crash leaves it, from line ${broken.line}, at byte ${broken.byte}, on: ${broken.what}; nothing shows that it was ever safe; it is cut off and kept in ${kept}`,
    );
    this.#mends.push({ kind: 'cut', name, at: broken.byte, kept });
  }

  /** A journal without a first line: it was being begun when the server ended, or it is damaged. */
  #judgeUnbegun(
    generation: number,
    { broken, more }: JournalContent,
    last: boolean,
    snapshot: Snapshot | undefined,
  ): void {
    const name = journalName(generation);
    const place = { line: 1, byte: 0 };
    const what = broken?.what ?? 'it is empty';
    if (!last) throw this.#damage(name, `${what}, though a later journal was begun after it`, place);
    if (generation === snapshot?.head.generation)
      throw this.#damage(name, `${what}, though ${snapshotName} was made after it was begun`, place);
    if (more || broken?.torn === false) throw this.#damage(name, what, place);
    const kept = broken === undefined ? undefined : `torn-${generation}-0.bin`;
    this.#told.push(
      `${this.#path(name)} was being begun when the server ended, and has no line yet; it is ${kept === undefined ? 'removed' : `kept in ${kept}`}`,
    );
    this.#mends.push({ kind: 'remove', name, kept });
  }

  /** A snapshot is made only when all that it may have is safe in the journals. */
  #refuseLoss(sequence: number, snapshot: Snapshot | undefined): void {
    if (snapshot === undefined || sequence >= snapshot.reached) return;
    const last = this.#journals.at(-1);
    const what = `the journals end at change ${sequence}, though ${snapshotName} was made after change ${snapshot.reached} was safe`;
    throw this.#damage(
      last === undefined ? journalName(snapshot.head.generation) : journalName(last.generation),
      what,
    );
  }

  #progress(name: string): (done: number, size: number, count: number) => void {
    return (done, size, count) => this.#looking.loading?.(name, done, size, count);
  }

  #path(name: string): string {
    return join(this.#looking.directory, name);
  }

  #damage(name: string, what: string, place?: CorruptionLocation): CorruptionError {
    return new CorruptionError(this.#path(name), what, place, choices);
  }
}
