/**
 * The least time that a clock which may jump can be taken to have reached: the time by the lowest offset between
 * it and a clock that never jumps, out of those seen lately. After a jump ahead it goes on as if there had been
 * none, until the clock has kept to its new time for `memory` ms (and at most twice as long): so long it may turn
 * out that the jump was a mistake. After a jump back it is the clock's own time at once.
 */
export class LeastTime {
  readonly #memory: number;
  /** The lowest offset since the latest turn, and the one between the two turns before. */
  #lowest = Number.POSITIVE_INFINITY;
  #lowestBefore = Number.POSITIVE_INFINITY;
  #turn = Number.NEGATIVE_INFINITY;

  constructor(memory: number) {
    this.#memory = memory;
  }

  /** The least time when the clock says `now` and the one that never jumps says `steady` (both ms). */
  at(now: number, steady: number): number {
    const offset = now - steady;
    // One turn for each look at most: what is forgotten was not seen while the clock was looked at for that long.
    if (steady >= this.#turn) {
      this.#lowestBefore = this.#lowest;
      this.#lowest = offset;
      this.#turn = steady + this.#memory;
    } else if (offset < this.#lowest) this.#lowest = offset;
    return steady + Math.min(this.#lowest, this.#lowestBefore);
  }
}

/** How many spans are told apart. */
const mostSpans = 16;

/** Spans of time of which nothing is known any more. When they become many, the two nearest count as one. */
export class ForgottenSpans {
  /** In order of time, without overlaps. */
  #spans: (readonly [from: number, to: number])[] = [];
  #end = Number.NEGATIVE_INFINITY;

  /** Adds the span from `from` to before `to`. */
  add(from: number, to: number): void {
    const apart = this.#spans.filter((span) => span[1] < from || span[0] > to);
    const touching = this.#spans.filter((span) => span[1] >= from && span[0] <= to);
    const start = Math.min(from, ...touching.map((span) => span[0]));
    const end = Math.max(to, ...touching.map((span) => span[1]));
    this.#spans = [...apart, [start, end] as const].sort((one, other) => one[0] - other[0]);
    this.#end = Math.max(this.#end, end);
    if (this.#spans.length > mostSpans) this.#closeNarrowestGap();
  }

  /** Whether this time lies in one of them. */
  has(time: number): boolean {
    return time < this.#end && this.#spans.some((span) => span[0] <= time && time < span[1]);
  }

  #closeNarrowestGap(): void {
    const gaps = this.#spans.slice(1).map((span, before) => span[0] - (this.#spans[before]?.[1] ?? 0));
    const before = gaps.indexOf(Math.min(...gaps));
    const [from, to] = [this.#spans[before]?.[0], this.#spans[before + 1]?.[1]];
    if (from !== undefined && to !== undefined) this.add(from, to);
  }
}
