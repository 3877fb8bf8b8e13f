import type { Shape } from '../fields/schema.ts';
import type { Format } from './index.ts';
import type { ListForm, ListItem } from './list-item.ts';

/** The maximum size in bytes of a page with more than one item. */
export const pageBytes = 1024 * 1024;

/** The maximum number of UTF-8 bytes per UTF-16 unit. */
const maxBytesPerCharacter = 3;

/** Writes the items of a page up to its maximum size. */
export class PageWriter {
  readonly #format: Format;
  readonly #shape: Shape;
  readonly #form: ListForm;
  #text: string;
  /** An upper bound of the page's bytes. The exact number is computed only when the page may be full. */
  #upperBound: number;
  #count = 0;

  /** Begins a page without items. */
  constructor(format: Format, shape: Shape) {
    this.#format = format;
    this.#shape = shape;
    this.#form = format.listForm(shape);
    this.#text = this.#form.begin;
    this.#upperBound = this.#bytes();
  }

  /** The number of items on the page. */
  get count(): number {
    return this.#count;
  }

  /** Adds an item if it fits. The first item always does. Returns whether the item was added. */
  add(item: ListItem): boolean {
    const written = this.#format.writeListed(this.#shape, item);
    const added = this.#count === 0 ? written : this.#form.separator + written;
    let bytes = added.length * maxBytesPerCharacter;
    if (this.#upperBound + bytes > pageBytes) {
      this.#upperBound = this.#bytes();
      bytes = Buffer.byteLength(added);
      if (this.#upperBound + bytes > pageBytes && this.#count > 0) return false;
    }
    this.#text += added;
    this.#upperBound += bytes;
    this.#count += 1;
    return true;
  }

  /** Ends the page and returns its content. */
  end(): string | Uint8Array {
    return copyContent(this.#text + this.#form.end);
  }

  #bytes(): number {
    return Buffer.byteLength(this.#text) + Buffer.byteLength(this.#form.end);
  }
}

/** From this many characters on, content is converted to bytes before it waits to be sent. */
const minCopied = 4096;

/**
 * Returns content that retains only its own memory. A concatenated string is a tree of its parts until it is
 * read, which can take more than ten times the memory of the text.
 */
export function copyContent(text: string): string | Uint8Array {
  return text.length < minCopied ? text : Buffer.from(text);
}
