/**
 * Entries of a group. Their fingerprints (two words each), their tags (a byte each) and their number (a byte) are 64
 * bytes, a line of the processor's cache, so that a look at an entry waits for the memory once.
 */
const entriesInGroup = 7;
const wordsInGroup = 16;
/** Where in a group the tags begin (in bytes) and the fingerprints (in words). The number of entries is at 0. */
const tagsAt = 1;
const firstWord = 2;
/** Groups of the first segment when nothing is kept yet. */
const fewestGroups = 1 << 7;
/**
 * Groups of a segment that is split rather than made larger: 1 MB. Moving all of it takes a few milliseconds; and for
 * 10 million entries there are so few segments that what leads to them stays in the processor's cache.
 */
const mostGroups = 1 << 14;
/** The share of entries that may be taken. With more, too many would not be in their own group. */
const mostTaken = 0.8;
/** The share of kept entries above which a full segment gets more room. With fewer, taking out the others is enough. */
const growAbove = 0.7;
/** The share of kept entries of two halves below which they become one segment again. */
const joinBelow = 0.3;

/** One piece of the table: a hash table of its own. What finds its group full is in the next that is not. */
class Segment {
  /** The groups: words, and the same memory as bytes. */
  readonly words: Int32Array;
  readonly bytes: Uint8Array;
  /** How many groups there are, a power of 2, how many entries at most, and how many are taken. */
  readonly groups: number;
  readonly most: number;
  taken = 0;
  /** It holds what shares its position's first `depth` bits. */
  depth: number;

  constructor(groups: number, depth: number) {
    this.words = new Int32Array(groups * wordsInGroup);
    this.bytes = new Uint8Array(this.words.buffer);
    this.groups = groups;
    this.most = groups * entriesInGroup;
    this.depth = depth;
  }

  /** Where in the bytes this fingerprint's tag is, or -1. */
  tagOf(low: number, high: number): number {
    const { words, bytes } = this;
    const last = this.groups - 1;
    for (let group = high & last; ; group = (group + 1) & last) {
      const start = group * wordsInGroup;
      // All seven, taken or not: where to stop would depend on what is still on its way from memory.
      for (let entry = 0; entry < entriesInGroup; entry += 1) {
        const at = start + firstWord + entry * 2;
        if (words[at] === low && words[at + 1] === high) return start * 4 + tagsAt + entry;
      }
      if (bytes[start * 4] !== entriesInGroup) return -1;
    }
  }

  /** Puts in what is not there. */
  put(low: number, high: number, tag: number): void {
    const { words, bytes } = this;
    const last = this.groups - 1;
    let group = high & last;
    while (bytes[group * 64] === entriesInGroup) group = (group + 1) & last;
    const start = group * wordsInGroup;
    const entry = bytes[start * 4] ?? 0;
    words[start + firstWord + entry * 2] = low;
    words[start + firstWord + entry * 2 + 1] = high;
    bytes[start * 4 + tagsAt + entry] = tag;
    bytes[start * 4] = entry + 1;
    this.taken += 1;
  }
}

/**
 * Fingerprints of 64 bits, each with a tag from 1 to 255, in segments of typed arrays (extendible hashing: Fagin,
 * Nievergelt, Pippenger and Strong, 1979). A full segment is split in two, and that is all that growing ever moves;
 * a larger array is needed only for the directory, which has a reference for a few thousand entries.
 *
 * If positions were spread evenly, all segments would become full at the same time, and after that all be half
 * empty. Here they are up to twice as dense at one end as at the other (spiral storage: Martin, 1979), so that at
 * any time some have just been split and some are about to be, and the memory for an entry stays the same.
 *
 * All entries of one tag are let go at once by marking the tag. They are then not found any more, and taken out
 * piece by piece: by `sweep`, and when their segment is full.
 */
export class FingerprintTable {
  /** As many as a power of 2; a segment stands in as many as have its first bits. */
  #directory: Segment[] = [new Segment(fewestGroups, 0)];
  /** 1 for a tag that was let go. */
  readonly #dead = new Uint8Array(256);
  /** Entries in the table by tag, those let go and not yet taken out among them. */
  readonly #entries = new Float64Array(256);
  /** How many entries were let go and not yet taken out. */
  #dying = 0;
  /** The position up to which they were taken out. */
  #swept = 0;

  /** The tag with which this fingerprint is kept, or 0. Its halves must not both be 0. */
  find(low: number, high: number): number {
    const segment = this.#segmentAt(positionOf(low));
    const at = segment.tagOf(low, high);
    if (at < 0) return 0;
    const tag = segment.bytes[at] ?? 0;
    return this.#dead[tag] === 1 ? 0 : tag;
  }

  /** Adds a fingerprint that `find` does not find, with a tag that was not let go. */
  add(low: number, high: number, tag: number): void {
    const position = positionOf(low);
    let segment = this.#segmentAt(position);
    this.#entries[tag] = this.entriesOf(tag) + 1;
    const there = this.#dying === 0 ? -1 : segment.tagOf(low, high);
    if (there >= 0) {
      this.#removed(segment.bytes[there] ?? 0);
      segment.bytes[there] = tag;
      return;
    }
    while (segment.taken >= segment.most * mostTaken) {
      this.#relieve(segment, position);
      segment = this.#segmentAt(position);
    }
    segment.put(low, high, tag);
  }

  /** How many entries of this tag are in the table: a tag that was let go may be used again when there are none. */
  entriesOf(tag: number): number {
    return this.#entries[tag] ?? 0;
  }

  /** Lets all entries of a tag go. */
  release(tag: number): void {
    if (this.entriesOf(tag) === 0) return;
    this.#dead[tag] = 1;
    this.#dying += this.entriesOf(tag);
    this.#swept = 0;
  }

  /** Takes out of one segment what was let go. Does nothing when nothing is left of that. */
  sweep(): void {
    if (this.#dying === 0) return;
    const position = this.#swept < 1 ? this.#swept : 0;
    const segment = this.#segmentAt(position);
    this.#rebuild(segment, position, segment.groups);
    this.#swept = position + 2 ** -segment.depth;
    this.#join(position);
  }

  /** Lets everything go at once. */
  clear(): void {
    this.#directory = [new Segment(fewestGroups, 0)];
    this.#dead.fill(0);
    this.#entries.fill(0);
    this.#dying = 0;
  }

  #segmentAt(position: number): Segment {
    const segment = this.#directory[(position * this.#directory.length) | 0];
    if (segment === undefined) throw new RangeError(`there is no position ${position}`);
    return segment;
  }

  /** Makes room in a full segment. */
  #relieve(segment: Segment, position: number): void {
    const kept = this.#dying === 0 ? segment.taken : this.#keptIn(segment);
    if (kept <= segment.most * growAbove) this.#rebuild(segment, position, segment.groups);
    else if (segment.groups < mostGroups) this.#rebuild(segment, position, segment.groups * 2);
    else this.#split(segment, position);
  }

  #keptIn({ bytes, groups }: Segment): number {
    let kept = 0;
    for (let group = 0; group < groups; group += 1) {
      const count = bytes[group * 64] ?? 0;
      for (let entry = 0; entry < count; entry += 1) {
        if (this.#dead[bytes[group * 64 + tagsAt + entry] ?? 0] === 0) kept += 1;
      }
    }
    return kept;
  }

  /** Puts another segment, with so many groups, where this one stands, without entries that were let go. */
  #rebuild(segment: Segment, position: number, groups: number): void {
    const fresh = new Segment(groups, segment.depth);
    this.#enter(fresh, Math.floor(position * 2 ** segment.depth));
    this.#pour(segment, fresh, fresh);
  }

  /** Puts two segments where this one stands. */
  #split(segment: Segment, position: number): void {
    if (2 ** segment.depth === this.#directory.length) this.#directory = doubled(this.#directory);
    const depth = segment.depth + 1;
    const lower = new Segment(segment.groups, depth);
    const upper = new Segment(segment.groups, depth);
    const number = Math.floor(position * 2 ** segment.depth) * 2;
    this.#enter(lower, number);
    this.#enter(upper, number + 1);
    this.#pour(segment, lower, upper);
  }

  /** Makes a segment stand at the `number`th part of all positions, counted in parts as wide as it. */
  #enter(segment: Segment, number: number): void {
    const width = this.#directory.length / 2 ** segment.depth;
    this.#directory.fill(segment, number * width, (number + 1) * width);
  }

  /** Puts the entries of one segment into two others by their positions, without those that were let go. */
  #pour(from: Segment, lower: Segment, upper: Segment): void {
    const parts = 2 ** upper.depth;
    for (let group = 0; group < from.groups; group += 1) {
      const count = from.bytes[group * 64] ?? 0;
      for (let entry = 0; entry < count; entry += 1) {
        const tag = from.bytes[group * 64 + tagsAt + entry] ?? 0;
        if (this.#dead[tag] === 1) {
          this.#removed(tag);
          continue;
        }
        const low = from.words[group * wordsInGroup + firstWord + entry * 2] ?? 0;
        const high = from.words[group * wordsInGroup + firstWord + entry * 2 + 1] ?? 0;
        const target = (positionOf(low) * parts) & 1 ? upper : lower;
        target.put(low, high, tag);
      }
    }
  }

  /** Makes the segment here one with the half before it, and so on, where both hold little. */
  #join(position: number): void {
    let segment = this.#segmentAt(position);
    let number = Math.floor(position * 2 ** segment.depth);
    while (number % 2 === 1) {
      const lower = this.#segmentAt((number - 1) / 2 ** segment.depth);
      if (lower.depth !== segment.depth || lower.taken + segment.taken > joinBelow * lower.most) return;
      this.#pour(segment, lower, lower);
      lower.depth -= 1;
      number = (number - 1) / 2;
      this.#enter(lower, number);
      segment = lower;
    }
  }

  #removed(tag: number): void {
    const left = this.entriesOf(tag) - 1;
    this.#entries[tag] = left;
    this.#dying -= 1;
    if (left === 0) this.#dead[tag] = 0;
  }
}

function doubled(directory: readonly Segment[]): Segment[] {
  const twice: Segment[] = [];
  for (const segment of directory) twice.push(segment, segment);
  return twice;
}

/** From 0 to below 1; positions near 0 are twice as dense as those near 1. */
function positionOf(low: number): number {
  const even = (low >>> 0) / 4294967296;
  return (even * (2 + even)) / 3;
}
