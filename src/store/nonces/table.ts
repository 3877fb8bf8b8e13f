import { type Destination, Segments } from './segments.ts';

/** The number of groups in the first segment of an empty table: 8 kB. */
const minGroups = 1 << 7;
/** The maximum number of groups in a segment: 512 kB. A larger one is split. Moving it takes one or two milliseconds. */
const maxGroups = 1 << 13;
/** The number of these segments in a block: 4 MB. */
const segmentsPerBlock = 8;
/** The share of live entries above which a full segment grows or is split. Otherwise removing the others is enough. */
const growAbove = 0.7;
/** The share of entries below which two halves are joined. */
const joinBelow = 0.3;

/**
 * A hash table of fingerprints of 64 bits, each with a tag from 1 to 255, in segments of typed arrays (extendible
 * hashing: Fagin, Nievergelt, Pippenger and Strong, 1979). A full segment is split in two; growing moves no other
 * entries. The directory has one number for some thousand entries.
 *
 * If positions were distributed evenly, all segments would become full at the same time. They are up to twice as dense
 * at one end as at the other (spiral storage: Martin, 1979). So the segments are split one after the other, and the
 * memory per entry remains about the same.
 *
 * All entries with a tag are removed at once by marking the tag. They are then not found any more. Their memory is
 * released step by step: by `sweep`, and when their segment is full.
 */
export class FingerprintTable {
  #segments = new Segments(minGroups, 1);
  /** Segment numbers by the leading bits of a position. The length is a power of 2. */
  #directory: Int32Array = Int32Array.of(this.#segments.create(0));
  /** 1 for a tag that was released. */
  readonly #released = new Uint8Array(256);
  /** The number of entries by tag, including released ones that are still in the table. */
  readonly #entries = new Float64Array(256);
  /** The number of released entries that are still in the table. */
  #releasedCount = 0;
  /** The position up to which the sweep has removed released entries. */
  #swept = 0;

  /** Returns the tag of a fingerprint, or 0 if it is not in the table. Its halves must not both be 0. */
  find(low: number, high: number): number {
    const segment = this.#segmentAt(computePosition(low));
    const at = this.#segments.find(segment, low, high);
    if (at < 0) return 0;
    const tag = this.#segments.tagAt(segment, at);
    return this.#released[tag] === 1 ? 0 : tag;
  }

  /** Adds a fingerprint with a tag that is not released. Returns false if the fingerprint exists. */
  add(low: number, high: number, tag: number): boolean {
    const position = computePosition(low);
    const segment = this.#segmentAt(position);
    const existing = this.#segments.claim(segment, low, high, tag);
    if (existing >= 0) {
      const before = this.#segments.tagAt(segment, existing);
      if (this.#released[before] === 0) return false;
      this.#removed(before);
      this.#segments.retag(segment, existing, tag);
    } else if (existing === -2) this.#addToFull(position, low, high, tag);
    this.#entries[tag] = this.countEntries(tag) + 1;
    return true;
  }

  /** Changes the tag of an existing fingerprint. The new tag must not be released. */
  retag(low: number, high: number, tag: number): void {
    const segment = this.#segmentAt(computePosition(low));
    const at = this.#segments.find(segment, low, high);
    const before = this.#segments.tagAt(segment, at);
    this.#entries[before] = this.countEntries(before) - 1;
    this.#entries[tag] = this.countEntries(tag) + 1;
    this.#segments.retag(segment, at, tag);
  }

  /** Returns the number of entries with a tag. A released tag can be reused when there are none. */
  countEntries(tag: number): number {
    return this.#entries[tag] ?? 0;
  }

  /** Removes all entries with a tag. */
  release(tag: number): void {
    if (this.countEntries(tag) === 0) return;
    this.#released[tag] = 1;
    this.#releasedCount += this.countEntries(tag);
    this.#swept = 0;
  }

  /** Removes the released entries of one segment from memory, if there are any released entries. */
  sweep(): void {
    if (this.#releasedCount === 0) return;
    const position = this.#swept < 1 ? this.#swept : 0;
    const segment = this.#segmentAt(position);
    this.#rebuild(segment, segment);
    this.#swept = position + 2 ** -this.#segments.getDepth(segment);
    this.#join(position);
  }

  /** Removes all entries. */
  clear(): void {
    this.#segments = new Segments(minGroups, 1);
    this.#directory = Int32Array.of(this.#segments.create(0));
    this.#released.fill(0);
    this.#entries.fill(0);
    this.#releasedCount = 0;
  }

  #addToFull(position: number, low: number, high: number, tag: number): void {
    let segment = this.#segmentAt(position);
    while (this.#segments.getCount(segment) >= this.#segments.limit) {
      this.#makeSpace(segment, position);
      segment = this.#segmentAt(position);
    }
    this.#segments.put(segment, low, high, tag);
  }

  #segmentAt(position: number): number {
    const segment = this.#directory[(position * this.#directory.length) | 0];
    if (segment === undefined) throw new RangeError(`position ${position} is out of range`);
    return segment;
  }

  /** Makes space in a full segment. */
  #makeSpace(segment: number, position: number): void {
    const { capacity, groups } = this.#segments;
    const live =
      this.#releasedCount === 0
        ? this.#segments.getCount(segment)
        : this.#segments.countWithout(this.#released, segment);
    if (live <= capacity * growAbove) this.#rebuild(segment, segment);
    else if (groups < maxGroups) this.#enlarge();
    else this.#split(segment, position);
  }

  /** Doubles the size of the only segment. */
  #enlarge(): void {
    const small = this.#segments;
    const only = this.#segmentAt(0);
    const groups = small.groups * 2;
    this.#segments = new Segments(groups, groups < maxGroups ? 1 : segmentsPerBlock);
    const larger = this.#segments.create(0);
    this.#directory = Int32Array.of(larger);
    small.empty(only, this.#segments, [larger, larger], (_, tag) => this.#destination(tag));
  }

  #split(segment: number, position: number): void {
    const depth = this.#segments.getDepth(segment) + 1;
    if (2 ** depth > this.#directory.length) this.#directory = doubleDirectory(this.#directory);
    this.#segments.setDepth(segment, depth);
    const upper = this.#segments.create(depth);
    this.#enter(upper, Math.floor(position * 2 ** depth) | 1);
    this.#rebuild(segment, upper);
  }

  /** Enters a segment in the directory for the positions of its `number`th part, counted from 0. */
  #enter(segment: number, number: number): void {
    const width = this.#directory.length / 2 ** this.#segments.getDepth(segment);
    this.#directory.fill(segment, number * width, (number + 1) * width);
  }

  /** Adds the live entries of a segment again; those of its upper half to `upper`. */
  #rebuild(segment: number, upper: number): void {
    const parts = 2 ** this.#segments.getDepth(segment);
    this.#segments.empty(segment, this.#segments, [segment, upper], (low, tag) =>
      segment === upper || ((computePosition(low) * parts) & 1) === 0
        ? this.#destination(tag)
        : this.#destination(tag, 'upper'),
    );
  }

  /** Joins the segment at a position with its lower half if both have few entries, and so on. */
  #join(position: number): void {
    const segments = this.#segments;
    let segment = this.#segmentAt(position);
    let depth = segments.getDepth(segment);
    let number = Math.floor(position * 2 ** depth);
    while (number % 2 === 1) {
      const lower = this.#segmentAt((number - 1) / 2 ** depth);
      const count = segments.getCount(lower) + segments.getCount(segment);
      if (segments.getDepth(lower) !== depth || count > joinBelow * segments.capacity) return;
      segments.empty(segment, segments, [lower, lower], (_, tag) => this.#destination(tag));
      segments.release(segment);
      depth -= 1;
      segments.setDepth(lower, depth);
      number = (number - 1) / 2;
      this.#enter(lower, number);
      segment = lower;
    }
  }

  /** Returns the destination of a live entry; counts and removes a released one. */
  #destination(tag: number, live: Destination = 'lower'): Destination {
    if (this.#released[tag] === 0) return live;
    this.#removed(tag);
    return 'out';
  }

  #removed(tag: number): void {
    const left = this.countEntries(tag) - 1;
    this.#entries[tag] = left;
    this.#releasedCount -= 1;
    if (left === 0) this.#released[tag] = 0;
  }
}

function doubleDirectory(directory: Int32Array): Int32Array {
  return Int32Array.from({ length: directory.length * 2 }, (_, at) => directory[at >> 1] ?? 0);
}

/** Returns the position of a fingerprint, from 0 to below 1. Positions near 0 are twice as dense as those near 1. */
function computePosition(low: number): number {
  const even = (low >>> 0) / 4294967296;
  // A division would take five times as long.
  return even * (2 + even) * (1 / 3);
}
