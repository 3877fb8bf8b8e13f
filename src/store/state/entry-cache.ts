import type { StoredItem } from '../store.ts';

/** The minimum number of recently read entries in the cache, if all are small; the maximum is twice that. */
const minEntries = 4096;
/** The length of the lines, in bytes, whose entries are always in the cache; the maximum is twice that. */
const minBytes = 4 * 1024 * 1024;

/** Caches the recently read entries of a collection, by sequence. Entries that are not read again are removed. */
export class EntryCache {
  #newer = new Map<number, StoredItem>();
  #older = new Map<number, StoredItem>();
  /** The length of the lines of the newer entries, in bytes. */
  #bytes = 0;

  /** Returns the entry with this sequence from the cache, or calls `read`. `bytes` is the length of its line. */
  get(sequence: number, bytes: number, read: () => StoredItem): StoredItem {
    const recent = this.#newer.get(sequence);
    if (recent !== undefined) return recent;
    const entry = this.#older.get(sequence) ?? read();
    if (bytes > minBytes) return entry;
    if (this.#newer.size >= minEntries || this.#bytes + bytes > minBytes) {
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
