import type { Unit } from './results/unit.ts';

/** What one round of a contestant gave, by the figures' keys, in the figures' units. */
export type Sample = Readonly<Record<string, number>>;

/** One thing that is measured of each contestant. */
export interface Figure {
  readonly key: string;
  readonly label: string;
  readonly unit: Unit;
  /** Whether more of it is better, as of a rate. */
  readonly more?: boolean;
}

/** Whoever takes part. */
export interface Contestant {
  readonly name: string;
  /** Whether it is this project's, and so is measured twice when two commits are compared. */
  readonly ours: boolean;
  /** The size that it is measured at, where the group shows how cost grows; contestants of one name make a curve. */
  readonly size?: number;
  /**
   * How it warms up: by itself when left out; while others do, where that is no round that later ones build on; or never, where
   * each round has a fresh process.
   */
  readonly warmsUp?: 'beside others' | 'never';
  /** Takes one round; says so by a text when it cannot take part: why. */
  measure(round: Round): Promise<Sample | string>;
}

/** What a contestant is told of a round. */
export interface Round {
  /** It does not count: code is compiled, caches are filled. */
  readonly warmUp: boolean;
  /** What the same contestant gave the round before; undefined in the first. */
  readonly last: Sample | undefined;
}

/** Contestants that take turns, and are compared with each other. */
export interface Group {
  readonly name: string;
  readonly contestants: readonly Contestant[];
  /** The contestant that ratios are taken to; the first one when left out. */
  readonly yardstick?: string;
  /** What the sizes are, where the group shows how cost grows: `articles`. */
  readonly sizes?: string;
}

/** Something that is required of a figure: of its median, or of the median of its ratio to another contestant's. */
export interface Requirement {
  readonly group?: string;
  readonly contestant: string;
  readonly figure: string;
  readonly beside?: string;
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** What a benchmark is given. */
export interface Stage {
  /** The tree to measure, compiled: its `bench/` and `src/` are used. */
  readonly root: string;
  /** An empty directory. */
  readonly scratch: string;
  /** Whether the long form is asked for. */
  readonly full: boolean;
  /** Has something done when the benchmark is over, also when it fails; the last comes first. */
  after(work: () => unknown): void;
}

/** A benchmark: what it is, what it measures, and who takes part. */
export interface Benchmark {
  readonly title: string;
  /** What is measured and how, in a few sentences for the page. */
  readonly about: string;
  /** The first one is drawn. */
  readonly figures: readonly [Figure, ...Figure[]];
  /** Rounds of the long form that count; 5, which is the least, when left out. */
  readonly rounds?: number;
  /** Rounds of the short form, likewise: more where what is required is near to what is measured. */
  readonly shortRounds?: number;
  readonly requirements?: readonly Requirement[];
  /** Makes the groups. What it starts it has stopped by `stage.after`. A text says why nothing can be measured here. */
  open(stage: Stage): Promise<readonly Group[] | string> | readonly Group[] | string;
}
