/**
 * The number of entries in a group. Their count and their tags (one byte each) and their fingerprints (two words each)
 * are sixteen words, the length of a cache line. So a lookup needs one memory access.
 */
const entriesInGroup = 7;
const wordsInGroup = 16;
/** The offset of the fingerprints in a group. The count is the lowest byte of the first word. */
const firstEntry = 2;
/** The maximum share of used entries. With more, too many entries would not be in their own group. */
const maxLoad = 0.8;
/** The depth of an unused segment. */
const unused = -1;

/** Where an entry is moved when its segment is emptied; `out`: it is removed. */
export type Destination = 'lower' | 'upper' | 'out';

/**
 * The segments of a table. Each segment is a hash table of fingerprints, in two halves that are not both 0, with a tag
 * from 1 to 255 each. An entry whose group is full is in the next group that is not full. There must always be one.
 *
 * All segments have the same size. They are numbered from 0. Several segments are in one array, a block: with few
 * blocks, the references to them remain in the processor cache.
 */
export class Segments {
  /** The number of groups in a segment, a power of 2. */
  readonly groups: number;
  /** The number of entries in a segment. */
  readonly capacity: number;
  /** The maximum number of used entries in a segment. */
  readonly limit: number;
  /** The number of words in a segment. */
  readonly #size: number;
  /** The binary logarithm of the number of segments in a block. */
  readonly #shift: number;
  /** Undefined for a block without used segments. */
  readonly #blocks: (Int32Array | undefined)[] = [];
  /** The number of entries in each segment. */
  readonly #counts: number[] = [];
  /** The number of leading bits of the position that all entries of a segment have in common. */
  readonly #depths: number[] = [];
  /** A copy of the segment that is being emptied. */
  #copy = new Int32Array(0);

  /**
   * Creates no segment yet.
   * @param groups the number of groups in a segment, a power of 2
   * @param perBlock the number of segments in a block, a power of 2
   */
  constructor(groups: number, perBlock: number) {
    this.groups = groups;
    this.capacity = groups * entriesInGroup;
    this.limit = Math.ceil(this.capacity * maxLoad);
    this.#size = groups * wordsInGroup;
    this.#shift = Math.log2(perBlock);
  }

  /** Creates an empty segment of this depth. Returns its number. */
  create(depth: number): number {
    if (!this.#depths.includes(unused)) {
      for (let more = 1 << this.#shift; more > 0; more -= 1) {
        this.#depths.push(unused);
        this.#counts.push(0);
      }
    }
    const segment = this.#depths.indexOf(unused);
    // The operating system allocates a page when it is first written.
    this.#blocks[segment >>> this.#shift] ??= new Int32Array(this.#size << this.#shift);
    this.#depths[segment] = depth;
    return segment;
  }

  /** Releases a segment that was emptied. */
  release(segment: number): void {
    this.#depths[segment] = unused;
    const block = segment >>> this.#shift;
    const depths = this.#depths.slice(block << this.#shift, (block + 1) << this.#shift);
    if (depths.every((depth) => depth === unused)) this.#blocks[block] = undefined;
  }

  /** Returns the depth of a segment. */
  getDepth(segment: number): number {
    return this.#depths[segment] ?? unused;
  }

  /** Sets the depth of a segment. */
  setDepth(segment: number, depth: number): void {
    this.#depths[segment] = depth;
  }

  /** Returns the number of entries in a segment. */
  getCount(segment: number): number {
    return this.#counts[segment] ?? 0;
  }

  /** Returns the offset of a fingerprint, or -1. */
  find(segment: number, low: number, high: number): number {
    const words = this.#getBlock(segment);
    const base = this.#baseIn(segment);
    const last = this.groups - 1;
    for (let group = high & last; ; group = (group + 1) & last) {
      const start = base + group * wordsInGroup;
      const at = offsetIn(words, start, low, high);
      if (at >= 0 || countIn(words, start) < entriesInGroup) return at;
    }
  }

  /**
   * Adds a fingerprint. Returns -1 if it was added, its offset if it exists, or -2 if the segment is full. This is one
   * method because the lookup has already loaded the cache line.
   */
  claim(segment: number, low: number, high: number, tag: number): number {
    const words = this.#getBlock(segment);
    const base = this.#baseIn(segment);
    const last = this.groups - 1;
    for (let group = high & last; ; group = (group + 1) & last) {
      const start = base + group * wordsInGroup;
      const at = offsetIn(words, start, low, high);
      if (at >= 0) return at;
      if (countIn(words, start) === entriesInGroup) continue;
      const count = this.getCount(segment);
      if (count >= this.limit) return -2;
      this.#counts[segment] = count + 1;
      append(words, start, low, high, tag);
      return -1;
    }
  }

  /** Adds a fingerprint that does not exist. */
  put(segment: number, low: number, high: number, tag: number): void {
    put(this.#getBlock(segment), this.#baseIn(segment), this.groups - 1, low, high, tag);
    this.#counts[segment] = this.getCount(segment) + 1;
  }

  /** Returns the tag of the entry at an offset. */
  tagAt(segment: number, at: number): number {
    return tagIn(this.#getBlock(segment), at);
  }

  /** Changes the tag of the entry at an offset. */
  retag(segment: number, at: number, tag: number): void {
    const words = this.#getBlock(segment);
    const word = tagWord(at);
    const shift = tagShift(at);
    words[word] = ((words[word] ?? 0) & ~(255 << shift)) | (tag << shift);
  }

  /** Returns the number of entries in a segment whose tag is not marked with 1. */
  countWithout(marked: Uint8Array, segment: number): number {
    const words = this.#getBlock(segment);
    const base = this.#baseIn(segment);
    let count = 0;
    for (let start = base; start < base + this.#size; start += wordsInGroup) {
      const end = endIn(words, start);
      for (let at = start + firstEntry; at < end; at += 2) count += 1 - (marked[tagIn(words, at)] ?? 0);
    }
    return count;
  }

  /**
   * Moves all entries of a segment to two segments of `into`, each of which may be the segment itself.
   * @param chooseDestination returns the destination for the first half of a fingerprint and its tag
   */
  empty(
    segment: number,
    into: Segments,
    [lower, upper]: readonly [lower: number, upper: number],
    chooseDestination: (low: number, tag: number) => Destination,
  ): void {
    const words = this.#clear(segment);
    const [lowerWords, upperWords] = [into.#getBlock(lower), into.#getBlock(upper)];
    const [lowerBase, upperBase] = [into.#baseIn(lower), into.#baseIn(upper)];
    const last = into.groups - 1;
    let toLower = 0;
    let toUpper = 0;
    for (let start = 0; start < words.length; start += wordsInGroup) {
      const end = endIn(words, start);
      for (let at = start + firstEntry; at < end; at += 2) {
        const low = words[at] ?? 0;
        const tag = tagIn(words, at);
        const destination = chooseDestination(low, tag);
        if (destination === 'lower') {
          put(lowerWords, lowerBase, last, low, words[at + 1] ?? 0, tag);
          toLower += 1;
        } else if (destination === 'upper') {
          put(upperWords, upperBase, last, low, words[at + 1] ?? 0, tag);
          toUpper += 1;
        }
      }
    }
    into.#counts[lower] = into.getCount(lower) + toLower;
    into.#counts[upper] = into.getCount(upper) + toUpper;
  }

  /** Removes all entries from a segment. Returns a copy of its words. */
  #clear(segment: number): Int32Array {
    // The copy is reused, to relieve the garbage collector.
    if (this.#copy.length === 0) this.#copy = new Int32Array(this.#size);
    const base = this.#baseIn(segment);
    const words = this.#getBlock(segment).subarray(base, base + this.#size);
    this.#copy.set(words);
    words.fill(0);
    this.#counts[segment] = 0;
    return this.#copy;
  }

  #getBlock(segment: number): Int32Array {
    const block = this.#blocks[segment >>> this.#shift];
    if (block === undefined) throw new RangeError(`segment ${segment} is unused`);
    return block;
  }

  /** Returns the offset of a segment in its block. */
  #baseIn(segment: number): number {
    return (segment & ((1 << this.#shift) - 1)) * this.#size;
  }
}

/**
 * Returns the offset of a fingerprint in the group at `start`, or -1. All seven entries are compared, used or not: the
 * processor need not wait for the count. A loop would take a third longer.
 */
function offsetIn(words: Int32Array, start: number, low: number, high: number): number {
  if (words[start + 2] === low && words[start + 3] === high) return start + 2;
  if (words[start + 4] === low && words[start + 5] === high) return start + 4;
  if (words[start + 6] === low && words[start + 7] === high) return start + 6;
  if (words[start + 8] === low && words[start + 9] === high) return start + 8;
  if (words[start + 10] === low && words[start + 11] === high) return start + 10;
  if (words[start + 12] === low && words[start + 13] === high) return start + 12;
  if (words[start + 14] === low && words[start + 15] === high) return start + 14;
  return -1;
}

/** Returns the number of entries in the group at `start`. */
function countIn(words: Int32Array, start: number): number {
  return (words[start] ?? 0) & 255;
}

/** Returns the offset after the last entry of the group at `start`. */
function endIn(words: Int32Array, start: number): number {
  return start + firstEntry + countIn(words, start) * 2;
}

/** Adds an entry to the segment at `base`. */
function put(words: Int32Array, base: number, last: number, low: number, high: number, tag: number): void {
  let group = high & last;
  while (countIn(words, base + group * wordsInGroup) === entriesInGroup) group = (group + 1) & last;
  append(words, base + group * wordsInGroup, low, high, tag);
}

/** Adds an entry to the group at `start`, which is not full. */
function append(words: Int32Array, start: number, low: number, high: number, tag: number): void {
  const at = endIn(words, start);
  words[at] = low;
  words[at + 1] = high;
  // The tag of an unused entry is 0.
  words[tagWord(at)] = (words[tagWord(at)] ?? 0) | (tag << tagShift(at));
  words[start] = (words[start] ?? 0) + 1;
}

function tagIn(words: Int32Array, at: number): number {
  return ((words[tagWord(at)] ?? 0) >>> tagShift(at)) & 255;
}

/** Returns the word that contains the tag of an entry: the tags follow the count, one byte each. */
function tagWord(at: number): number {
  const group = at & -wordsInGroup;
  return group + ((at - group) >> 3);
}

function tagShift(at: number): number {
  return ((at & (wordsInGroup - 1)) >> 1) * 8;
}
