/** The earliest and the latest date in ms (ECMA-262 §21.4.1.1). */
export const earliest = -8.64e15;
export const latest = 8.64e15;

/**
 * Computes the minimum time that a clock which may jump has reached: the monotonic time plus the lowest recent offset
 * between both clocks. A jump ahead is ignored until the clock has kept the new time for `memory` ms (at most twice
 * that), because it may be a mistake. A jump back counts immediately.
 */
export class MinTime {
  readonly #memory: number;
  /** The lowest offset of the current period, and that of the previous one. */
  #lowest = Number.POSITIVE_INFINITY;
  #lowestBefore = Number.POSITIVE_INFINITY;
  #periodEnd = Number.NEGATIVE_INFINITY;

  constructor(memory: number) {
    this.#memory = memory;
  }

  /** Returns the minimum time (ms). `now` is the time of the clock, `steady` that of the monotonic clock. */
  at(now: number, steady: number): number {
    const offset = now - steady;
    // At most one new period per call: an offset is only forgotten if the clock was read throughout a period.
    if (steady >= this.#periodEnd) {
      this.#lowestBefore = this.#lowest;
      this.#lowest = offset;
      this.#periodEnd = steady + this.#memory;
    } else if (offset < this.#lowest) this.#lowest = offset;
    return steady + Math.min(this.#lowest, this.#lowestBefore);
  }
}

/** The maximum number of separate spans. */
const maxSpans = 16;

/** A span of time (ms), from `from` inclusive to `to` exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Spans of time whose claims are unknown. If there are too many, the two closest ones are joined. */
export class ForgottenSpans {
  /** In ascending order, without overlaps. */
  #spans: Span[] = [];
  /** The end of the last span. */
  #end = Number.NEGATIVE_INFINITY;

  /** Returns all spans in ascending order. */
  list(): readonly Span[] {
    return this.#spans;
  }

  /** Adds a span. */
  add(from: number, to: number): void {
    this.#insert(from, to);
    if (this.#spans.length > maxSpans) this.#closeNarrowestGap();
    this.#end = Math.max(this.#end, to);
  }

  /** Returns the end of the span that contains a time; undefined if none does. */
  endAfter(time: number): number | undefined {
    if (time >= this.#end) return undefined;
    return this.#spans.find((span) => span.from <= time && time < span.to)?.to;
  }

  #insert(from: number, to: number): void {
    const apart = this.#spans.filter((span) => span.to < from || span.from > to);
    const touching = this.#spans.filter((span) => span.to >= from && span.from <= to);
    const start = Math.min(from, ...touching.map((span) => span.from));
    const end = Math.max(to, ...touching.map((span) => span.to));
    this.#spans = [...apart, { from: start, to: end }].sort((one, other) => one.from - other.from);
  }

  #closeNarrowestGap(): void {
    const gaps = this.#spans.slice(1).map((span, before) => span.from - (this.#spans[before]?.to ?? 0));
    const before = gaps.indexOf(Math.min(...gaps));
    const [one, other] = this.#spans.slice(before, before + 2);
    if (one !== undefined && other !== undefined) this.#insert(one.from, other.to);
  }
}

/** The result of a claim if a nonce with its date may have been claimed before, and is not known any more. */
export interface NoncesLost {
  /** The time (ms) from which requests that are signed then are accepted. */
  readonly knownFrom: number;
}

/**
 * Returns the first `until` (ms) that no claim before `lostAt` (ms) can have. The date of a request is at most one window (ms) ahead of
 * the clock, and accepted for one window, until the end of its second.
 */
export function endOfLost(lostAt: number, window: number): number {
  return lostAt + 2 * window + 1000;
}

/**
 * Returns the refusal of a claim whose `until` (ms) is before `end`, the first one of which the claims are known. A later request has a
 * later `until`, by the same time.
 */
export function lostUntil(end: number, until: number, now: number): NoncesLost {
  return { knownFrom: now + end - until };
}
