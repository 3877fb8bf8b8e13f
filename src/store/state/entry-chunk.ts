import type { StoredItem } from '../store.ts';
import { type EncodedLines, type EntryHead, encodeLines } from './encoded-lines.ts';

/** Some entries of a collection in ascending sequence, at least one. */
export interface EntryChunk {
  /** The lowest possible sequence. */
  readonly sequence: number;
  /** The highest sequence. */
  readonly last: number;
  readonly count: number;
  /** Returns the entry with this sequence, or undefined. */
  find(sequence: number): StoredItem | undefined;
  /** Returns the members of the entry that a change needs, without parsing the value. */
  head(sequence: number): EntryHead | undefined;
  /** Replaces the entry with the same sequence; returns false if there is none. */
  replace(entry: StoredItem): boolean;
  /** Removes the entry with this sequence; returns false if there is none. */
  remove(sequence: number): boolean;
  /** Returns up to `limit` entries with a greater sequence. */
  after(sequence: number, limit: number): StoredItem[];
  /**
   * Returns encoded entries with a greater sequence, for a copy: up to `limit` of those up to `end`; all of an encoded
   * segment, because it contains none after `end`. Returns undefined if there are none.
   */
  piece(sequence: number, limit: number, end: number): EncodedLines | undefined;
}

/** A chunk of entries as objects. */
export class DecodedChunk implements EntryChunk {
  readonly sequence: number;
  readonly #entries: StoredItem[];

  /** Takes ownership of the entries, at least one. */
  constructor(sequence: number, entries: StoredItem[]) {
    this.sequence = sequence;
    this.#entries = entries;
  }

  get last(): number {
    return this.#entries.at(-1)?.sequence ?? 0;
  }

  get count(): number {
    return this.#entries.length;
  }

  find(sequence: number): StoredItem | undefined {
    return this.#entries[this.#findIndex(sequence)];
  }

  head(sequence: number): EntryHead | undefined {
    return this.find(sequence);
  }

  replace(entry: StoredItem): boolean {
    const index = this.#findIndex(entry.sequence);
    if (index >= 0) this.#entries[index] = entry;
    return index >= 0;
  }

  remove(sequence: number): boolean {
    const index = this.#findIndex(sequence);
    if (index >= 0) this.#entries.splice(index, 1);
    return index >= 0;
  }

  /** Adds an entry with the highest sequence. */
  append(entry: StoredItem): void {
    this.#entries.push(entry);
  }

  /** Inserts an entry. No other entry has its sequence. */
  insert(entry: StoredItem): void {
    this.#entries.splice(countUpTo(this.#entries, entry.sequence), 0, entry);
  }

  after(sequence: number, limit: number): StoredItem[] {
    const from = countUpTo(this.#entries, sequence);
    return this.#entries.slice(from, from + limit);
  }

  piece(sequence: number, limit: number, end: number): EncodedLines | undefined {
    const entries = this.after(sequence, limit).filter((entry) => entry.sequence <= end);
    return entries.length === 0 ? undefined : encodeLines(entries);
  }

  #findIndex(sequence: number): number {
    const index = countUpTo(this.#entries, sequence) - 1;
    return this.#entries[index]?.sequence === sequence ? index : -1;
  }
}

/** Returns the number of items with at most this sequence. The items are in ascending order. */
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
