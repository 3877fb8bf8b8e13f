import { pageBytes } from '../../formats/page.ts';
import type { StoredItem, StoredValue } from '../../store/store.ts';
import { comparePositions, type ItemOrder, type Position } from './order.ts';

/** An item with its place in the list. */
export interface Candidate extends Position {
  readonly entry: StoredItem;
}

interface Sized extends Candidate {
  /** The least number of bytes that the item takes on a page. */
  readonly size: number;
}

/** Keeps the first of the items that are offered, in the order of the list: as many as one page can have. */
export class Selection {
  readonly #order: ItemOrder | undefined;
  readonly #limit: number;
  readonly #items: Sized[] = [];
  #size = 0;
  /** The first item that was offered and has no room. */
  #bound: Candidate | undefined;

  /** @param order undefined for the order of creation */
  constructor(order: ItemOrder | undefined, limit: number) {
    this.#order = order;
    this.#limit = limit;
  }

  /** The items, in order. */
  get items(): readonly Candidate[] {
    return this.#items;
  }

  /** Whether an item was offered that has no room. */
  get more(): boolean {
    return this.#bound !== undefined;
  }

  /** Adds an item if it is one of the first. */
  offer(candidate: Candidate): void {
    if (this.#bound !== undefined && comparePositions(this.#order, this.#bound, candidate) < 0) return;
    this.#removeFormer(candidate.entry.id);
    const size = computeMinSize(candidate.entry.value);
    this.#items.splice(this.#indexFor(candidate), 0, { ...candidate, size });
    this.#size += size;
    while (this.#items.length > this.#limit || (this.#items.length > 1 && this.#size > pageBytes))
      this.#removeLast();
  }

  /** Removes an item that was deleted and created again while the list was read. */
  #removeFormer(id: string): void {
    const at = this.#items.findIndex(({ entry }) => entry.id === id);
    if (at < 0) return;
    this.#size -= this.#items[at]?.size ?? 0;
    this.#items.splice(at, 1);
  }

  #removeLast(): void {
    const last = this.#items.pop();
    this.#size -= last?.size ?? 0;
    this.#bound = last;
  }

  #indexFor(candidate: Candidate): number {
    let [low, high] = [0, this.#items.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const item = this.#items[middle];
      if (item !== undefined && comparePositions(this.#order, item, candidate) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Returns a lower bound of the bytes of a value on a page. */
function computeMinSize(value: StoredValue): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object') return 1;
  let size = 0;
  for (const part of Object.values(value)) size += computeMinSize(part);
  return size;
}
