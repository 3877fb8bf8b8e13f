import { layLines, type ScannedLines, withRoom } from './kept-lines.ts';
import { KeptRun } from './kept-run.ts';
import { RecentEntries } from './recent-entries.ts';
import { countUpTo, type EntryHead, EntryRun, type Piece, type Run } from './run.ts';
import type { Entry } from './store.ts';

/** How many entries a run takes before the next one is begun. */
const runLength = 512;
/** A copy makes lines of so many entries in a row. */
const leastLaid = 128;

/**
 * The entries of a collection in the order of their creation. Finding a place costs O(log n) and taking one
 * out moves at most one run, so neither depends on how deep a page lies or on how much was deleted before it.
 */
export class CreationOrder {
  readonly #runs: Run[] = [];
  /** Of items that are kept as lines. */
  readonly #recent = new RecentEntries();

  /** Adds an entry whose sequence is above all others. Throws RangeError when it is not. */
  append(entry: Entry): void {
    if (this.last >= entry.sequence) throw new RangeError('an entry is appended in the order of sequence');
    const run = this.#runs.at(-1);
    if (run instanceof EntryRun && run.count < runLength) run.append(entry);
    else this.#runs.push(new EntryRun(entry.sequence, [entry]));
  }

  /** Adds an entry in its place; none has its sequence. */
  insert(entry: Entry): void {
    const { sequence } = entry;
    const at = countUpTo(this.#runs, sequence) - 1;
    const run = this.#runs[at];
    if (sequence > this.last) this.append(entry);
    else if (run instanceof EntryRun) run.insert(entry);
    else if (run === undefined || sequence > run.last)
      this.#runs.splice(at + 1, 0, new EntryRun(sequence, [entry]));
    else {
      const entries = new EntryRun(run.sequence, run.after(0, run.count));
      entries.insert(entry);
      this.#runs[at] = entries;
    }
  }

  /** The highest sequence; 0 when there is none. */
  get last(): number {
    return this.#runs.at(-1)?.last ?? 0;
  }

  /** Adds lines as they were scanned, at least one, whose sequences are above all others. The bytes are copied. */
  appendLines(bytes: Buffer, scanned: ScannedLines): void {
    const copy = withRoom(bytes.length);
    bytes.copy(copy);
    this.#runs.push(new KeptRun({ ...scanned, bytes: copy }, this.#recent));
  }

  /** The entry with this sequence; undefined when there is none. */
  find(sequence: number): Entry | undefined {
    return this.#runs[this.#indexFor(sequence)]?.find(sequence);
  }

  /** The same without its value. */
  head(sequence: number): EntryHead | undefined {
    return this.#runs[this.#indexFor(sequence)]?.head(sequence);
  }

  /**
   * What comes next after this sequence, for a copy, with up to `limit` items; nothing at the end. Where lines of a
   * snapshot begin it ends before them if it has half as many already, so that these stay together. What is copied is
   * kept as lines from then on, which take less memory; not so what comes after `end`, and is not copied.
   */
  next(sequence: number, limit: number, end = Number.POSITIVE_INFINITY): Piece[] {
    const pieces: Piece[] = [];
    let count = 0;
    for (let at = this.#indexFor(sequence); ; at += 1) {
      const run = this.#laid(at, limit, end);
      if (run === undefined || (run instanceof KeptRun && count * 2 >= limit)) return pieces;
      for (const piece of run.pieces(sequence, limit)) {
        count += 'bytes' in piece ? piece.count : 1;
        if (count > limit && pieces.length > 0) return pieces;
        pieces.push(piece);
      }
    }
  }

  /** Puts an entry in the place of the one with the same sequence, which must be there; `members` are its own as JSON. */
  replace(entry: Entry, members?: string): void {
    const at = this.#indexFor(entry.sequence);
    const run = this.#runs[at];
    if (!run?.replace(entry, members)) throw noEntry();
    this.#recent.forget(entry.sequence);
    if (run instanceof KeptRun && run.isTooLong) this.#runs.splice(at, 1, ...run.halves());
  }

  /** Takes out the entry with this sequence, which must be there. */
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
      if (run instanceof KeptRun) read += run.readAfter(sequence, left, bytes - read, entries);
      else entries.push(...run.after(sequence, left));
    }
    return { entries, more: this.last > (entries.at(-1)?.sequence ?? sequence) };
  }

  /** All entries in order. */
  *[Symbol.iterator](): Generator<Entry> {
    for (const run of this.#runs) yield* run.after(0, run.count);
  }

  /** A run; as lines where it has many entries up to `end`: as many as `limit` of these, if it had none as lines. */
  #laid(at: number, limit: number, end: number): Run | undefined {
    const run = this.#runs[at];
    if (!(run instanceof EntryRun)) return run;
    const entries = run.after(0, limit).filter(({ sequence }) => sequence <= end);
    if (entries.length < leastLaid) return run;
    const lines = layLines(entries);
    const rest = run.after(lines.sequences.at(-1) ?? 0, run.count);
    const [first] = rest;
    const others = first === undefined ? [] : [new EntryRun(first.sequence, rest)];
    const kept = new KeptRun(lines, this.#recent);
    this.#runs.splice(at, 1, kept, ...others);
    return kept;
  }

  /** The index of the run that has this sequence or would have it. */
  #indexFor(sequence: number): number {
    return Math.max(0, countUpTo(this.#runs, sequence) - 1);
  }
}

function noEntry(): RangeError {
  return new RangeError('no entry has this sequence');
}
