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

/** A span of time, from `from` to before `to` (ms). */
export interface Span {
  readonly from: number;
  to: number;
}

/** Spans of time of which nothing is known any more. When they become many, the two nearest count as one. */
export class ForgottenSpans {
  /** In order of time, without overlaps. */
  #spans: Span[] = [];
  /** Where the last one ends. */
  #end = Number.NEGATIVE_INFINITY;

  /** All of them, in order of time. */
  list(): readonly Readonly<Span>[] {
    return this.#spans;
  }

  /** Adds the span from `from` to before `to`. */
  add(from: number, to: number): void {
    const last = this.#spans.at(-1);
    // While the clock does not jump, each one follows the one before.
    if (last === undefined || from > last.to) this.#spans.push({ from, to });
    else if (from >= last.from) last.to = Math.max(last.to, to);
    else this.#insert(from, to);
    if (this.#spans.length > mostSpans) this.#closeNarrowestGap();
    this.#end = Math.max(this.#end, to);
  }

  /** Whether this time lies in one of them. */
  has(time: number): boolean {
    return time < this.#end && this.#spans.some((span) => span.from <= time && time < span.to);
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
