/** The initial length of the table, and its maximum length per id. */
const initialLength = 1024;
const maxLengthPerId = 4;
/** The highest sequence that the table can contain. */
const maxSequence = 0xffff_ffff;
/** The maximum number of digits of a number in the table. */
const maxDigits = 9;
const [zero, nine] = [0x30, 0x39];

/**
 * Maps the ids of a collection to sequences. The ids that the store assigns are mostly consecutive numbers: in a typed
 * array, such an id needs four bytes and no string, and the garbage collector need not visit it. The array has at most
 * four elements per id. Other ids are in a map.
 */
export class IdIndex {
  #table = new Uint32Array(initialLength);
  readonly #others = new Map<string, number>();
  #size = 0;

  /** The number of ids. */
  get size(): number {
    return this.#size;
  }

  /** Returns the sequence of an id, or undefined. */
  get(id: string): number | undefined {
    return this.#table[parseNumber(id)] || this.#fromMap(id);
  }

  /** Looks an id up in the map. The map is usually empty, and hashing a new string takes time. */
  #fromMap(id: string): number | undefined {
    return this.#others.size === 0 ? undefined : this.#others.get(id);
  }

  /** Sets the sequence of a new or existing id. It must be above 0. */
  set(id: string, sequence: number): void {
    const number = parseNumber(id);
    const other = this.#fromMap(id);
    if (!this.#table[number] && other === undefined) this.#size += 1;
    if (number > 0 && sequence <= maxSequence && other === undefined && this.#hasElement(number))
      this.#table[number] = sequence;
    else {
      if (number < this.#table.length) this.#table[number] = 0;
      this.#others.set(id, sequence);
    }
  }

  /** Adds an id with its sequence; returns false if it exists. */
  add(id: string, sequence: number): boolean {
    if (this.get(id) !== undefined) return false;
    this.set(id, sequence);
    return true;
  }

  /** Removes an id. */
  delete(id: string): void {
    if (this.get(id) === undefined) return;
    this.#size -= 1;
    const number = parseNumber(id);
    if (this.#table[number]) this.#table[number] = 0;
    else this.#others.delete(id);
  }

  /** Returns whether the table has an element for a number, after extending it if possible. */
  #hasElement(number: number): boolean {
    const { length } = this.#table;
    if (number < length) return true;
    const max = Math.max(initialLength, maxLengthPerId * this.#size);
    if (number >= max) return false;
    const longer = new Uint32Array(Math.max(number + 1, Math.min(2 * length, max)));
    longer.set(this.#table);
    this.#table = longer;
    return true;
  }
}

/** Returns the number of an id in the store's own format; 0 for any other id, or a longer one. */
function parseNumber(id: string): number {
  if (id.length > maxDigits || id.charCodeAt(0) === zero) return 0;
  let number = 0;
  for (let at = 0; at < id.length; at += 1) {
    const code = id.charCodeAt(at);
    if (!(code >= zero && code <= nine)) return 0;
    number = number * 10 + code - zero;
  }
  return number;
}
