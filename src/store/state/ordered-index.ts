import type { Entry } from '../store.ts';
import {
  allocateLines,
  bytesOf,
  type EncodedLines,
  type EntryHead,
  encodeLines,
  segmentSize,
  spareRoom,
} from './encoded/lines.ts';
import { EncodedSegment } from './encoded/segment.ts';
import { EntryCache } from './entry-cache.ts';
import { countUpTo, DecodedChunk, type EntryChunk } from './entry-chunk.ts';

/** The most entries in a run of objects. */
const runLength = 512;
/** A copy turns a run of at least so many entries into a segment. */
const leastEncoded = 128;

/**
 * The entries of a collection in the order of their creation. Finding a place costs O(log n), and removing an
 * entry moves at most one run, so neither depends on the position of a page or on the number of earlier deletions.
 */
export class OrderedIndex {
  readonly #runs: EntryChunk[] = [];
  /** Of items in segments. */
  readonly #recent = new EntryCache();
  /** The bytes of a segment that was replaced: those of the next one, so that fewer wait for the garbage collector. */
  #spare: Buffer | undefined;

  /** Adds an entry whose sequence is above all others. Throws RangeError when it is not. */
  append(entry: Entry): void {
    if (this.last >= entry.sequence) throw new RangeError('an entry is appended in the order of sequence');
    const run = this.#runs.at(-1);
    if (run instanceof DecodedChunk && run.count < runLength) run.append(entry);
    else this.#runs.push(new DecodedChunk(entry.sequence, [entry]));
  }

  /** Adds an entry in its place; no other has its sequence. */
  insert(entry: Entry): void {
    const { sequence } = entry;
    const at = countUpTo(this.#runs, sequence) - 1;
    const run = this.#runs[at];
    if (sequence > this.last) this.append(entry);
    else if (run instanceof DecodedChunk) run.insert(entry);
    else if (run === undefined || sequence > run.last)
      this.#runs.splice(at + 1, 0, new DecodedChunk(sequence, [entry]));
    else {
      const entries = new DecodedChunk(run.sequence, run.after(0, run.count));
      entries.insert(entry);
      this.#runs[at] = entries;
    }
  }

  /** The highest sequence; 0 when there is none. */
  get last(): number {
    return this.#runs.at(-1)?.last ?? 0;
  }

  /** Adds lines, at least one, whose sequences are above all others. */
  appendLines(lines: EncodedLines): void {
    this.#runs.push(new EncodedSegment(lines, this.#recent));
  }

  /** Returns the entry with this sequence, or undefined. */
  find(sequence: number): Entry | undefined {
    return this.#runs[this.#indexFor(sequence)]?.find(sequence);
  }

  /** Returns the same without parsing the value. */
  head(sequence: number): EntryHead | undefined {
    return this.#runs[this.#indexFor(sequence)]?.head(sequence);
  }

  /**
   * Returns the items that follow this sequence, for a copy: up to `limit`, none after `end`, and none once there are
   * enough bytes; nothing at the end. Long runs become segments, which take less memory from then on, and segments with changes
   * are encoded again.
   */
  next(sequence: number, limit: number, end = Number.POSITIVE_INFINITY): EncodedLines[] {
    const pieces: EncodedLines[] = [];
    let [count, size, reached] = [0, 0, sequence];
    for (let at = this.#indexFor(sequence); count < limit && size < segmentSize; at += 1) {
      const run = this.#encoded(at, limit, end);
      const piece = run?.piece(reached, limit - count, end);
      if (run === undefined || (piece === undefined && run.last > end)) break;
      if (piece === undefined) continue;
      // A segment is never divided.
      if (count > 0 && count + piece.sequences.length > limit) break;
      pieces.push(piece);
      count += piece.sequences.length;
      size += bytesOf(piece).length;
      reached = piece.sequences.at(-1) ?? 0;
      if (reached < run.last) break;
    }
    return pieces;
  }

  /** Replaces the entry with the same sequence. Throws RangeError when there is none. */
  replace(entry: Entry): void {
    const at = this.#indexFor(entry.sequence);
    const run = this.#runs[at];
    if (!run?.replace(entry)) throw noEntry();
    this.#recent.forget(entry.sequence);
    if (run instanceof EncodedSegment && run.isOutdated) this.#encode(at, run.parts());
  }

  /** Removes the entry with this sequence. Throws RangeError when there is none. */
  remove(sequence: number): void {
    const at = this.#indexFor(sequence);
    const run = this.#runs[at];
    if (!run?.remove(sequence)) throw noEntry();
    this.#recent.forget(sequence);
    if (run.count === 0) this.#runs.splice(at, 1);
  }

  /**
   * Returns up to `limit` entries with a greater sequence, and whether others follow them. It ends where lines of so
   * many bytes were read, after one entry at least.
   */
  after(
    sequence: number,
    limit: number,
    bytes = Number.POSITIVE_INFINITY,
  ): { entries: Entry[]; more: boolean } {
    const entries: Entry[] = [];
    let read = 0;
    for (let at = this.#indexFor(sequence); entries.length < limit && read < bytes; at += 1) {
      const run = this.#runs[at];
      if (run === undefined) break;
      const left = limit - entries.length;
      if (run instanceof EncodedSegment) read += run.readAfter(sequence, left, bytes - read, entries);
      else entries.push(...run.after(sequence, left));
    }
    return { entries, more: this.last > (entries.at(-1)?.sequence ?? sequence) };
  }

  /** All entries in order. */
  *[Symbol.iterator](): Generator<Entry> {
    for (const run of this.#runs) yield* run.after(0, run.count);
  }

  /** Returns a run, as a segment without changes if it is a segment or has many entries up to `end`. */
  #encoded(at: number, limit: number, end: number): EntryChunk | undefined {
    const run = this.#runs[at];
    if (run instanceof EncodedSegment) {
      if (run.hasChanges) this.#encode(at, run.parts());
    } else if (run !== undefined) {
      const entries = run.after(0, limit).filter(({ sequence }) => sequence <= end);
      if (entries.length >= leastEncoded) this.#encode(at, entries);
    }
    return this.#runs[at];
  }

  /** Replaces a run by a segment of its first items, and a run of those that remain. */
  #encode(at: number, parts: Iterable<Entry | EncodedLines>): void {
    const run = this.#runs[at];
    const lines = encodeLines(parts, (length) => this.#allocate(length));
    const rest = run?.after(lines.sequences.at(-1) ?? 0, run.count) ?? [];
    const [first] = rest;
    const others = first === undefined ? [] : [new DecodedChunk(first.sequence, rest)];
    this.#runs.splice(at, 1, new EncodedSegment(lines, this.#recent), ...others);
    if (run instanceof EncodedSegment) this.#spare = run.lines.bytes;
  }

  /** Returns the bytes of the segment that was replaced last, if they are neither too few nor too many. */
  #allocate(length: number): Buffer {
    const spare = this.#spare;
    if (spare === undefined || length > spare.length || length * (1 + 2 * spareRoom) < spare.length)
      return allocateLines(length);
    this.#spare = undefined;
    return spare;
  }

  /** Returns the index of the run that has this sequence or would have it. */
  #indexFor(sequence: number): number {
    return Math.max(0, countUpTo(this.#runs, sequence) - 1);
  }
}

function noEntry(): RangeError {
  return new RangeError('no entry has this sequence');
}
