/**
 * Entries of a group. Their number and their tags, a byte each, and their fingerprints, two words each, are
 * sixteen words, as long as a line of the processor's cache: so a look at an entry waits for the memory once.
 */
const entriesInGroup = 7;
const wordsInGroup = 16;
/** The share of entries that may be taken. With more, too many would not be in their own group. */
const mostTaken = 0.8;
/** Where the fingerprints begin in a group. The number of entries is the lowest byte of the first word. */
const firstEntry = 2;

/**
 * One piece of the table: a hash table of its own, of fingerprints in two halves that are not both 0, with a tag
 * from 1 to 255 each. What finds its group full is in the next that is not. There must always be room in one.
 */
export class Segment {
  /** How many groups there are, a power of 2, and how many entries that makes. */
  readonly groups: number;
  readonly most: number;
  /** How many of them may be taken. */
  readonly limit: number;
  /** How many entries there are. */
  taken = 0;
  /** It holds what shares the first `depth` bits of its position. */
  depth: number;
  readonly #words: Int32Array;

  constructor(groups: number, depth: number) {
    this.groups = groups;
    this.most = groups * entriesInGroup;
    this.limit = Math.ceil(this.most * mostTaken);
    this.depth = depth;
    this.#words = new Int32Array(groups * wordsInGroup);
  }

  /** Where this fingerprint is, or -1. */
  find(low: number, high: number): number {
    const words = this.#words;
    const last = this.groups - 1;
    for (let group = high & last; ; group = (group + 1) & last) {
      const start = group * wordsInGroup;
      // All seven, taken or not: where to stop would depend on what is still on its way from memory.
      for (let at = start + firstEntry; at < start + wordsInGroup; at += 2) {
        if (words[at] === low && words[at + 1] === high) return at;
      }
      if (((words[start] ?? 0) & 255) < entriesInGroup) return -1;
    }
  }

  /**
   * Puts in what is not there, and gives -1; or gives where it is, or -2 when the segment is full. In one step, for
   * what a look has to wait for is there to be changed then.
   */
  claim(low: number, high: number, tag: number): number {
    const words = this.#words;
    const last = this.groups - 1;
    for (let group = high & last; ; group = (group + 1) & last) {
      const start = group * wordsInGroup;
      for (let at = start + firstEntry; at < start + wordsInGroup; at += 2) {
        if (words[at] === low && words[at + 1] === high) return at;
      }
      const counted = words[start] ?? 0;
      const count = counted & 255;
      if (count === entriesInGroup) continue;
      if (this.taken >= this.limit) return -2;
      this.taken += 1;
      this.#append(start, counted, low, high, tag);
      return -1;
    }
  }

  /** Puts in what is not there. */
  put(low: number, high: number, tag: number): void {
    const words = this.#words;
    const last = this.groups - 1;
    let start = (high & last) * wordsInGroup;
    let counted = words[start] ?? 0;
    while ((counted & 255) === entriesInGroup) {
      start = (start + wordsInGroup) & (last * wordsInGroup);
      counted = words[start] ?? 0;
    }
    this.#append(start, counted, low, high, tag);
    this.taken += 1;
  }

  /** Puts an entry behind those of the group there, which is not full; `counted` is the group's first word. */
  #append(start: number, counted: number, low: number, high: number, tag: number): void {
    const words = this.#words;
    const count = counted & 255;
    const at = start + firstEntry + count * 2;
    words[at] = low;
    words[at + 1] = high;
    // Where no entry is, the tag is 0. The first three stand in the word that has the count.
    if (count < 3) words[start] = (counted + 1) | (tag << (8 * count + 8));
    else {
      words[start] = counted + 1;
      words[start + 1] = (words[start + 1] ?? 0) | (tag << (8 * count - 24));
    }
  }

  /** The tag of the entry there. */
  tagAt(at: number): number {
    return ((this.#words[tagWord(at)] ?? 0) >>> tagShift(at)) & 255;
  }

  /** Gives the entry there another tag. */
  retag(at: number, tag: number): void {
    const word = tagWord(at);
    const shift = tagShift(at);
    this.#words[word] = ((this.#words[word] ?? 0) & ~(255 << shift)) | (tag << shift);
  }

  /** Where the first entry is, or the next after `at`; -1 after the last. */
  next(at = -1): number {
    const words = this.#words;
    let start = at < 0 ? 0 : at - (at % wordsInGroup);
    let following = at < 0 ? firstEntry : at + 2;
    for (; start < words.length; start += wordsInGroup) {
      if (following < start + firstEntry + ((words[start] ?? 0) & 255) * 2) return following;
      following = start + wordsInGroup + firstEntry;
    }
    return -1;
  }

  /** The first half of the entry there. */
  lowAt(at: number): number {
    return this.#words[at] ?? 0;
  }

  /** The second half of the entry there. */
  highAt(at: number): number {
    return this.#words[at + 1] ?? 0;
  }

  /** Becomes a copy of another segment with as many groups. */
  copy(other: Segment): void {
    this.#words.set(other.#words);
    this.taken = other.taken;
    this.depth = other.depth;
  }

  /** Takes everything out. */
  clear(): void {
    this.#words.fill(0);
    this.taken = 0;
  }
}

/** The tag of an entry is the byte after those of the count and of the entries before it. */
function tagWord(at: number): number {
  const group = at & -wordsInGroup;
  return group + ((at - group) >> 3);
}

function tagShift(at: number): number {
  return ((at & (wordsInGroup - 1)) >> 1) * 8;
}
