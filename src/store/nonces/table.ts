import { Segments, type Way } from './segments.ts';

/** Groups of the first segment when nothing is kept yet: 8 kB. */
const fewestGroups = 1 << 7;
/** Groups of a segment that is split rather than made larger: 512 kB. Moving all of it takes one or two milliseconds. */
const mostGroups = 1 << 13;
/** How many of those stand together: 4 MB. */
const segmentsInBlock = 8;
/** The share of kept entries above which a full segment gets more room. With fewer, taking out the others is enough. */
const growAbove = 0.7;
/** The share of kept entries of two halves below which they become one segment again. */
const joinBelow = 0.3;

/**
 * Fingerprints of 64 bits, each with a tag from 1 to 255, in segments of typed arrays (extendible hashing: Fagin,
 * Nievergelt, Pippenger and Strong, 1979). A full segment is split in two, and that is all that growing ever moves;
 * a larger array is needed only for the directory, which has a number for a few thousand entries.
 *
 * If positions were spread evenly, all segments would become full at the same time, and after that all be half
 * empty. Here they are up to twice as dense at one end as at the other (spiral storage: Martin, 1979), so that at
 * any time some have just been split and some are about to be, and the memory for an entry stays the same.
 *
 * All entries of one tag are let go at once by marking the tag. They are then not found any more, and taken out
 * piece by piece: by `sweep`, and when their segment is full.
 */
export class FingerprintTable {
  #segments = new Segments(fewestGroups, 1);
  /** As many as a power of 2; a segment's number stands in as many as have its first bits. */
  #directory: Int32Array = Int32Array.of(this.#segments.create(0));
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
    const at = this.#segments.find(segment, low, high);
    if (at < 0) return 0;
    const tag = this.#segments.tagAt(segment, at);
    return this.#dead[tag] === 1 ? 0 : tag;
  }

  /** Adds a fingerprint, with a tag that was not let go, unless `find` finds it. Whether it was added. */
  add(low: number, high: number, tag: number): boolean {
    const position = positionOf(low);
    const segment = this.#segmentAt(position);
    const there = this.#segments.claim(segment, low, high, tag);
    if (there >= 0) {
      const before = this.#segments.tagAt(segment, there);
      if (this.#dead[before] === 0) return false;
      this.#removed(before);
      this.#segments.retag(segment, there, tag);
    } else if (there === -2) this.#addToFull(position, low, high, tag);
    this.#entries[tag] = this.entriesOf(tag) + 1;
    return true;
  }

  /** Gives a fingerprint that `find` finds another tag, which was not let go. */
  retag(low: number, high: number, tag: number): void {
    const segment = this.#segmentAt(positionOf(low));
    const at = this.#segments.find(segment, low, high);
    const before = this.#segments.tagAt(segment, at);
    this.#entries[before] = this.entriesOf(before) - 1;
    this.#entries[tag] = this.entriesOf(tag) + 1;
    this.#segments.retag(segment, at, tag);
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
    this.#swept = position + 2 ** -this.#segments.depthOf(segment);
    this.#join(position);
  }

  /** Lets everything go at once. */
  clear(): void {
    this.#segments = new Segments(fewestGroups, 1);
    this.#directory = Int32Array.of(this.#segments.create(0));
    this.#dead.fill(0);
    this.#entries.fill(0);
    this.#dying = 0;
  }

  #addToFull(position: number, low: number, high: number, tag: number): void {
    let segment = this.#segmentAt(position);
    while (this.#segments.takenIn(segment) >= this.#segments.limit) {
      this.#relieve(segment, position);
      segment = this.#segmentAt(position);
    }
    this.#segments.put(segment, low, high, tag);
  }

  #segmentAt(position: number): number {
    const segment = this.#directory[(position * this.#directory.length) | 0];
    if (segment === undefined) throw new RangeError(`there is no position ${position}`);
    return segment;
  }

  /** Makes room in a full segment. */
  #relieve(segment: number, position: number): void {
    const { most, groups } = this.#segments;
    const kept =
      this.#dying === 0 ? this.#segments.takenIn(segment) : this.#segments.countWithout(this.#dead, segment);
    if (kept <= most * growAbove) this.#rebuild(segment, segment);
    else if (groups < mostGroups) this.#enlarge();
    else this.#split(segment, position);
  }

  /** Only the first segment is ever enlarged, as long as it is the only one. */
  #enlarge(): void {
    const small = this.#segments;
    const only = this.#segmentAt(0);
    const groups = small.groups * 2;
    this.#segments = new Segments(groups, groups < mostGroups ? 1 : segmentsInBlock);
    const larger = this.#segments.create(0);
    this.#directory = Int32Array.of(larger);
    small.empty(only, this.#segments, [larger, larger], (_, tag) => this.#way(tag));
  }

  #split(segment: number, position: number): void {
    const depth = this.#segments.depthOf(segment) + 1;
    if (2 ** depth > this.#directory.length) this.#directory = doubled(this.#directory);
    this.#segments.setDepth(segment, depth);
    const upper = this.#segments.create(depth);
    this.#enter(upper, Math.floor(position * 2 ** depth) | 1);
    this.#rebuild(segment, upper);
  }

  /** Makes a segment stand at the `number`th part of all positions, counted in parts as wide as it. */
  #enter(segment: number, number: number): void {
    const width = this.#directory.length / 2 ** this.#segments.depthOf(segment);
    this.#directory.fill(segment, number * width, (number + 1) * width);
  }

  /** Puts the segment's entries in again, those of its upper half into `upper`. */
  #rebuild(segment: number, upper: number): void {
    const parts = 2 ** this.#segments.depthOf(segment);
    this.#segments.empty(segment, this.#segments, [segment, upper], (low, tag) =>
      segment === upper || ((positionOf(low) * parts) & 1) === 0 ? this.#way(tag) : this.#way(tag, 'upper'),
    );
  }

  /** Makes the segment here one with the half before it, and so on, where both hold little. */
  #join(position: number): void {
    const segments = this.#segments;
    let segment = this.#segmentAt(position);
    let depth = segments.depthOf(segment);
    let number = Math.floor(position * 2 ** depth);
    while (number % 2 === 1) {
      const lower = this.#segmentAt((number - 1) / 2 ** depth);
      const taken = segments.takenIn(lower) + segments.takenIn(segment);
      if (segments.depthOf(lower) !== depth || taken > joinBelow * segments.most) return;
      segments.empty(segment, segments, [lower, lower], (_, tag) => this.#way(tag));
      segments.release(segment);
      depth -= 1;
      segments.setDepth(lower, depth);
      number = (number - 1) / 2;
      this.#enter(lower, number);
      segment = lower;
    }
  }

  /** This way for an entry that is kept; one that was let go goes out, and is counted. */
  #way(tag: number, kept: Way = 'lower'): Way {
    if (this.#dead[tag] === 0) return kept;
    this.#removed(tag);
    return 'out';
  }

  #removed(tag: number): void {
    const left = this.entriesOf(tag) - 1;
    this.#entries[tag] = left;
    this.#dying -= 1;
    if (left === 0) this.#dead[tag] = 0;
  }
}

function doubled(directory: Int32Array): Int32Array {
  return Int32Array.from({ length: directory.length * 2 }, (_, at) => directory[at >> 1] ?? 0);
}

/** From 0 to below 1; positions near 0 are twice as dense as those near 1. */
function positionOf(low: number): number {
  const even = (low >>> 0) / 4294967296;
  // Dividing would take five times as long as this.
  return even * (2 + even) * (1 / 3);
}
