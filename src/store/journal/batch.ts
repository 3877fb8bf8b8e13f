import { formatLine, type JournalLineHead } from './line.ts';

/** Collects the journal lines of a batch. */
export class JournalBatch {
  #text = '';
  #length = 0;

  /** The length of all lines in bytes. */
  get length(): number {
    return this.#length;
  }

  /** Returns all lines as UTF-8. */
  encode(): Uint8Array {
    return Buffer.from(this.#text);
  }

  /** Adds a line. `members` are the members of its item, as JSON. */
  add(line: JournalLineHead, members: string): void {
    const text = formatLine(line, members);
    this.#text += text;
    this.#length += Buffer.byteLength(text);
  }

  /** Removes all lines. */
  clear(): void {
    this.#text = '';
    this.#length = 0;
  }
}
