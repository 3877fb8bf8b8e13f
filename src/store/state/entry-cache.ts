import type { Entry } from '../store.ts';

/** How many of the entries that were asked for last are kept for sure, if all are small; twice as many are the most. */
const keptForSure = 4096;
/** The most bytes of lines whose entries are kept for sure; twice as many are the most. */
const bytesForSure = 4 * 1024 * 1024;

/** The entries of a collection that were read last, by sequence, so that what is asked for often is not read each time. */
export class EntryCache {
  #newer = new Map<number, Entry>();
  #older = new Map<number, Entry>();
  /** The bytes of the lines of the newer ones. */
  #bytes = 0;

  /** Returns the entry with this sequence. Reads it, from a line of so many bytes, unless it was asked for lately. */
  get(sequence: number, bytes: number, read: () => Entry): Entry {
    const recent = this.#newer.get(sequence);
    if (recent !== undefined) return recent;
    const entry = this.#older.get(sequence) ?? read();
    if (bytes > bytesForSure) return entry;
    if (this.#newer.size >= keptForSure || this.#bytes + bytes > bytesForSure) {
      this.#older = this.#newer;
      this.#newer = new Map();
      this.#bytes = 0;
    }
    this.#newer.set(sequence, entry);
    this.#bytes += bytes;
    return entry;
  }

  /** Removes an entry that has changed. */
  forget(sequence: number): void {
    this.#newer.delete(sequence);
    this.#older.delete(sequence);
  }
}
