// Reads store.jsonl, whose lines have the form of a log: its head, blocks of items and receipts, and its end.
import { CorruptionError, type CorruptionLocation } from '../corruption-error.ts';
import type { Disk } from '../files/disk.ts';
import { type LogContent, type LogFormat, readLogFile } from '../log/reader.ts';
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
  progress?: Progress,
): Promise<Snapshot | undefined> {
  const state = new State();
  const read = await readLines(disk, path, (record) => state.take(record), { progress });
  if (read === undefined) return undefined;
  const { head, reached, broken, lines, bytes } = read;
  if (broken !== undefined) throw corruption(path, broken.reason, broken);
  if (head === undefined || reached === undefined)
    throw corruption(path, 'the file is truncated here', { line: lines + 1, byte: bytes });
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
  let isDamaged = false;
  const read = await readLines(disk, path, take, {
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
  if (read !== undefined && !isDamaged && read.isGapless && read.reached !== undefined) return read.head;
  onLost(
    read === undefined
      ? `${path} is missing`
      : `${path}: it is damaged, and data that is not listed here may be lost`,
  );
  return undefined;
}

/** What the lines of a snapshot contain. */
interface SnapshotLines extends Omit<LogContent<SnapshotHead>, 'head'> {
  readonly head: HeadRecord | undefined;
  /** Undefined unless the last line was the end. */
  readonly reached: number | undefined;
  /** Whether no line is missing between others. */
  readonly isGapless: boolean;
}

/** Reads the lines of a snapshot. Returns undefined if there is no such file. Throws CorruptionError unless lines are skipped. */
async function readLines(
  disk: Disk,
  path: string,
  take: (record: Record) => void,
  {
    skip,
    progress,
  }: Pick<LogFormat<SnapshotHead, BlockRecord>, 'skip'> & { readonly progress?: Progress | undefined },
): Promise<SnapshotLines | undefined> {
  let head: HeadRecord | undefined;
  let reached: number | undefined;
  let [last, items, isGapless] = [0, 0, true];
  const format: LogFormat<SnapshotHead, BlockRecord | EndRecord> = {
    name: 'snapshot',
    preallocated: false,
    read: readSnapshotRecord,
    take(record) {
      reached = record.kind === 'end' ? record.reached : undefined;
      if (record.kind === 'head') {
        head = record.store;
        take(head);
        return;
      }
      isGapless &&= record.seq === last + 1;
      last = record.seq;
      if (record.kind === 'end') return;
      for (const part of record.parts) {
        take(part);
        if (part.kind === 'item') items += 1;
      }
    },
    skip,
    reject: ({ message }, position) => corruption(path, message, position),
  };
  const content = await readLogFile(disk, path, format, (done, size) => progress?.(done, size, items));
  return content && { ...content, head, reached, isGapless };
}

function corruption(path: string, reason: string, { line, byte }: CorruptionLocation): CorruptionError {
  return new CorruptionError(path, reason, { line, byte }, advice);
}
