// Reads store.jsonl, whose lines have the form of a log: its head, blocks of items and receipts, and its end.
import { CorruptionError, type CorruptionLocation } from '../corruption-error.ts';
import type { Disk } from '../files/disk.ts';
import { type LogFormat, readLogFile } from '../log/reader.ts';
import {
  type BlockRecord,
  type EndRecord,
  type HeadRecord,
  type Record,
  readSnapshotRecord,
  type SnapshotHead,
  salvageBlock,
} from '../record.ts';
import { State } from '../state/state.ts';

/** Reports progress: the bytes read, the length of the file, and the number of items read. */
export type Progress = (done: number, size: number, items: number) => void;

/** The content of store.jsonl. */
export interface Snapshot {
  readonly head: HeadRecord;
  /** The number of the last change that the snapshot may contain. */
  readonly reached: number;
  readonly state: State;
}

/** What the user can do about a corrupt snapshot. */
const advice =
  'Restore a copy of it with its journals, or write what can be read to a new directory with "countersign check --repair NEWDIR"; to edit items, use "countersign export" and "countersign import"';

/** Reads a snapshot. Returns undefined if there is no such file. Throws CorruptionError. */
export async function readSnapshot(
  disk: Disk,
  path: string,
  progress: Progress = () => {},
): Promise<Snapshot | undefined> {
  const state = new State();
  const reader = new SnapshotReader(path, (record) => state.take(record));
  const content = await readLogFile(disk, path, reader.format(), (done, size) =>
    progress(done, size, reader.items),
  );
  if (content === undefined) return undefined;
  const { broken, lines, bytes } = content;
  const { head, reached } = reader;
  if (broken !== undefined) throw reader.corruption(broken.reason, broken);
  if (head === undefined || reached === undefined)
    throw reader.corruption('the file is truncated here', { line: lines + 1, byte: bytes });
  return { head, reached, state };
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
  const reader = new SnapshotReader(path, take);
  let isDamaged = false;
  const content = await readLogFile(disk, path, {
    ...reader.format(),
    skip({ line }, bytes) {
      isDamaged = true;
      const where = `${path}, line ${line}`;
      let recovered = 0;
      const parts = salvageBlock(bytes.toString('utf8'), (part) =>
        onLost(`${where}, part ${part}: it cannot be read`),
      );
      for (const part of parts) {
        take(part);
        recovered += 1;
      }
      if (recovered > 0) onLost(`${where}: recovered, but perhaps not as it was written`);
    },
  });
  if (content === undefined) {
    onLost(`${path} is missing`);
    return undefined;
  }
  if (!isDamaged && reader.isGapless && reader.reached !== undefined) return reader.head;
  onLost(`${path}: it is damaged, and data that is not listed here may be lost`);
  return undefined;
}

/** What the lines of a snapshot contain. */
class SnapshotReader {
  readonly #path: string;
  readonly #take: (record: Record) => void;
  head: HeadRecord | undefined;
  /** Undefined unless the last line was the end. */
  reached: number | undefined;
  /** The number of items read. */
  items = 0;
  /** Whether no line is missing between others. */
  isGapless = true;
  #last = 0;

  constructor(path: string, take: (record: Record) => void) {
    this.#path = path;
    this.#take = take;
  }

  format(): LogFormat<SnapshotHead, BlockRecord | EndRecord> {
    return {
      name: 'snapshot',
      preallocated: false,
      read: readSnapshotRecord,
      take: (record) => this.#takeRecord(record),
      reject: ({ message }, position) => this.corruption(message, position),
    };
  }

  corruption(reason: string, { line, byte }: CorruptionLocation): CorruptionError {
    return new CorruptionError(this.#path, reason, { line, byte }, advice);
  }

  #takeRecord(record: SnapshotHead | BlockRecord | EndRecord): void {
    this.reached = record.kind === 'end' ? record.reached : undefined;
    if (record.kind === 'head') {
      this.head = record.store;
      this.#take(record.store);
      return;
    }
    this.isGapless &&= record.seq === this.#last + 1;
    this.#last = record.seq;
    if (record.kind === 'end') return;
    for (const part of record.parts) {
      this.#take(part);
      if (part.kind === 'item') this.items += 1;
    }
  }
}
