import type { StoredItem } from '../store.ts';
import { type EncodedLines, type EntryHead, parseHead, parseLine, sliceLines } from './encoded-lines.ts';
import type { EntryCache } from './entry-cache.ts';
import type { EntryChunk } from './entry-chunk.ts';

/**
 * A chunk of items, encoded as lines of a snapshot. As objects, they would need twice the memory and slow down garbage
 * collection. An item is parsed when it is read. The lines are immutable: changed items are in a map. When too many
 * have changed, or the collection is copied, the items are encoded into a new segment.
 */
export class EncodedSegment implements EntryChunk {
  readonly sequence: number;
  readonly lines: EncodedLines;
  readonly #cache: EntryCache;
  /** The changed items by the index of their line; undefined for a removed one. */
  readonly #changed = new Map<number, StoredItem | undefined>();
  #count: number;

  /** Takes ownership of the lines, at least one. `cache` belongs to the collection. */
  constructor(lines: EncodedLines, cache: EntryCache) {
    this.lines = lines;
    this.#cache = cache;
    this.#count = lines.sequences.length;
    this.sequence = this.#readSequence(0);
  }

  get count(): number {
    return this.#count;
  }

  get last(): number {
    let line = this.lines.sequences.length - 1;
    while (line > 0 && this.#isRemoved(line)) line -= 1;
    return this.#readSequence(line);
  }

  get hasChanges(): boolean {
    return this.#changed.size > 0;
  }

  find(sequence: number): StoredItem | undefined {
    const line = this.#findLine(sequence);
    return line < 0 ? undefined : this.#entryAt(line);
  }

  head(sequence: number): EntryHead | undefined {
    const line = this.#findLine(sequence);
    if (line < 0) return undefined;
    const { bytes, starts } = this.lines;
    return this.#changed.get(line) ?? parseHead(bytes, starts[line] ?? 0, (starts[line + 1] ?? 0) - 1);
  }

  replace(entry: StoredItem): boolean {
    const line = this.#findLine(entry.sequence);
    if (line >= 0) this.#changed.set(line, entry);
    return line >= 0;
  }

  remove(sequence: number): boolean {
    const line = this.#findLine(sequence);
    if (line < 0) return false;
    this.#changed.set(line, undefined);
    this.#count -= 1;
    return true;
  }

  after(sequence: number, limit: number): StoredItem[] {
    const entries: StoredItem[] = [];
    this.readAfter(sequence, limit, Number.POSITIVE_INFINITY, entries);
    return entries;
  }

  /**
   * Adds up to `limit` entries with a greater sequence to `entries`, until lines of `bytes` bytes were read. Returns the
   * number of bytes read. A changed item counts with the length of its old line.
   */
  readAfter(sequence: number, limit: number, bytes: number, entries: StoredItem[]): number {
    let [line, left, read] = [this.#linesUpTo(sequence), limit, 0];
    for (; line < this.lines.sequences.length && left > 0 && read < bytes; line += 1) {
      if (this.#isRemoved(line)) continue;
      entries.push(this.#entryAt(line));
      read += this.#readLength(line);
      left -= 1;
    }
    return read;
  }

  /** Returns all lines with a greater sequence. The segment must not have changes. */
  piece(sequence: number): EncodedLines | undefined {
    const { length } = this.lines.sequences;
    const first = this.#linesUpTo(sequence);
    return first === length ? undefined : sliceLines(this.lines, first, length);
  }

  /** Returns the changed items, and the lines between them. */
  *parts(): Generator<StoredItem | EncodedLines> {
    let first = 0;
    for (const line of [...this.#changed.keys(), this.lines.sequences.length].sort(
      (one, other) => one - other,
    )) {
      if (line > first) yield sliceLines(this.lines, first, line);
      const changed = this.#changed.get(line);
      if (changed !== undefined) yield changed;
      first = line + 1;
    }
  }

  #entryAt(line: number): StoredItem {
    const { bytes, starts } = this.lines;
    const parse = (): StoredItem => parseLine(bytes, starts[line] ?? 0, (starts[line + 1] ?? 0) - 1);
    return (
      this.#changed.get(line) ?? this.#cache.get(this.#readSequence(line), this.#readLength(line), parse)
    );
  }

  #readLength(line: number): number {
    const { starts } = this.lines;
    return (starts[line + 1] ?? 0) - (starts[line] ?? 0);
  }

  #isRemoved(line: number): boolean {
    return this.#changed.has(line) && this.#changed.get(line) === undefined;
  }

  #readSequence(line: number): number {
    return this.lines.sequences[line] ?? 0;
  }

  /** Returns the line with this sequence, or -1. */
  #findLine(sequence: number): number {
    const line = this.#linesUpTo(sequence) - 1;
    return line >= 0 && this.#readSequence(line) === sequence && !this.#isRemoved(line) ? line : -1;
  }

  /** Returns the number of lines whose sequence is at most this. */
  #linesUpTo(sequence: number): number {
    let [low, high] = [0, this.lines.sequences.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#readSequence(middle) <= sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
