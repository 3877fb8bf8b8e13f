import type { StoredItem } from '../store.ts';

/** The maximum number of items in a chunk, unless items are inserted into it. */
const maxChunkLength = 512;

/**
 * The items of a collection in the order of creation, in chunks. Finding an item takes O(log n), and removing one moves the
 * items of one chunk only. So neither depends on the position of a page or on earlier deletions.
 */
export class OrderedItems {
  /** None is empty. */
  readonly #chunks: StoredItem[][] = [];

  /** The highest sequence; 0 if there are no items. */
  get last(): number {
    return this.#chunks.at(-1)?.at(-1)?.sequence ?? 0;
  }

  /** Returns whether an item has this sequence. */
  has(sequence: number): boolean {
    const chunk = this.#chunks[this.#indexFor(sequence)] ?? [];
    return chunk[countUpTo(chunk, sequence) - 1]?.sequence === sequence;
  }

  /** Inserts an item. No other item has its sequence, which is the highest one of most. */
  insert(item: StoredItem): void {
    const last = this.#chunks.at(-1);
    if (item.sequence > this.last) {
      if (last !== undefined && last.length < maxChunkLength) last.push(item);
      else this.#chunks.push([item]);
      return;
    }
    const chunk = this.#chunks[this.#indexFor(item.sequence)] ?? [];
    chunk.splice(countUpTo(chunk, item.sequence), 0, item);
  }

  /** Replaces the item with the same sequence. Throws RangeError if there is none. */
  replace(item: StoredItem): void {
    const { chunk, index } = this.#locate(item.sequence);
    chunk[index] = item;
  }

  /** Removes the item with this sequence. Throws RangeError if there is none. */
  remove(sequence: number): void {
    const { chunk, index } = this.#locate(sequence);
    chunk.splice(index, 1);
    if (chunk.length === 0) this.#chunks.splice(this.#chunks.indexOf(chunk), 1);
  }

  /** Returns up to `limit` items with a greater sequence, and whether more follow. */
  after(sequence: number, limit: number): { readonly entries: StoredItem[]; readonly more: boolean } {
    const entries: StoredItem[] = [];
    for (let at = this.#indexFor(sequence); entries.length < limit; at += 1) {
      const chunk = this.#chunks[at];
      if (chunk === undefined) break;
      const first = entries.length === 0 ? countUpTo(chunk, sequence) : 0;
      entries.push(...chunk.slice(first, first + limit - entries.length));
    }
    return { entries, more: this.last > (entries.at(-1)?.sequence ?? sequence) };
  }

  /** Iterates over all items in order. */
  *[Symbol.iterator](): Generator<StoredItem> {
    for (const chunk of this.#chunks) yield* chunk;
  }

  #locate(sequence: number): { readonly chunk: StoredItem[]; readonly index: number } {
    const chunk = this.#chunks[this.#indexFor(sequence)] ?? [];
    const index = countUpTo(chunk, sequence) - 1;
    if (chunk[index]?.sequence !== sequence) throw new RangeError('no item has this sequence');
    return { chunk, index };
  }

  /** Returns the index of the chunk for this sequence. */
  #indexFor(sequence: number): number {
    return Math.max(0, countWhile(this.#chunks, (chunk) => (chunk[0]?.sequence ?? 0) <= sequence) - 1);
  }
}

/** Returns the number of items with at most this sequence. The items are in ascending order. */
function countUpTo(items: readonly StoredItem[], sequence: number): number {
  return countWhile(items, (item) => item.sequence <= sequence);
}

/** Returns the number of elements from the start that satisfy a condition, which none after them does. */
export function countWhile<T>(elements: readonly T[], holds: (element: T) => boolean): number {
  let [low, high] = [0, elements.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const element = elements[middle];
    if (element !== undefined && holds(element)) low = middle + 1;
    else high = middle;
  }
  return low;
}
