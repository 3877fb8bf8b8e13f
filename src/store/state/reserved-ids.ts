import type { NumberRange } from '../store.ts';
import { countWhile } from './ordered-items.ts';

/**
 * Returns the number of an id that a counter could assign: a decimal number from 1 to 2^53 - 1 without leading zeros.
 * Returns undefined for any other id.
 */
export function counterNumber(id: string): number | undefined {
  if (!/^[1-9][0-9]{0,15}$/.test(id)) return undefined;
  const number = Number(id);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** The numbers that clients chose as ids and that the counter has to skip, as ranges. */
export class ReservedIds {
  /** In ascending order, with at least one free number between two ranges. */
  readonly #ranges: NumberRange[] = [];

  /** Adds a number. */
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

  /** Adds a range that begins above all others. */
  append({ first, last }: NumberRange): void {
    const former = this.#ranges.at(-1);
    if (former === undefined || former.last + 1 < first) this.#ranges.push({ first, last });
    else this.#ranges[this.#ranges.length - 1] = { first: former.first, last: Math.max(former.last, last) };
  }

  /** Returns the lowest free number that is not below this one. */
  nextFree(number: number): number {
    const range = this.#ranges[this.#firstEndingFrom(number)];
    return range !== undefined && range.first <= number ? range.last + 1 : number;
  }

  /** Removes all numbers up to this one, because the counter has passed them. */
  removeUpTo(number: number): void {
    this.#ranges.splice(0, this.#firstEndingFrom(number + 1));
    const range = this.#ranges[0];
    if (range !== undefined && range.first <= number)
      this.#ranges[0] = { first: number + 1, last: range.last };
  }

  /** Iterates over the ranges in ascending order. */
  [Symbol.iterator](): Iterator<NumberRange> {
    return this.#ranges[Symbol.iterator]();
  }

  /** Returns the index of the first range that does not end below this number. */
  #firstEndingFrom(number: number): number {
    return countWhile(this.#ranges, ({ last }) => last < number);
  }
}
