import type { Shape } from '../schema/schema.ts';
import type { Format } from './index.ts';
import type { ListForm, ListItem } from './list-item.ts';

/** The most bytes of a page with more than one item. */
export const pageBytes = 1024 * 1024;

/** The most bytes of a character (UTF-16) in UTF-8. */
const mostPerCharacter = 3;

/** Writes the items of a page until it has so many bytes that the next item has no room. */
export class PageWriter {
  readonly #format: Format;
  readonly #shape: Shape;
  readonly #form: ListForm;
  #text: string;
  /** At least as many bytes as the page has. They are counted only where the page may be full. */
  #atMost: number;
  #count = 0;

  /** Begins a page without items. */
  constructor(format: Format, shape: Shape) {
    this.#format = format;
    this.#shape = shape;
    this.#form = format.listForm(shape);
    this.#text = this.#form.begin;
    this.#atMost = this.#bytes();
  }

  /** How many items were added. */
  get count(): number {
    return this.#count;
  }

  /** Adds an item if there is room for it; there is always room for the first. Returns whether it was added. */
  add(item: ListItem): boolean {
    const written = this.#format.writeListed(this.#shape, item);
    const added = this.#count === 0 ? written : this.#form.separator + written;
    let bytes = added.length * mostPerCharacter;
    if (this.#atMost + bytes > pageBytes) {
      this.#atMost = this.#bytes();
      bytes = Buffer.byteLength(added);
      if (this.#atMost + bytes > pageBytes && this.#count > 0) return false;
    }
    this.#text += added;
    this.#atMost += bytes;
    this.#count += 1;
    return true;
  }

  /** Ends the page. */
  end(): string | Uint8Array {
    return ownContent(this.#text + this.#form.end);
  }

  #bytes(): number {
    return Buffer.byteLength(this.#text) + Buffer.byteLength(this.#form.end);
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
