import type { Entry } from './store.ts';

/** How many of the entries that were asked for last are kept for sure; twice as many are the most. */
const keptForSure = 4096;

/** The entries of a collection that were read last, by sequence, so that what is asked for often is not read each time. */
export class RecentEntries {
  #newer = new Map<number, Entry>();
  #older = new Map<number, Entry>();

  /** The entry with this sequence, which is read when it was not asked for lately. */
  get(sequence: number, read: () => Entry): Entry {
    const recent = this.#newer.get(sequence);
    if (recent !== undefined) return recent;
    const entry = this.#older.get(sequence) ?? read();
    if (this.#newer.size >= keptForSure) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(sequence, entry);
    return entry;
  }

  /** Lets go of an entry that is another now. */
  forget(sequence: number): void {
    this.#newer.delete(sequence);
    this.#older.delete(sequence);
  }
}
