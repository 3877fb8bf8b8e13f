import type { Unit } from './results/unit.ts';

/** The result of one round of a contestant, by the keys and in the units of the figures. */
export type Sample = Readonly<Record<string, number>>;

/** A quantity that is measured for each contestant. */
export interface Figure {
  readonly key: string;
  readonly label: string;
  readonly unit: Unit;
  /** Whether larger values are better, as for a rate. */
  readonly more?: boolean;
}

/** A participant of a benchmark. */
export interface Contestant {
  readonly name: string;
  /** Whether it belongs to this project, and is measured when two commits are compared. */
  readonly ours: boolean;
  /** The size at which it is measured, in a group that shows growth. Contestants with the same name form a curve. */
  readonly size?: number;
  /**
   * How the contestant warms up: alone (the default), concurrently with others if later rounds do not depend on the
   * result, or not at all if each round has a new process.
   */
  readonly warmsUp?: 'beside others' | 'never';
  /** Runs one round. Resolves to a text if the contestant cannot be measured: the reason. */
  measure(round: Round): Promise<Sample | string>;
}

/** The context of a round. */
export interface Round {
  /** Whether it is the warm-up, whose result is discarded. */
  readonly warmUp: boolean;
  /** The result of the previous round of the same contestant; undefined in the first. */
  readonly last: Sample | undefined;
}

/** Contestants that run in turns and are compared with each other. */
export interface Group {
  readonly name: string;
  readonly contestants: readonly Contestant[];
  /** The name of the contestant that ratios are relative to. Default: the first one. */
  readonly yardstick?: string;
  /** The unit of the sizes in a group that shows growth: `articles`. */
  readonly sizes?: string;
}

/** A limit for the median of a figure, or for the median of its ratio to that of another contestant. */
export interface Requirement {
  readonly group?: string;
  readonly contestant: string;
  readonly figure: string;
  readonly beside?: string;
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** The environment of a benchmark. */
export interface Stage {
  /** The compiled tree to measure; its `bench/` and `src/` are used. */
  readonly root: string;
  /** An empty directory. */
  readonly scratch: string;
  /** Whether to run the long form. */
  readonly full: boolean;
  /** Registers a function that runs when the benchmark ends, even after an error; the last one runs first. */
  after(work: () => unknown): void;
}

/** A benchmark: its description, figures and contestants. */
export interface Benchmark {
  readonly title: string;
  /** A description for the page, in a few sentences. */
  readonly about: string;
  /** The figures; the first one is shown in the chart. */
  readonly figures: readonly [Figure, ...Figure[]];
  /** The number of rounds of the long form. Default and minimum: 5. */
  readonly rounds?: number;
  /**
   * The number of rounds of the short form. Default and minimum: 5. More are needed if a limit is close to the measured
   * value.
   */
  readonly shortRounds?: number;
  readonly requirements?: readonly Requirement[];
  /**
   * Creates the groups. Resolves to a text if nothing can be measured: the reason. `stage.after` must stop what it
   * starts.
   */
  open(stage: Stage): Promise<readonly Group[] | string> | readonly Group[] | string;
}
