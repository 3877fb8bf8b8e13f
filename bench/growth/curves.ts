import type { Contestant, Group, Stage } from '../measure/benchmark.ts';
import { type PartOptions, sharedPart } from '../measure/parts/part.ts';

/** From one to the other, ten times as many each, or so many times. */
export function sizesFrom(from: number, to: number, times = 10): number[] {
  const count = Math.round(Math.log(to / from) / Math.log(times)) + 1;
  return Array.from({ length: count }, (_, index) => from * times ** index);
}

/** What grows, and what is asked of it at each size. */
export interface Growing {
  readonly sizes: readonly number[];
  /** What is counted: `articles`. */
  readonly of: string;
  /** The names of the curves by the order that a part is given. */
  readonly curves: Readonly<Record<string, string>>;
  /** The part's path from `bench/`, and the word that comes before the size. */
  readonly file: string;
  readonly what: string;
  readonly node?: PartOptions['node'];
}

/** A group of curves; each size has a process of its own. */
export function growingGroup(stage: Stage, growing: Growing): Group {
  const { sizes, of, curves, file, what, node = [] } = growing;
  const contestants = sizes.flatMap((size): Contestant[] => {
    const shared = sharedPart(stage, { file, words: [what, String(size)], node });
    return Object.entries(curves).map(([order, name]) => shared({ name, ours: true, size }, [order]));
  });
  return { name: '', sizes: of, contestants };
}
