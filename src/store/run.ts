import type { Entry } from './store.ts';

/** Lines of items as they were read, each with its end; the last one may lack its comma. */
export interface KeptLines {
  readonly bytes: Buffer;
  readonly count: number;
  /** The sequence of the last item. */
  readonly sequence: number;
}

/** What a change to an entry has to know of it. */
export type EntryHead = Pick<Entry, 'sequence' | 'revision' | 'modified'>;

/** What a copy is made of. */
export type Piece = Entry | KeptLines;

/** Entries in ascending sequence; never none. */
export interface Run {
  /** None of its entries has a lower sequence. */
  readonly sequence: number;
  /** The highest sequence. */
  readonly last: number;
  readonly count: number;
  /** The entry with this sequence; undefined when there is none. */
  find(sequence: number): Entry | undefined;
  /** The same without its value, which need not be read for it. */
  head(sequence: number): EntryHead | undefined;
  /**
   * Puts an entry in the place of the one with the same sequence; says false when there is none. `members` are those
   * that it has as JSON, where they are known.
   */
  replace(entry: Entry, members?: string): boolean;
  /** Takes out the entry with this sequence; says false when there is none. */
  remove(sequence: number): boolean;
  /** Up to `limit` entries with a greater sequence. */
  after(sequence: number, limit: number): Entry[];
  /** The entries with a greater sequence, for a copy; at least up to `limit`. */
  pieces(sequence: number, limit: number): Piece[];
}

/** A run in memory. */
export class EntryRun implements Run {
  readonly sequence: number;
  readonly #entries: Entry[];

  /** Takes the entries over; there is at least one. */
  constructor(sequence: number, entries: Entry[]) {
    this.sequence = sequence;
    this.#entries = entries;
  }

  get last(): number {
    return this.#entries.at(-1)?.sequence ?? 0;
  }

  get count(): number {
    return this.#entries.length;
  }

  find(sequence: number): Entry | undefined {
    const entry = this.#entries[countUpTo(this.#entries, sequence) - 1];
    return entry?.sequence === sequence ? entry : undefined;
  }

  head(sequence: number): EntryHead | undefined {
    return this.find(sequence);
  }

  replace(entry: Entry): boolean {
    const index = countUpTo(this.#entries, entry.sequence) - 1;
    if (this.#entries[index]?.sequence !== entry.sequence) return false;
    this.#entries[index] = entry;
    return true;
  }

  remove(sequence: number): boolean {
    const index = countUpTo(this.#entries, sequence) - 1;
    if (this.#entries[index]?.sequence !== sequence) return false;
    this.#entries.splice(index, 1);
    return true;
  }

  /** Adds an entry behind all others. */
  append(entry: Entry): void {
    this.#entries.push(entry);
  }

  /** Adds an entry in its place; none has its sequence. */
  insert(entry: Entry): void {
    this.#entries.splice(countUpTo(this.#entries, entry.sequence), 0, entry);
  }

  after(sequence: number, limit: number): Entry[] {
    const from = countUpTo(this.#entries, sequence);
    return this.#entries.slice(from, from + limit);
  }

  pieces(sequence: number, limit: number): Piece[] {
    return this.after(sequence, limit);
  }
}

/** How many of the items, which ascend, have at most this sequence. */
export function countUpTo(items: readonly { readonly sequence: number }[], sequence: number): number {
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
