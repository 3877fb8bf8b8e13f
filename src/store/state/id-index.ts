/** How many numbers the table has to begin with, and how many it may have for each id. */
const leastLength = 1024;
const lengthPerId = 4;
/** The highest sequence that the table holds. */
const highestHeld = 0xffff_ffff;
/** A number has at most so many digits. */
const mostDigits = 9;
const [zero, nine] = [0x30, 0x39];

/**
 * The sequences of the items of a collection by their ids. The ids that the store gives are numbers, most of them in a
 * row: in a table of these an id costs four bytes and no text, and the collector of garbage has nothing to look at.
 * The table is never more than four times as long as there are ids; other ids are in a map.
 */
export class IdIndex {
  #table = new Uint32Array(leastLength);
  readonly #others = new Map<string, number>();
  #size = 0;

  /** How many ids it has. */
  get size(): number {
    return this.#size;
  }

  /** The sequence of an id; undefined when it is not there. */
  get(id: string): number | undefined {
    return this.#table[numberOf(id)] || this.#otherwise(id);
  }

  /** Most collections have no others, and an id that is new would be hashed to be looked for. */
  #otherwise(id: string): number | undefined {
    return this.#others.size === 0 ? undefined : this.#others.get(id);
  }

  /** Sets the sequence, which is above 0, of an id that is there or not. */
  set(id: string, sequence: number): void {
    const number = numberOf(id);
    const other = this.#otherwise(id);
    if (!this.#table[number] && other === undefined) this.#size += 1;
    if (number > 0 && sequence <= highestHeld && other === undefined && this.#reaches(number))
      this.#table[number] = sequence;
    else {
      if (number < this.#table.length) this.#table[number] = 0;
      this.#others.set(id, sequence);
    }
  }

  /** Adds an id with its sequence; returns false if it is there already. */
  add(id: string, sequence: number): boolean {
    if (this.get(id) !== undefined) return false;
    this.set(id, sequence);
    return true;
  }

  /** Takes an id out. */
  delete(id: string): void {
    if (this.get(id) === undefined) return;
    this.#size -= 1;
    const number = numberOf(id);
    if (this.#table[number]) this.#table[number] = 0;
    else this.#others.delete(id);
  }

  /** Whether the table has a place for a number, which it is made longer for. */
  #reaches(number: number): boolean {
    const { length } = this.#table;
    if (number < length) return true;
    const most = Math.max(leastLength, lengthPerId * this.#size);
    if (number >= most) return false;
    const longer = new Uint32Array(Math.max(number + 1, Math.min(2 * length, most)));
    longer.set(this.#table);
    this.#table = longer;
    return true;
  }
}

/** The number that an id is in decimal digits, as the store writes it; 0 when it is none, or a long one. */
function numberOf(id: string): number {
  if (id.length > mostDigits || id.charCodeAt(0) === zero) return 0;
  let number = 0;
  for (let at = 0; at < id.length; at += 1) {
    const code = id.charCodeAt(at);
    if (!(code >= zero && code <= nine)) return 0;
    number = number * 10 + code - zero;
  }
  return number;
}
