import { parseHead, parseLine, type ScannedLines } from './kept-lines.ts';
import type { RecentEntries } from './recent-entries.ts';
import type { EntryHead, KeptLines, Piece, Run } from './run.ts';
import type { Entry } from './store.ts';

/**
 * Items of a snapshot, kept as the bytes that they were read as: a million of them as objects would take more memory,
 * and the collector of garbage would have to look at each. An item that somebody asks for is read by itself, which takes
 * a few microseconds. Only what was changed since, or was asked for lately, is an object.
 */
export class KeptRun implements Run {
  readonly sequence: number;
  readonly #recent: RecentEntries;
  readonly #starts: Uint32Array;
  /** That of each line; undefined where they are in a row. */
  readonly #sequences: Float64Array | undefined;
  /** The lines; none when all items were changed. */
  #bytes: Buffer;
  /** What was changed: by line, the entry that it is now, or null when it was taken out. */
  #changed: (Entry | null | undefined)[] | undefined;
  #unchanged: number;
  #count: number;

  /** The bytes, which are copied, are what was scanned: at least one line. `recent` is that of the collection. */
  constructor(bytes: Buffer, { starts, sequences }: ScannedLines, recent: RecentEntries) {
    this.#recent = recent;
    // Bytes of their own: those of a shared slab would hold the whole of it.
    this.#bytes = Buffer.allocUnsafeSlow(bytes.length);
    bytes.copy(this.#bytes);
    this.#starts = starts;
    this.#count = sequences.length;
    this.#unchanged = sequences.length;
    this.sequence = sequences[0] ?? 0;
    const inRow = (sequences.at(-1) ?? 0) - this.sequence + 1 === sequences.length;
    this.#sequences = inRow ? undefined : Float64Array.from(sequences);
  }

  get count(): number {
    return this.#count;
  }

  get last(): number {
    let line = this.#lines - 1;
    while (line > 0 && this.#changed?.[line] === null) line -= 1;
    return this.#sequenceOf(line);
  }

  find(sequence: number): Entry | undefined {
    const line = this.#lineOf(sequence);
    return line < 0 ? undefined : this.#entryAt(line);
  }

  head(sequence: number): EntryHead | undefined {
    const line = this.#lineOf(sequence);
    const changed = this.#changed?.[line];
    if (line < 0 || changed === null) return undefined;
    const [from = 0, to = 0] = [this.#starts[line], this.#starts[line + 1]];
    return changed ?? parseHead(this.#bytes, from, to - 1, sequence);
  }

  replace(entry: Entry): boolean {
    return this.#change(entry.sequence, entry);
  }

  remove(sequence: number): boolean {
    if (!this.#change(sequence, null)) return false;
    this.#count -= 1;
    return true;
  }

  after(sequence: number, limit: number): Entry[] {
    const entries: Entry[] = [];
    for (let line = this.#linesUpTo(sequence); line < this.#lines && entries.length < limit; line += 1) {
      const entry = this.#entryAt(line);
      if (entry !== undefined) entries.push(entry);
    }
    return entries;
  }

  /** All entries with a greater sequence: where lines are as they were read, as these. */
  pieces(sequence: number): Piece[] {
    const pieces: Piece[] = [];
    let from = this.#linesUpTo(sequence);
    for (let line = from; line < this.#lines; line += 1) {
      const entry = this.#changed?.[line];
      if (entry === undefined) continue;
      if (from < line) pieces.push(this.#keptLines(from, line));
      if (entry !== null) pieces.push(entry);
      from = line + 1;
    }
    if (from < this.#lines) pieces.push(this.#keptLines(from, this.#lines));
    return pieces;
  }

  get #lines(): number {
    return this.#starts.length - 1;
  }

  #keptLines(from: number, to: number): KeptLines {
    const bytes = this.#bytes.subarray(this.#starts[from], this.#starts[to]);
    return { bytes, count: to - from, sequence: this.#sequenceOf(to - 1) };
  }

  #entryAt(line: number): Entry | undefined {
    const changed = this.#changed?.[line];
    if (changed !== undefined) return changed ?? undefined;
    const [from = 0, to = 0] = [this.#starts[line], this.#starts[line + 1]];
    return this.#recent.get(this.#sequenceOf(line), () => parseLine(this.#bytes, from, to - 1));
  }

  #change(sequence: number, to: Entry | null): boolean {
    const line = this.#lineOf(sequence);
    if (line < 0 || this.#changed?.[line] === null) return false;
    this.#changed ??= new Array(this.#lines).fill(undefined);
    if (this.#changed[line] === undefined) this.#unchanged -= 1;
    this.#changed[line] = to;
    if (this.#unchanged === 0) this.#bytes = Buffer.alloc(0);
    return true;
  }

  /** The line with this sequence; -1 when there is none. */
  #lineOf(sequence: number): number {
    const line = this.#linesUpTo(sequence) - 1;
    return line >= 0 && this.#sequenceOf(line) === sequence ? line : -1;
  }

  #sequenceOf(line: number): number {
    return this.#sequences === undefined ? this.sequence + line : (this.#sequences[line] ?? 0);
  }

  /** How many lines have at most this sequence. */
  #linesUpTo(sequence: number): number {
    let [low, high] = [0, this.#lines];
    if (this.#sequences === undefined) return Math.min(high, Math.max(0, sequence - this.sequence + 1));
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#sequenceOf(middle) <= sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
