import { createCipheriv, createHash } from 'node:crypto';

/** The largest prime below 2^32. Both halves of a fingerprint are computed modulo it. */
const prime = 4_294_967_291;
const inverse = 1 / prime;
/** The maximum length of a user or a nonce that is hashed without SHA-256. */
const maxLength = 256;
/**
 * The number of characters after which the sum is reduced. With the remainder of the previous text (15 numbers), at most
 * 31 products below 2^48 and the lengths are added. The sum is below 2^53, so it is exact.
 */
const charactersPerReduction = 32;
/** The number of values before the characters: both lengths, and the kind of the text. */
const leading = 3;

/**
 * Computes fingerprints of 64 bits of a user's nonce. The input is a vector of numbers: the two lengths, the kind of the
 * text, and its characters in pairs. Each half of a fingerprint is the sum of these numbers, each multiplied by a secret
 * factor, modulo a prime p (multilinear hashing: Carter and Wegman, "Universal classes of hash functions", 1979). Two
 * different inputs differ in at least one number. Their sums are equal for exactly one of the p values of its
 * factor. So without the factors, two chosen inputs collide with a probability of 1 / p² = 2^-64 × (1 + 2 × 10^-9).
 *
 * The factors are derived from the key with AES-128 in counter mode. This takes half the time of SipHash-1-3. All
 * numbers are exact, because they are below 2^53, and nothing is allocated.
 */
export class Fingerprint {
  /** The first 32 bits of the last fingerprint, signed. The two halves are never both 0. */
  low = 0;
  /** The other 32 bits, signed. */
  high = 0;
  /** The factors, alternately of the first and of the second half; empty before the first fingerprint. */
  #factors: Float64Array = new Float64Array(0);
  /** The key, until the factors are derived from it. That is not done at the start, to save time. */
  #key: Uint8Array | undefined;
  #first = 0;
  #second = 0;
  /** All characters combined with OR: above 255 if one of them is not in Latin-1. */
  #characters = 0;

  /** @param key 16 bytes. Throws RangeError for any other length. */
  constructor(key: Uint8Array) {
    if (key.length !== 16) throw new RangeError('the key must have 16 bytes');
    this.#key = Uint8Array.from(key);
  }

  /** Sets `low` and `high` to the fingerprint of this user's nonce. */
  take(user: string, nonce: string): void {
    if (this.#key !== undefined) this.#deriveFactors(this.#key);
    if (user.length > maxLength || nonce.length > maxLength) this.#sum('', computeDigest(user, nonce), 1);
    else {
      this.#sum(user, nonce, 0);
      if (this.#characters > 0xff) this.#sum('', computeDigest(user, nonce), 1);
    }
    this.#mix();
  }

  #deriveFactors(key: Uint8Array): void {
    this.#factors = factorsFrom(key, (leading + maxLength) * 2);
    this.#key = undefined;
  }

  #sum(user: string, nonce: string, kind: number): void {
    const factors = this.#factors;
    this.#characters = 0;
    this.#first =
      user.length * readFactor(factors, 0) +
      nonce.length * readFactor(factors, 2) +
      kind * readFactor(factors, 4);
    this.#second =
      user.length * readFactor(factors, 1) +
      nonce.length * readFactor(factors, 3) +
      kind * readFactor(factors, 5);
    this.#add(nonce, this.#add(user, leading * 2));
    this.#reduce();
  }

  /** Adds the characters of a text, from this factor on. Returns the index of the next factor. */
  #add(text: string, from: number): number {
    const factors = this.#factors;
    const length = text.length;
    let first = this.#first;
    let second = this.#second;
    let characters = this.#characters;
    let factor = from;
    for (let index = 0; index < length; index += 2) {
      const one = text.charCodeAt(index);
      const next = index + 1 < length ? text.charCodeAt(index + 1) : 0;
      const both = one | (next << 8);
      characters |= one | next;
      first += both * readFactor(factors, factor);
      second += both * readFactor(factors, factor + 1);
      factor += 2;
      if (index % charactersPerReduction === charactersPerReduction - 2) {
        first = computeRemainder(first);
        second = computeRemainder(second);
      }
    }
    this.#first = first;
    this.#second = second;
    this.#characters = characters;
    return factor;
  }

  #reduce(): void {
    this.#first = computeRemainder(this.#first);
    this.#second = computeRemainder(this.#second);
  }

  /**
   * Distributes both halves over all bits, because the sums of similar texts have regular differences. Both steps are
   * invertible, so different sums remain different.
   */
  #mix(): void {
    const first = this.#first | 0;
    let mixed = Math.imul(first ^ (first >>> 16), 0x85ebca6b);
    const low = (this.#second | 0) ^ mixed ^ (mixed >>> 13);
    mixed = Math.imul(low ^ (low >>> 16), 0xc2b2ae35);
    // Two zeros represent an unused entry. One value less does not matter for the probability of a collision.
    this.high = first ^ mixed ^ (mixed >>> 13);
    this.low = low === 0 && this.high === 0 ? 1 : low;
  }
}

function readFactor(factors: Float64Array, index: number): number {
  return factors[index] ?? 0;
}

/** Returns an integer below 2^53 modulo the prime. The operator % would take five times as long. */
function computeRemainder(sum: number): number {
  const rest = sum - Math.floor(sum * inverse) * prime;
  if (rest < 0) return rest + prime;
  return rest >= prime ? rest - prime : rest;
}

/** Returns uniformly distributed numbers below the prime: the key stream of AES-128 in counter mode, without larger words. */
function factorsFrom(key: Uint8Array, count: number): Float64Array {
  const cipher = createCipheriv('aes-128-ctr', key, Buffer.alloc(16));
  const factors = new Float64Array(count);
  for (let filled = 0; filled < count; ) {
    const words = cipher.update(Buffer.alloc((count - filled) * 4));
    for (let at = 0; at < words.length; at += 4) {
      const word = words.readUInt32BE(at);
      if (word >= prime) continue;
      factors[filled] = word;
      filled += 1;
    }
  }
  return factors;
}

/** Returns the SHA-256 of texts that are long or not in Latin-1, with one character per byte. */
function computeDigest(user: string, nonce: string): string {
  const text = Buffer.from(`${user.length}:${user}${nonce}`, 'utf16le');
  return createHash('sha256').update(text).digest().toString('latin1');
}
