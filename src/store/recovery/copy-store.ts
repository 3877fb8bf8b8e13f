// Copies a store that a server may be changing, without a lock: opens the snapshot, then the journals since its generation, and
// copies complete lines. Open files stay readable when a compaction deletes them; if one was deleted before, the copy starts
// again. The caller moves the files into their directory while a marker file prevents a start.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { delay } from '../../timers.ts';
import { CorruptionError } from '../corruption-error.ts';
import { fileMode, step, writeWhole } from '../files/atomic-write.ts';
import { rejectIncompleteCopy } from '../files/directory.ts';
import { type Disk, nodeDisk, type ReadableFile } from '../files/disk.ts';
import { findHolder } from '../files/lock.ts';
import { formatLogName, parseLogName } from '../log/line.ts';
import { previousName, snapshotName } from '../snapshot/writer.ts';
import { type Examined, examine, recover } from './recovery.ts';

/** The number of attempts if a server uses the directory; otherwise, because it may run in another container. */
const [maxAttempts, attemptsWithoutServer] = [10, 3];
/** The delay before the second attempt (ms); it increases by this with every attempt. */
const firstDelay = 20;
const chunkSize = 1024 * 1024;
const newline = 0x0a;

/** Files changed while they were copied, so that they do not match. */
class ChangedMeanwhile extends Error {
  readonly code = 'changed';
}

/**
 * Copies the snapshot and the journals of a data directory to another one, without nonces. A server may be using the
 * first one: the copy contains all changes that were acknowledged before the call, and perhaps later ones, without gaps.
 * Verifies the checksums of the copy.
 *
 * The files are opened before they are copied: a snapshot is replaced but never changed, journals only grow, and deleted
 * files can be read as long as they are open. If one was deleted before it was opened, all files are copied again.
 *
 * @param to an empty directory, whose lock the caller holds, or that no other process knows
 * @returns the content of the copy
 * @throws CorruptionError if a file is corrupt, DirectoryError if the directory is an interrupted copy, StoreError if the
 *   copy cannot be written
 */
export async function copyStore(from: string, to: string): Promise<Examined> {
  for (let attempt = 1; ; attempt += 1) {
    const inUse = (await findHolder(from)) !== undefined;
    const last = attempt >= (inUse ? maxAttempts : attemptsWithoutServer);
    const whole = last || !inUse;
    try {
      await copyFiles(from, to, whole);
      const copied = await examine({ directory: to });
      if (copied.reports.length === 0) return copied;
      // Without a server, this is the effect of a crash. Otherwise, a write may have been in progress.
      if (whole) return { ...copied, ...(await recover({ directory: to })) };
    } catch (error) {
      if (!(error instanceof CorruptionError || error instanceof ChangedMeanwhile)) throw error;
      if (last) {
        await examine({ directory: from }); // throws the error with the path of the original file
        throw error;
      }
    }
    for (const name of await nodeDisk.list(to)) await rm(join(to, name), { force: true });
    await delay(firstDelay * attempt);
  }
}

/** A file that is open, and its name in the copy. */
interface Opened {
  readonly name: string;
  readonly file: ReadableFile;
}

/**
 * Copies the files once.
 * @param whole whether journals are copied completely, with what follows their lines
 * @throws ChangedMeanwhile
 */
async function copyFiles(from: string, to: string, whole: boolean): Promise<void> {
  const opened: Opened[] = [];
  try {
    const snapshot = await openSnapshot(from);
    if (snapshot !== undefined) opened.push(snapshot);
    const journals = await openJournals(
      from,
      snapshot === undefined ? 0 : await readGeneration(snapshot.file),
    );
    opened.push(...journals);
    if (snapshot !== undefined) await copyAll(snapshot.file, join(to, snapshotName));
    const copy = whole ? copyAll : copyLines;
    for (const { name, file } of journals) await copy(file, join(to, name));
  } finally {
    for (const { file } of opened) await file.close();
  }
  await nodeDisk.syncDirectory(to);
}

/** Opens the current snapshot or, while it is being replaced, the previous one. Returns undefined if there is none. */
async function openSnapshot(directory: string): Promise<Opened | undefined> {
  for (const name of [snapshotName, previousName]) {
    const file = await nodeDisk.openToRead(join(directory, name));
    if (file !== undefined) return { name: snapshotName, file };
  }
  return undefined;
}

/** Returns the generation in the first line of a snapshot; 0 if it has none, so that the copy is found to be corrupt. */
async function readGeneration(file: ReadableFile): Promise<number> {
  const bytes = Buffer.alloc(1024);
  const length = await file.read(bytes, 0);
  return Number(/"generation":([0-9]{1,15}),/.exec(bytes.toString('latin1', 0, length))?.[1] ?? 0);
}

/** Opens the journals from a generation on, in order. */
async function openJournals(directory: string, first: number): Promise<readonly Opened[]> {
  const names = await nodeDisk.list(directory);
  rejectIncompleteCopy(directory, names);
  const generations = names
    .map((name) => parseLogName('journal', name))
    .filter((each) => each !== undefined && each >= first);
  const opened: Opened[] = [];
  try {
    for (const generation of generations.sort((one = 0, other = 0) => one - other)) {
      const name = formatLogName('journal', generation ?? 0);
      const file = await nodeDisk.openToRead(join(directory, name));
      if (file === undefined)
        throw new ChangedMeanwhile(`${join(directory, name)} was deleted while the directory was copied`);
      opened.push({ name, file });
    }
    return opened;
  } catch (error) {
    for (const { file } of opened) await file.close();
    throw error;
  }
}

/** Copies a file that does not change. */
async function copyAll(source: ReadableFile, path: string): Promise<void> {
  await writeCopy(nodeDisk, path, source, (bytes) => bytes);
}

/**
 * Copies the complete lines of a journal up to the preallocated space, which consists of NUL bytes. Throws
 * ChangedMeanwhile if anything follows these.
 */
async function copyLines(source: ReadableFile, path: string): Promise<void> {
  let [written, end, ended] = [0, 0, false];
  await writeCopy(nodeDisk, path, source, (bytes) => {
    const nul = ended ? 0 : bytes.indexOf(0);
    const lines = nul < 0 ? bytes : bytes.subarray(0, nul);
    ended ||= nul >= 0;
    if (ended && bytes.subarray(lines.length).some((byte) => byte !== 0))
      throw new ChangedMeanwhile(`a journal was overwritten while it was copied to ${path}`);
    const last = lines.lastIndexOf(newline);
    if (last >= 0) end = written + last + 1;
    written += lines.length;
    return lines;
  });
  if (end < written) await nodeDisk.truncate(path, end);
}

/** Creates a file with those bytes of another one that `select` returns for each chunk, and syncs it. */
async function writeCopy(
  disk: Disk,
  path: string,
  source: ReadableFile,
  select: (bytes: Buffer) => Buffer,
): Promise<void> {
  const file = await step(path, 'open', disk.create(path, fileMode));
  try {
    const buffer = Buffer.allocUnsafe(chunkSize);
    for (let position = 0; ; ) {
      const read = await source.read(buffer, position);
      if (read === 0) break;
      await writeWhole(file, select(buffer.subarray(0, read)), path);
      position += read;
    }
    await step(path, 'fsync', file.sync());
  } finally {
    await file.close();
  }
}
