/** The number of words of a fingerprint. */
const wordsPerEntry = 2;
/** The initial number of slots, a power of 2. */
const minSlots = 64;
/** The maximum share of used slots. With more, a search examines too many. */
const maxLoad = 0.7;

/**
 * A set of fingerprints of 64 bits, in two halves that are not both 0: a hash table with open addressing and linear probing, in
 * which an unused slot is 0. It only grows, by doubling.
 */
export class FingerprintSet {
  #words: Int32Array;
  #size = 0;

  /** @param expected the number of fingerprints for which the set need not grow */
  constructor(expected = 0) {
    let slots = minSlots;
    while (slots * maxLoad < expected) slots *= 2;
    this.#words = new Int32Array(slots * wordsPerEntry);
  }

  /** The number of fingerprints. */
  get size(): number {
    return this.#size;
  }

  /** Returns whether the set has a fingerprint. */
  has(low: number, high: number): boolean {
    const at = findSlot(this.#words, low, high);
    return isUsed(this.#words, at);
  }

  /** Adds a fingerprint. Returns false if the set has it already. */
  add(low: number, high: number): boolean {
    const at = findSlot(this.#words, low, high);
    if (isUsed(this.#words, at)) return false;
    this.#words[at] = low;
    this.#words[at + 1] = high;
    this.#size += 1;
    if (this.#size * wordsPerEntry > this.#words.length * maxLoad) this.#grow();
    return true;
  }

  #grow(): void {
    const former = this.#words;
    const words = new Int32Array(former.length * 2);
    for (let at = 0; at < former.length; at += wordsPerEntry) {
      if (!isUsed(former, at)) continue;
      const [low = 0, high = 0] = [former[at], former[at + 1]];
      const to = findSlot(words, low, high);
      words[to] = low;
      words[to + 1] = high;
    }
    this.#words = words;
  }
}

/** Returns the offset of a fingerprint, or of the unused slot where a search for it ends. There must always be one. */
function findSlot(words: Int32Array, low: number, high: number): number {
  const mask = words.length - 1;
  for (let at = (high * wordsPerEntry) & mask; ; at = (at + wordsPerEntry) & mask) {
    const [first, second] = [words[at], words[at + 1]];
    if ((first === low && second === high) || (first === 0 && second === 0)) return at;
  }
}

function isUsed(words: Int32Array, at: number): boolean {
  return words[at] !== 0 || words[at + 1] !== 0;
}
