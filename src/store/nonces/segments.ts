/**
 * Entries of a group. Their number and their tags, a byte each, and their fingerprints, two words each, are
 * sixteen words, as long as a line of the processor's cache: so a look at an entry waits for the memory once.
 */
const entriesInGroup = 7;
const wordsInGroup = 16;
/** Where the fingerprints begin in a group. The number of entries is the lowest byte of the first word. */
const firstEntry = 2;
/** The share of entries that may be taken. With more, too many would not be in their own group. */
const mostTaken = 0.8;
/** The depth of a segment that is not in use. */
const unused = -1;

/** Where an entry goes when its segment is emptied. */
export type Way = 'lower' | 'upper' | 'out';

/**
 * The pieces of a table, each a hash table of its own, of fingerprints in two halves that are not both 0, with a tag
 * from 1 to 255 each. What finds its group full is in the next that is not. There must always be room in one.
 *
 * All have one size, and a number each that counts from 0. Several stand in one array, a block: what leads to an
 * entry must be there before the entry can be asked for, and what leads to few blocks stays in the processor's cache.
 */
export class Segments {
  /** How many groups a segment has, a power of 2, and how many entries that makes. */
  readonly groups: number;
  readonly most: number;
  /** How many of them may be taken. */
  readonly limit: number;
  /** Words of a segment. */
  readonly #size: number;
  /** The segments of a block are 2 to this power. */
  readonly #shift: number;
  /** Undefined where no segment of a block is in use. */
  readonly #blocks: (Int32Array | undefined)[] = [];
  /** How many entries each segment has. */
  readonly #taken: number[] = [];
  /** Each segment holds what shares so many first bits of its position. */
  readonly #depths: number[] = [];
  /** What was in the segment that is being emptied. */
  #emptied = new Int32Array(0);

  /** None yet. `inBlock`, how many of them stand together, is a power of 2. */
  constructor(groups: number, inBlock: number) {
    this.groups = groups;
    this.most = groups * entriesInGroup;
    this.limit = Math.ceil(this.most * mostTaken);
    this.#size = groups * wordsInGroup;
    this.#shift = Math.log2(inBlock);
  }

  /** Makes an empty segment of this depth, and gives its number. */
  create(depth: number): number {
    if (!this.#depths.includes(unused)) {
      for (let more = 1 << this.#shift; more > 0; more -= 1) {
        this.#depths.push(unused);
        this.#taken.push(0);
      }
    }
    const segment = this.#depths.indexOf(unused);
    // The system gives memory for it page by page, as they are written to.
    this.#blocks[segment >>> this.#shift] ??= new Int32Array(this.#size << this.#shift);
    this.#depths[segment] = depth;
    return segment;
  }

  /** Lets go of a segment that was emptied. */
  release(segment: number): void {
    this.#depths[segment] = unused;
    const block = segment >>> this.#shift;
    const depths = this.#depths.slice(block << this.#shift, (block + 1) << this.#shift);
    if (depths.every((depth) => depth === unused)) this.#blocks[block] = undefined;
  }

  depthOf(segment: number): number {
    return this.#depths[segment] ?? unused;
  }

  setDepth(segment: number, depth: number): void {
    this.#depths[segment] = depth;
  }

  /** How many entries a segment has. */
  takenIn(segment: number): number {
    return this.#taken[segment] ?? 0;
  }

  /** Where this fingerprint is, or -1. */
  find(segment: number, low: number, high: number): number {
    const words = this.#blockOf(segment);
    const base = this.#baseIn(segment);
    const last = this.groups - 1;
    for (let group = high & last; ; group = (group + 1) & last) {
      const start = base + group * wordsInGroup;
      const at = placeIn(words, start, low, high);
      if (at >= 0 || countIn(words, start) < entriesInGroup) return at;
    }
  }

  /**
   * Puts in what is not there, and gives -1; or gives where it is, or -2 when the segment is full. In one step, for
   * what a look has to wait for is there to be changed then.
   */
  claim(segment: number, low: number, high: number, tag: number): number {
    const words = this.#blockOf(segment);
    const base = this.#baseIn(segment);
    const last = this.groups - 1;
    for (let group = high & last; ; group = (group + 1) & last) {
      const start = base + group * wordsInGroup;
      const at = placeIn(words, start, low, high);
      if (at >= 0) return at;
      if (countIn(words, start) === entriesInGroup) continue;
      const taken = this.takenIn(segment);
      if (taken >= this.limit) return -2;
      this.#taken[segment] = taken + 1;
      append(words, start, low, high, tag);
      return -1;
    }
  }

  /** Puts in what is not there. */
  put(segment: number, low: number, high: number, tag: number): void {
    put(this.#blockOf(segment), this.#baseIn(segment), this.groups - 1, low, high, tag);
    this.#taken[segment] = this.takenIn(segment) + 1;
  }

  /** The tag of the entry there. */
  tagAt(segment: number, at: number): number {
    return tagIn(this.#blockOf(segment), at);
  }

  /** Gives the entry there another tag. */
  retag(segment: number, at: number, tag: number): void {
    const words = this.#blockOf(segment);
    const word = tagWord(at);
    const shift = tagShift(at);
    words[word] = ((words[word] ?? 0) & ~(255 << shift)) | (tag << shift);
  }

  /** How many entries of a segment have a tag that is not marked with 1. */
  countWithout(marked: Uint8Array, segment: number): number {
    const words = this.#blockOf(segment);
    const base = this.#baseIn(segment);
    let count = 0;
    for (let start = base; start < base + this.#size; start += wordsInGroup) {
      const end = endIn(words, start);
      for (let at = start + firstEntry; at < end; at += 2) count += 1 - (marked[tagIn(words, at)] ?? 0);
    }
    return count;
  }

  /**
   * Takes all entries out of a segment and puts them into two of `into`, of which each may be the segment itself, the
   * way that `wayOf` says for the first half of a fingerprint and the tag.
   */
  empty(
    segment: number,
    into: Segments,
    [lower, upper]: readonly [lower: number, upper: number],
    wayOf: (low: number, tag: number) => Way,
  ): void {
    const words = this.#takeOut(segment);
    const [lowerWords, upperWords] = [into.#blockOf(lower), into.#blockOf(upper)];
    const [lowerBase, upperBase] = [into.#baseIn(lower), into.#baseIn(upper)];
    const last = into.groups - 1;
    let toLower = 0;
    let toUpper = 0;
    for (let start = 0; start < words.length; start += wordsInGroup) {
      const end = endIn(words, start);
      for (let at = start + firstEntry; at < end; at += 2) {
        const low = words[at] ?? 0;
        const tag = tagIn(words, at);
        const way = wayOf(low, tag);
        if (way === 'lower') {
          put(lowerWords, lowerBase, last, low, words[at + 1] ?? 0, tag);
          toLower += 1;
        } else if (way === 'upper') {
          put(upperWords, upperBase, last, low, words[at + 1] ?? 0, tag);
          toUpper += 1;
        }
      }
    }
    into.#taken[lower] = into.takenIn(lower) + toLower;
    into.#taken[upper] = into.takenIn(upper) + toUpper;
  }

  /** What was in a segment, in which nothing is then. */
  #takeOut(segment: number): Int32Array {
    // Used again and again: arrays that are thrown away would be memory until the garbage is collected.
    if (this.#emptied.length === 0) this.#emptied = new Int32Array(this.#size);
    const base = this.#baseIn(segment);
    const words = this.#blockOf(segment).subarray(base, base + this.#size);
    this.#emptied.set(words);
    words.fill(0);
    this.#taken[segment] = 0;
    return this.#emptied;
  }

  #blockOf(segment: number): Int32Array {
    const block = this.#blocks[segment >>> this.#shift];
    if (block === undefined) throw new RangeError(`segment ${segment} is not in use`);
    return block;
  }

  /** Where a segment begins in its block. */
  #baseIn(segment: number): number {
    return (segment & ((1 << this.#shift) - 1)) * this.#size;
  }
}

/**
 * Where this fingerprint is in the group that begins there, or -1. All seven places, taken or not: where to stop would
 * depend on what is still on its way from memory. They are written out, which a loop takes a third longer than.
 */
function placeIn(words: Int32Array, start: number, low: number, high: number): number {
  if (words[start + 2] === low && words[start + 3] === high) return start + 2;
  if (words[start + 4] === low && words[start + 5] === high) return start + 4;
  if (words[start + 6] === low && words[start + 7] === high) return start + 6;
  if (words[start + 8] === low && words[start + 9] === high) return start + 8;
  if (words[start + 10] === low && words[start + 11] === high) return start + 10;
  if (words[start + 12] === low && words[start + 13] === high) return start + 12;
  if (words[start + 14] === low && words[start + 15] === high) return start + 14;
  return -1;
}

/** How many entries the group has that begins there. */
function countIn(words: Int32Array, start: number): number {
  return (words[start] ?? 0) & 255;
}

/** What comes behind the last entry of the group that begins there. */
function endIn(words: Int32Array, start: number): number {
  return start + firstEntry + countIn(words, start) * 2;
}

/** Puts in what is not in the segment that begins at `base`. */
function put(words: Int32Array, base: number, last: number, low: number, high: number, tag: number): void {
  let group = high & last;
  while (countIn(words, base + group * wordsInGroup) === entriesInGroup) group = (group + 1) & last;
  append(words, base + group * wordsInGroup, low, high, tag);
}

/** Puts an entry behind those of the group that begins there, which is not full. */
function append(words: Int32Array, start: number, low: number, high: number, tag: number): void {
  const at = endIn(words, start);
  words[at] = low;
  words[at + 1] = high;
  // Where no entry is, the tag is 0.
  words[tagWord(at)] = (words[tagWord(at)] ?? 0) | (tag << tagShift(at));
  words[start] = (words[start] ?? 0) + 1;
}

function tagIn(words: Int32Array, at: number): number {
  return ((words[tagWord(at)] ?? 0) >>> tagShift(at)) & 255;
}

/** The tag of an entry is the byte after those of the count and of the entries before it. */
function tagWord(at: number): number {
  const group = at & -wordsInGroup;
  return group + ((at - group) >> 3);
}

function tagShift(at: number): number {
  return ((at & (wordsInGroup - 1)) >> 1) * 8;
}
