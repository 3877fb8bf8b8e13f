import { createCipheriv, createHash } from 'node:crypto';

/** The largest prime below 2^32. Both halves of a fingerprint are counted modulo it. */
const prime = 4_294_967_291;
const inverse = 1 / prime;
/** The most characters of a user or a nonce that are read one by one. */
const longest = 256;
/**
 * Characters of a text after which the sum is reduced: with what is left of the text before, 15 numbers, at most 31 of
 * at most 2^48 come together, and the lengths, which is exact since it is below 2^53.
 */
const stretch = 32;
/** Numbers that come before the characters: both lengths, and what kind of text follows. */
const leading = 3;

/**
 * Makes fingerprints of 64 bits of a user's nonce. A text is a vector of numbers: the two lengths, its kind, and
 * the characters by twos. Each half of a fingerprint is the sum of these, times one secret number each, modulo
 * a prime p (multilinear hashing: Carter and Wegman, "Universal classes of hash functions", 1979). Two
 * different texts differ in at least one number, and then exactly one of the p values of its secret factor
 * makes their sums equal: whoever chooses texts without knowing the factors makes two collide with a chance of
 * 1 / p² = 2^-64 × (1 + 2 × 10^-9), however he chooses them, and not with a better one.
 *
 * The factors are drawn from the key with AES-128 in counter mode. Reading characters is most of the work, so this
 * takes half the time of SipHash-1-3; numbers stay exact below 2^53, and nothing is allocated.
 */
export class Fingerprint {
  /** The first 32 bits of the latest, signed. Never 0 together with the others. */
  low = 0;
  /** The other 32 bits, signed. */
  high = 0;
  /** The factors, of the first half and of the second by turns; none before the first text. */
  #factors: Float64Array = new Float64Array(0);
  /** The key, until the factors are drawn from it: what nobody has signed for yet need not be ready at a start. */
  #key: Uint8Array | undefined;
  #first = 0;
  #second = 0;
  /** Has a bit above the lowest eight when a character that was read is not in latin1. */
  #characters = 0;

  /** Takes the 16 bytes of the key, and keeps only what is drawn from them as soon as that is needed. Throws RangeError when they are not 16. */
  constructor(key: Uint8Array) {
    if (key.length !== 16) throw new RangeError('the key must have 16 bytes');
    this.#key = Uint8Array.from(key);
  }

  /** Sets `low` and `high` to the fingerprint of this user's nonce. */
  take(user: string, nonce: string): void {
    if (this.#key !== undefined) this.#draw(this.#key);
    if (user.length > longest || nonce.length > longest) this.#sum('', digestOf(user, nonce), 1);
    else {
      this.#sum(user, nonce, 0);
      if (this.#characters > 0xff) this.#sum('', digestOf(user, nonce), 1);
    }
    this.#mix();
  }

  #draw(key: Uint8Array): void {
    this.#factors = factorsFrom(key, (leading + longest) * 2);
    this.#key = undefined;
  }

  #sum(user: string, nonce: string, kind: number): void {
    const factors = this.#factors;
    this.#characters = 0;
    this.#first = user.length * at(factors, 0) + nonce.length * at(factors, 2) + kind * at(factors, 4);
    this.#second = user.length * at(factors, 1) + nonce.length * at(factors, 3) + kind * at(factors, 5);
    this.#add(nonce, this.#add(user, leading * 2));
    this.#reduce();
  }

  /** Adds the text's characters from this factor on, and gives the factor for what follows. */
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
      first += both * at(factors, factor);
      second += both * at(factors, factor + 1);
      factor += 2;
      if (index % stretch === stretch - 2) {
        first = remainder(first);
        second = remainder(second);
      }
    }
    this.#first = first;
    this.#second = second;
    this.#characters = characters;
    return factor;
  }

  #reduce(): void {
    this.#first = remainder(this.#first);
    this.#second = remainder(this.#second);
  }

  /**
   * Spreads both halves over all bits, since sums of texts that are alike are at regular distances. Each of the two
   * steps can be undone, so what was different stays so.
   */
  #mix(): void {
    const first = this.#first | 0;
    let mixed = Math.imul(first ^ (first >>> 16), 0x85ebca6b);
    const low = (this.#second | 0) ^ mixed ^ (mixed >>> 13);
    mixed = Math.imul(low ^ (low >>> 16), 0xc2b2ae35);
    // Both 0 mean an empty place. That one value less is left is nothing beside what is counted with.
    this.high = first ^ mixed ^ (mixed >>> 13);
    this.low = low === 0 && this.high === 0 ? 1 : low;
  }
}

function at(factors: Float64Array, index: number): number {
  return factors[index] ?? 0;
}

/** For a whole number below 2^53. The operator % would take five times as long. */
function remainder(sum: number): number {
  const rest = sum - Math.floor(sum * inverse) * prime;
  if (rest < 0) return rest + prime;
  return rest >= prime ? rest - prime : rest;
}

/** Numbers below the prime, all equally likely: words of AES-128 in counter mode, without those above. */
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

/** What stands for texts that are long or not in latin1: a character for each byte of their SHA-256. */
function digestOf(user: string, nonce: string): string {
  const text = Buffer.from(`${user.length}:${user}${nonce}`, 'utf16le');
  return createHash('sha256').update(text).digest().toString('latin1');
}
