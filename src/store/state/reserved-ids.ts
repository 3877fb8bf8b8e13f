/** Numbers from `first` to `last`, both included. */
export interface NumberRange {
  readonly first: number;
  readonly last: number;
}

/**
 * The number an id stands for if a counter could come to pick the same id: a whole number from 1 in canonical
 * decimal digits. Undefined for any other id; above 2^53 - 1 no counter gets.
 */
export function counterNumber(id: string): number | undefined {
  if (!/^[1-9][0-9]{0,15}$/.test(id)) return undefined;
  const number = Number(id);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** The numbers that clients took as ids and that the counter has yet to step over, kept as ranges. */
export class ReservedIds {
  /** Ascending, with at least one free number between any two. */
  readonly #ranges: NumberRange[] = [];

  /** Remembers a number. */
  add(number: number): void {
    const at = this.#firstEndingFrom(number - 1);
    const here = this.#ranges[at];
    if (here === undefined || number + 1 < here.first) {
      this.#ranges.splice(at, 0, { first: number, last: number });
      return;
    }
    const next = this.#ranges[at + 1];
    const joins = next !== undefined && here.last + 1 === number && number + 1 === next.first;
    const last = joins ? next.last : Math.max(here.last, number);
    this.#ranges.splice(at, joins ? 2 : 1, { first: Math.min(here.first, number), last });
  }

  /** Remembers a range that begins above all others. */
  append({ first, last }: NumberRange): void {
    const former = this.#ranges.at(-1);
    if (former === undefined || former.last + 1 < first) this.#ranges.push({ first, last });
    else this.#ranges[this.#ranges.length - 1] = { first: former.first, last: Math.max(former.last, last) };
  }

  /** The lowest number from this one on that nobody chose. */
  nextFree(number: number): number {
    const range = this.#ranges[this.#firstEndingFrom(number)];
    return range !== undefined && range.first <= number ? range.last + 1 : number;
  }

  /** Forgets all numbers up to this one, for the counter has passed them. */
  forgetUpTo(number: number): void {
    const kept = this.#firstEndingFrom(number + 1);
    this.#ranges.splice(0, kept);
    const range = this.#ranges[0];
    if (range !== undefined && range.first <= number)
      this.#ranges[0] = { first: number + 1, last: range.last };
  }

  /** The ranges, ascending. */
  [Symbol.iterator](): Iterator<NumberRange> {
    return this.#ranges[Symbol.iterator]();
  }

  /** The index of the first range that ends at the number or above it. */
  #firstEndingFrom(number: number): number {
    let low = 0;
    let high = this.#ranges.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const range = this.#ranges[middle];
      if (range !== undefined && range.last < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
