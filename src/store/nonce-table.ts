import { Segment } from './nonce-segment.ts';

/** Groups of the first segment when nothing is kept yet: 8 kB. */
const fewestGroups = 1 << 7;
/**
 * Groups of a segment that is split rather than made larger: 512 kB. Moving all of it takes a few milliseconds; and
 * for 10 million entries there are so few segments that what leads to them stays in the processor's cache.
 */
const mostGroups = 1 << 13;
/** The share of kept entries above which a full segment gets more room. With fewer, taking out the others is enough. */
const growAbove = 0.7;
/** The share of kept entries of two halves below which they become one segment again. */
const joinBelow = 0.3;

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
  /** The segment that is being rebuilt, as it was. */
  #copy = new Segment(1, 0);
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
    const at = segment.find(low, high);
    if (at < 0) return 0;
    const tag = segment.tagAt(at);
    return this.#dead[tag] === 1 ? 0 : tag;
  }

  /** Adds a fingerprint, with a tag that was not let go, unless `find` finds it. Whether it was added. */
  add(low: number, high: number, tag: number): boolean {
    const position = positionOf(low);
    const segment = this.#segmentAt(position);
    const there = segment.claim(low, high, tag);
    if (there >= 0) {
      const before = segment.tagAt(there);
      if (this.#dead[before] === 0) return false;
      this.#removed(before);
      segment.retag(there, tag);
    } else if (there === -2) this.#addToFull(position, low, high, tag);
    this.#entries[tag] = this.entriesOf(tag) + 1;
    return true;
  }

  /** Gives a fingerprint that `find` finds another tag, which was not let go. */
  retag(low: number, high: number, tag: number): void {
    const segment = this.#segmentAt(positionOf(low));
    const at = segment.find(low, high);
    const before = segment.tagAt(at);
    this.#entries[before] = this.entriesOf(before) - 1;
    this.#entries[tag] = this.entriesOf(tag) + 1;
    segment.retag(at, tag);
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
    this.#rebuild(segment, segment);
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

  #addToFull(position: number, low: number, high: number, tag: number): void {
    let segment = this.#segmentAt(position);
    while (segment.taken >= segment.limit) {
      this.#relieve(segment, position);
      segment = this.#segmentAt(position);
    }
    segment.put(low, high, tag);
  }

  #segmentAt(position: number): Segment {
    const segment = this.#directory[(position * this.#directory.length) | 0];
    if (segment === undefined) throw new RangeError(`there is no position ${position}`);
    return segment;
  }

  /** Makes room in a full segment. */
  #relieve(segment: Segment, position: number): void {
    const kept = this.#dying === 0 ? segment.taken : this.#keptIn(segment);
    if (kept <= segment.most * growAbove) this.#rebuild(segment, segment);
    else if (segment.groups < mostGroups) this.#enlarge(segment);
    else this.#split(segment, position);
  }

  #keptIn(segment: Segment): number {
    let kept = 0;
    for (let at = segment.next(); at >= 0; at = segment.next(at))
      kept += 1 - (this.#dead[segment.tagAt(at)] ?? 0);
    return kept;
  }

  /** Only the first segment is ever enlarged, as long as it is the only one. */
  #enlarge(segment: Segment): void {
    const larger = new Segment(segment.groups * 2, 0);
    this.#directory = [larger];
    this.#pour(segment, larger, larger);
  }

  #split(segment: Segment, position: number): void {
    if (2 ** segment.depth === this.#directory.length) this.#directory = doubled(this.#directory);
    segment.depth += 1;
    const upper = new Segment(segment.groups, segment.depth);
    this.#enter(upper, Math.floor(position * 2 ** segment.depth) | 1);
    this.#rebuild(segment, upper);
  }

  /** Puts the segment's entries in again, those of its upper half into `upper`. */
  #rebuild(segment: Segment, upper: Segment): void {
    // Used again and again: arrays that are thrown away would be memory until the garbage is collected.
    if (this.#copy.groups !== segment.groups) this.#copy = new Segment(segment.groups, 0);
    this.#copy.copy(segment);
    segment.clear();
    this.#pour(this.#copy, segment, upper);
  }

  /** Makes a segment stand at the `number`th part of all positions, counted in parts as wide as it. */
  #enter(segment: Segment, number: number): void {
    const width = this.#directory.length / 2 ** segment.depth;
    this.#directory.fill(segment, number * width, (number + 1) * width);
  }

  /** Puts the entries of one segment into two others by their positions, without those that were let go. */
  #pour(from: Segment, lower: Segment, upper: Segment): void {
    const parts = 2 ** upper.depth;
    for (let at = from.next(); at >= 0; at = from.next(at)) {
      const tag = from.tagAt(at);
      const low = from.lowAt(at);
      if (this.#dead[tag] === 1) this.#removed(tag);
      else if (lower === upper || ((positionOf(low) * parts) & 1) === 0) lower.put(low, from.highAt(at), tag);
      else upper.put(low, from.highAt(at), tag);
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
