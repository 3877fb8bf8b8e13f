import { join } from 'node:path';
import { previousName, snapshotName } from './files/data-files.ts';
import type { Disk } from './files/disk.ts';
import { formatLogName, listLogNumbers } from './log/line.ts';
import { readLogFile } from './log/reader.ts';
import { type ChangeRecord, type HeadRecord, type Record, readJournalRecord } from './record.ts';
import { salvageSnapshot } from './snapshot/reader.ts';
import { State } from './state/state.ts';

/** What could be read of a damaged directory. */
interface Salvaged {
  readonly state: State;
  /** Descriptions of skipped and doubtful data, one sentence each. */
  readonly lost: readonly string[];
}

/**
 * Reads what can be read of a damaged directory. If the newest snapshot is damaged, the previous one is read too. The newest
 * revision of each item is used.
 * @param reason why the directory cannot be used
 */
export function salvage(disk: Disk, directory: string, reason: string): Promise<Salvaged> {
  return new Salvage(directory, disk, reason).run();
}

class Salvage {
  readonly #directory: string;
  readonly #disk: Disk;
  readonly #state = new State();
  readonly #lost: string[];

  /** @param reason why the directory cannot be used */
  constructor(directory: string, disk: Disk, reason: string) {
    this.#directory = directory;
    this.#disk = disk;
    this.#lost = [reason];
  }

  async run(): Promise<Salvaged> {
    const first = await this.#takeSnapshots();
    const all = listLogNumbers('journal', await this.#disk.list(this.#directory));
    let [before, former]: (number | undefined)[] = [];
    for (const generation of all.filter((each) => each >= first)) {
      if (former !== undefined && former + 1 !== generation)
        this.#lose(`${this.#path(formatLogName('journal', former + 1))} is missing with all its changes`);
      before = await this.#takeJournal(formatLogName('journal', generation), before);
      former = generation;
    }
    return { state: this.#state, lost: this.#lost };
  }

  /** Reads the snapshots. Returns the generation of the first journal to read. */
  async #takeSnapshots(): Promise<number> {
    const newest = await this.#takeSnapshot(snapshotName);
    if (newest !== undefined) return newest.generation;
    await this.#takeSnapshot(previousName);
    return 0;
  }

  #takeSnapshot(name: string): Promise<HeadRecord | undefined> {
    const take = (record: Record): void => this.#state.take(record);
    return salvageSnapshot(this.#disk, this.#path(name), take, (what) => this.#lose(what));
  }

  /** Adds the readable changes of a journal. Returns the number of the last one. */
  async #takeJournal(name: string, before: number | undefined): Promise<number | undefined> {
    const path = this.#path(name);
    let last = before;
    await readLogFile<HeadRecord, ChangeRecord>(this.#disk, path, {
      name: 'journal',
      preallocated: true,
      read: readJournalRecord,
      take: (record, { line }) => {
        const [where, reached, next] =
          record.kind === 'head'
            ? [`before ${path}`, record.sequence, record.sequence + 1]
            : [`${path}, before line ${line}`, record.seq, record.seq];
        if (last !== undefined && next > last + 1)
          this.#lose(`${where}: ${describeChanges(last + 1, next - 1)}`);
        last = Math.max(last ?? 0, reached);
        this.#state.take(record);
      },
      skip: ({ line }) => this.#lose(`${path}, line ${line}: it cannot be read`),
      reject: (fault) => fault,
    });
    return last;
  }

  #lose(what: string): void {
    this.#lost.push(what);
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}

function describeChanges(first: number, last: number): string {
  return first === last ? `change ${first} is lost` : `changes ${first} to ${last} are lost`;
}
