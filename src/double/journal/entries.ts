import type { JournalEntry } from './entry.ts';

/** The latest entries of a journal, within limits. The oldest are dropped first. */
export class JournalEntries {
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  #entries: JournalEntry[] = [];
  /** The number of dropped entries at the front of the array. They are removed together, since each removal moves all others. */
  #dropped = 0;
  #bytes = 0;

  /** Holds at most `maxEntries` entries with a total size of at most `maxBytes`, but always the latest entry. */
  constructor(maxEntries: number, maxBytes: number) {
    this.#maxEntries = maxEntries;
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#entries.length - this.#dropped;
  }

  /** All entries, oldest first. */
  get all(): readonly JournalEntry[] {
    return this.#entries.slice(this.#dropped);
  }

  add(entry: JournalEntry): void {
    this.#entries.push(entry);
    this.#bytes += entry.size;
    while (this.length > this.#maxEntries || (this.#bytes > this.#maxBytes && this.length > 1)) this.#drop();
    if (this.#dropped > this.#maxEntries) this.#compact();
  }

  /** Replaces all entries. */
  replace(entries: readonly JournalEntry[]): void {
    this.#entries = [...entries];
    this.#dropped = 0;
    this.#bytes = entries.reduce((bytes, { size }) => bytes + size, 0);
  }

  #drop(): void {
    this.#bytes -= this.#entries[this.#dropped]?.size ?? 0;
    this.#dropped += 1;
  }

  #compact(): void {
    this.#entries = this.#entries.slice(this.#dropped);
    this.#dropped = 0;
  }
}
