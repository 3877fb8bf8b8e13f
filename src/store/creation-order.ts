import type { Entry } from './store.ts';

/** How many entries a block takes before the next one is begun. */
const blockSize = 512;

/** A run of entries in ascending sequence; never empty. */
interface Block {
  /** None of its entries has a lower sequence. */
  readonly sequence: number;
  readonly entries: Entry[];
}

/**
 * The entries of a collection in the order of their creation. Finding a place costs O(log n) and taking one
 * out moves at most one block, so neither depends on how deep a page lies or on how much was deleted before it.
 */
export class CreationOrder {
  readonly #blocks: Block[] = [];

  /** Adds an entry whose sequence is above all others. Throws RangeError when it is not. */
  append(entry: Entry): void {
    const block = this.#blocks.at(-1);
    const last = block?.entries.at(-1);
    if (last !== undefined && last.sequence >= entry.sequence) {
      throw new RangeError('an entry is appended in the order of sequence');
    }
    if (block === undefined || block.entries.length >= blockSize) {
      this.#blocks.push({ sequence: entry.sequence, entries: [entry] });
    } else {
      block.entries.push(entry);
    }
  }

  /** Puts an entry in the place of the one with the same sequence, which must be there. */
  replace(entry: Entry): void {
    const { block, index } = this.#locate(entry.sequence);
    block.entries[index] = entry;
  }

  /** Takes out the entry with this sequence, which must be there. */
  remove(sequence: number): void {
    const { block, index } = this.#locate(sequence);
    block.entries.splice(index, 1);
    if (block.entries.length === 0) this.#blocks.splice(this.#blocks.indexOf(block), 1);
  }

  /** Up to `limit` entries with a greater sequence, and whether others follow them. */
  after(sequence: number, limit: number): { entries: Entry[]; more: boolean } {
    let at = Math.max(0, countUpTo(this.#blocks, sequence) - 1);
    let block = this.#blocks[at];
    let from = block === undefined ? 0 : countUpTo(block.entries, sequence);
    const entries: Entry[] = [];
    while (block !== undefined && entries.length < limit) {
      const part = block.entries.slice(from, from + limit - entries.length);
      for (const entry of part) entries.push(entry);
      from += part.length;
      if (from < block.entries.length) break;
      at += 1;
      block = this.#blocks[at];
      from = 0;
    }
    const more = block !== undefined && (from < block.entries.length || at + 1 < this.#blocks.length);
    return { entries, more };
  }

  /** All entries in order. */
  *[Symbol.iterator](): Generator<Entry> {
    for (const block of this.#blocks) yield* block.entries;
  }

  #locate(sequence: number): { block: Block; index: number } {
    const block = this.#blocks[countUpTo(this.#blocks, sequence) - 1];
    const index = block === undefined ? -1 : countUpTo(block.entries, sequence) - 1;
    if (block === undefined || block.entries[index]?.sequence !== sequence) {
      throw new RangeError('no entry has this sequence');
    }
    return { block, index };
  }
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
