import type { Format } from './formats.ts';
import type { Listed } from './listed.ts';
import type { Shape } from './schema.ts';

/** The most bytes of a page with more than one item. */
export const pageBytes = 1024 * 1024;

/** Writes the items of a page until it has so many bytes that no other item has room. */
export class PageWriter {
  readonly #format: Format;
  readonly #shape: Shape;
  #text: string;
  #bytes: number;
  #count = 0;

  /** Begins a page without items. */
  constructor(format: Format, shape: Shape) {
    this.#format = format;
    this.#shape = shape;
    const { begin, end } = format.listForm(shape);
    this.#text = begin;
    this.#bytes = Buffer.byteLength(begin) + Buffer.byteLength(end);
  }

  /** How many items were added. */
  get count(): number {
    return this.#count;
  }

  /** Adds an item if there is room for it; there is always room for the first. Returns whether it was added. */
  add(item: Listed): boolean {
    const written = this.#format.writeListed(this.#shape, item);
    const added = this.#count === 0 ? written : this.#format.listForm(this.#shape).separator + written;
    const bytes = this.#bytes + Buffer.byteLength(added);
    if (bytes > pageBytes && this.#count > 0) return false;
    this.#text += added;
    this.#bytes = bytes;
    this.#count += 1;
    return true;
  }

  /** Ends the page. */
  end(): string | Uint8Array {
    return ownContent(this.#text + this.#format.listForm(this.#shape).end);
  }
}

/** From so many characters on, content is kept as bytes while it waits to be sent. */
const worthCopying = 4096;

/**
 * Returns the content so that it keeps nothing alive but its own bytes. A text that was put together out of many is a
 * tree of them until somebody reads it, and that takes more than ten times the memory of short ones.
 */
export function ownContent(text: string): string | Uint8Array {
  return text.length < worthCopying ? text : Buffer.from(text);
}
