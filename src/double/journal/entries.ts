import type { JournalEntry } from './entry.ts';

/** The latest entries of a journal, within bounds: the oldest go first. */
export class JournalEntries {
  readonly #most: number;
  readonly #mostBytes: number;
  #entries: JournalEntry[] = [];
  /** How many entries at the front of the array are dropped. They are removed together, since each removal moves all others. */
  #gone = 0;
  #bytes = 0;

  /** Keeps at most `most` entries of `mostBytes` bytes together, and the latest one however large it is. */
  constructor(most: number, mostBytes: number) {
    this.#most = most;
    this.#mostBytes = mostBytes;
  }

  get length(): number {
    return this.#entries.length - this.#gone;
  }

  /** All there are, oldest first. */
  get all(): readonly JournalEntry[] {
    return this.#entries.slice(this.#gone);
  }

  add(entry: JournalEntry): void {
    this.#entries.push(entry);
    this.#bytes += entry.size;
    while (this.length > this.#most || (this.#bytes > this.#mostBytes && this.length > 1)) this.#drop();
    if (this.#gone > this.#most) this.#settle();
  }

  /** Puts these in the place of all. */
  replace(entries: readonly JournalEntry[]): void {
    this.#entries = [...entries];
    this.#gone = 0;
    this.#bytes = entries.reduce((bytes, { size }) => bytes + size, 0);
  }

  #drop(): void {
    this.#bytes -= this.#entries[this.#gone]?.size ?? 0;
    this.#gone += 1;
  }

  #settle(): void {
    this.#entries = this.#entries.slice(this.#gone);
    this.#gone = 0;
  }
}
