import { KeptRun } from './kept-run.ts';
import type { Entry } from './store.ts';

/** How many entries a run takes before the next one is begun. */
const runLength = 512;

/** Entries in ascending sequence; never none. */
export interface Run {
  /** None of its entries has a lower sequence. */
  readonly sequence: number;
  readonly entries: Entry[];
}

/**
 * The entries of a collection in the order of their creation. Finding a place costs O(log n) and taking one
 * out moves at most one run, so neither depends on how deep a page lies or on how much was deleted before it.
 */
export class CreationOrder {
  readonly #runs: Run[] = [];

  /** Adds an entry whose sequence is above all others. Throws RangeError when it is not. */
  append(entry: Entry): void {
    const run = this.#runs.at(-1);
    const last = run?.entries.at(-1);
    if (last !== undefined && last.sequence >= entry.sequence) {
      throw new RangeError('an entry is appended in the order of sequence');
    }
    if (run === undefined || run.entries.length >= runLength) {
      this.#runs.push({ sequence: entry.sequence, entries: [entry] });
    } else {
      run.entries.push(entry);
    }
  }

  /** Adds an entry in its place; none has its sequence. */
  insert(entry: Entry): void {
    const run = this.#runs[countUpTo(this.#runs, entry.sequence) - 1] ?? this.#runs[0];
    if (entry.sequence > this.last || run === undefined) {
      this.append(entry);
      return;
    }
    if (entry.sequence < run.sequence) this.#runs.unshift({ sequence: entry.sequence, entries: [entry] });
    else run.entries.splice(countUpTo(run.entries, entry.sequence), 0, entry);
  }

  /** The highest sequence; 0 when there is none. */
  get last(): number {
    const run = this.#runs.at(-1);
    return (run instanceof KeptRun ? run.last : run?.entries.at(-1)?.sequence) ?? 0;
  }

  /** Adds a run whose sequences are above all others. */
  appendRun(run: Run): void {
    this.#runs.push(run);
  }

  /**
   * What comes next after this sequence, for a copy: a run that nobody has read yet, or up to `limit` entries that
   * stand before such a one; no entry at the end.
   */
  next(sequence: number, limit: number): KeptRun | Entry[] {
    const entries: Entry[] = [];
    for (let at = Math.max(0, countUpTo(this.#runs, sequence) - 1); entries.length < limit; at += 1) {
      const run = this.#runs[at];
      if (run === undefined) break;
      if (isWorthKeeping(run, limit)) {
        if (run.last <= sequence) continue;
        return entries.length > 0 ? entries : run;
      }
      const from = countUpTo(run.entries, sequence);
      entries.push(...run.entries.slice(from, from + limit - entries.length));
    }
    return entries;
  }

  /** Puts an entry in the place of the one with the same sequence, which must be there. */
  replace(entry: Entry): void {
    const { run, index } = this.#locate(entry.sequence);
    run.entries[index] = entry;
  }

  /** Takes out the entry with this sequence, which must be there. */
  remove(sequence: number): void {
    const { run, index } = this.#locate(sequence);
    run.entries.splice(index, 1);
    if (run.entries.length === 0) this.#runs.splice(this.#runs.indexOf(run), 1);
  }

  /** Up to `limit` entries with a greater sequence, and whether others follow them. */
  after(sequence: number, limit: number): { entries: Entry[]; more: boolean } {
    let at = Math.max(0, countUpTo(this.#runs, sequence) - 1);
    let run = this.#runs[at];
    let from = run === undefined ? 0 : countUpTo(run.entries, sequence);
    const entries: Entry[] = [];
    while (run !== undefined && entries.length < limit) {
      const part = run.entries.slice(from, from + limit - entries.length);
      for (const entry of part) entries.push(entry);
      from += part.length;
      if (from < run.entries.length) break;
      at += 1;
      run = this.#runs[at];
      from = 0;
    }
    const more = run !== undefined && (from < run.entries.length || at + 1 < this.#runs.length);
    return { entries, more };
  }

  /** All entries in order. */
  *[Symbol.iterator](): Generator<Entry> {
    for (const run of this.#runs) yield* run.entries;
  }

  #locate(sequence: number): { run: Run; index: number } {
    const run = this.#runs[countUpTo(this.#runs, sequence) - 1];
    const index = run === undefined ? -1 : countUpTo(run.entries, sequence) - 1;
    if (run === undefined || run.entries[index]?.sequence !== sequence) {
      throw new RangeError('no entry has this sequence');
    }
    return { run, index };
  }
}

/** A run that has so many characters is copied as it is, however few its items are. */
const longText = 512 * 1024;

/** Whether a run was not read yet, and is so large that it is copied as it is. */
function isWorthKeeping(run: Run, limit: number): run is KeptRun {
  if (!(run instanceof KeptRun) || run.text === undefined) return false;
  return run.count * 2 >= limit || run.text.length >= longText;
}

/** How many of the items, which ascend, have at most this sequence. */
function countUpTo(items: readonly { readonly sequence: number }[], sequence: number): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && item.sequence <= sequence) low = middle + 1;
    else high = middle;
  }
  return low;
}
