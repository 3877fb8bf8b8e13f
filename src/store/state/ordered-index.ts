import type { StoredItem } from '../store.ts';
import { type EncodedLines, type EntryHead, encodeLines, joinBytes, segmentSize } from './encoded-lines.ts';
import { EncodedSegment } from './encoded-segment.ts';
import { EntryCache } from './entry-cache.ts';
import { countUpTo, DecodedChunk, type EntryChunk } from './entry-chunk.ts';

/** The maximum number of entries in a decoded chunk. */
const maxChunkLength = 512;
/** The minimum number of entries of a decoded chunk that a copy encodes. */
const minEncodedLength = 128;

/**
 * The entries of a collection in the order of creation, in chunks. Finding an entry takes O(log n), and removing one
 * moves the entries of one chunk only. So neither depends on the position of a page or on earlier deletions.
 */
export class OrderedIndex {
  readonly #chunks: EntryChunk[] = [];
  /** The recently read entries of encoded segments. */
  readonly #cache = new EntryCache();

  /** Adds an entry. Throws RangeError if its sequence is not the highest one. */
  append(entry: StoredItem): void {
    if (this.last >= entry.sequence) throw new RangeError('entries must be appended in ascending sequence');
    const chunk = this.#chunks.at(-1);
    if (chunk instanceof DecodedChunk && chunk.count < maxChunkLength) chunk.append(entry);
    else this.#chunks.push(new DecodedChunk(entry.sequence, [entry]));
  }

  /** Inserts an entry. No other entry has its sequence. */
  insert(entry: StoredItem): void {
    const { sequence } = entry;
    const at = countUpTo(this.#chunks, sequence) - 1;
    const chunk = this.#chunks[at];
    if (sequence > this.last) this.append(entry);
    else if (chunk instanceof DecodedChunk) chunk.insert(entry);
    else if (chunk === undefined || sequence > chunk.last)
      this.#chunks.splice(at + 1, 0, new DecodedChunk(sequence, [entry]));
    else {
      const entries = new DecodedChunk(chunk.sequence, chunk.after(0, chunk.count));
      entries.insert(entry);
      this.#chunks[at] = entries;
    }
  }

  /** The highest sequence; 0 if there are no entries. */
  get last(): number {
    return this.#chunks.at(-1)?.last ?? 0;
  }

  /** Adds encoded entries, at least one, with the highest sequences. */
  appendLines(lines: EncodedLines): void {
    this.#chunks.push(new EncodedSegment(lines, this.#cache));
  }

  /** Returns the entry with this sequence, or undefined. */
  find(sequence: number): StoredItem | undefined {
    return this.#chunks[this.#indexFor(sequence)]?.find(sequence);
  }

  /** Returns the members of the entry that a change needs, without parsing the value. */
  head(sequence: number): EntryHead | undefined {
    return this.#chunks[this.#indexFor(sequence)]?.head(sequence);
  }

  /**
   * Returns encoded entries with a greater sequence, for a copy: up to `limit`, none after `end`, and about
   * `segmentSize` bytes at most. Returns none at the end. Long decoded chunks are replaced by encoded segments, which
   * need less memory, and segments with changes are encoded again.
   */
  next(sequence: number, limit: number, end = Number.POSITIVE_INFINITY): EncodedLines[] {
    const pieces: EncodedLines[] = [];
    let [count, size, reached] = [0, 0, sequence];
    for (let at = this.#indexFor(sequence); count < limit && size < segmentSize; at += 1) {
      const chunk = this.#encoded(at, limit, end);
      const piece = chunk?.piece(reached, limit - count, end);
      if (chunk === undefined || (piece === undefined && chunk.last > end)) break;
      if (piece === undefined) continue;
      // The lines of one segment stay together.
      if (count > 0 && count + piece.sequences.length > limit) break;
      pieces.push(piece);
      count += piece.sequences.length;
      size += joinBytes(piece).length;
      reached = piece.sequences.at(-1) ?? 0;
      if (reached < chunk.last) break;
    }
    return pieces;
  }

  /** Replaces the entry with the same sequence. Throws RangeError if there is none. */
  replace(entry: StoredItem): void {
    if (!this.#chunks[this.#indexFor(entry.sequence)]?.replace(entry)) throw noEntry();
    this.#cache.forget(entry.sequence);
  }

  /** Removes the entry with this sequence. Throws RangeError if there is none. */
  remove(sequence: number): void {
    const at = this.#indexFor(sequence);
    const chunk = this.#chunks[at];
    if (!chunk?.remove(sequence)) throw noEntry();
    this.#cache.forget(sequence);
    if (chunk.count === 0) this.#chunks.splice(at, 1);
  }

  /**
   * Returns up to `limit` entries with a greater sequence, and whether more follow. It stops after lines of `bytes` bytes
   * were read, with at least one entry.
   */
  after(
    sequence: number,
    limit: number,
    bytes = Number.POSITIVE_INFINITY,
  ): { entries: StoredItem[]; more: boolean } {
    const entries: StoredItem[] = [];
    let read = 0;
    for (let at = this.#indexFor(sequence); entries.length < limit && read < bytes; at += 1) {
      const chunk = this.#chunks[at];
      if (chunk === undefined) break;
      const left = limit - entries.length;
      if (chunk instanceof EncodedSegment) read += chunk.readAfter(sequence, left, bytes - read, entries);
      else entries.push(...chunk.after(sequence, left));
    }
    return { entries, more: this.last > (entries.at(-1)?.sequence ?? sequence) };
  }

  /** Iterates over all entries in order. */
  *[Symbol.iterator](): Generator<StoredItem> {
    for (const chunk of this.#chunks) yield* chunk.after(0, chunk.count);
  }

  /** Returns a chunk. If it has changes, or many entries up to `end`, it is first replaced by an encoded segment. */
  #encoded(at: number, limit: number, end: number): EntryChunk | undefined {
    const chunk = this.#chunks[at];
    if (chunk instanceof EncodedSegment) {
      if (chunk.hasChanges) this.#encode(at, chunk.parts());
    } else if (chunk !== undefined) {
      const entries = chunk.after(0, limit).filter(({ sequence }) => sequence <= end);
      if (entries.length >= minEncodedLength) this.#encode(at, entries);
    }
    return this.#chunks[at];
  }

  /** Replaces a chunk by an encoded segment of its first entries, and a decoded chunk of the others. */
  #encode(at: number, parts: Iterable<StoredItem | EncodedLines>): void {
    const chunk = this.#chunks[at];
    const lines = encodeLines(parts);
    const rest = chunk?.after(lines.sequences.at(-1) ?? 0, chunk.count) ?? [];
    const [first] = rest;
    const others = first === undefined ? [] : [new DecodedChunk(first.sequence, rest)];
    this.#chunks.splice(at, 1, new EncodedSegment(lines, this.#cache), ...others);
  }

  /** Returns the index of the chunk for this sequence. */
  #indexFor(sequence: number): number {
    return Math.max(0, countUpTo(this.#chunks, sequence) - 1);
  }
}

function noEntry(): RangeError {
  return new RangeError('no entry has this sequence');
}
