import type { Contestant, Group, Stage } from '../measure/benchmark.ts';
import { type PartOptions, sharedPart } from '../measure/parts/part.ts';

/** Returns the sizes from one to the other, each `times` times the previous one. */
export function sizesFrom(from: number, to: number, times = 10): number[] {
  const count = Math.round(Math.log(to / from) / Math.log(times)) + 1;
  return Array.from({ length: count }, (_, index) => from * times ** index);
}

/** A quantity that grows, and the operations measured at each size. */
export interface Growing {
  readonly sizes: readonly number[];
  /** The unit of the sizes: `articles`. */
  readonly of: string;
  /** The names of the curves, by the order that is sent to the part. */
  readonly curves: Readonly<Record<string, string>>;
  /** The path of the part in `bench/`, and the word before the size. */
  readonly file: string;
  readonly what: string;
  readonly node?: PartOptions['node'];
}

/** Returns a group of curves. Each size has its own process. */
export function growingGroup(stage: Stage, growing: Growing): Group {
  const { sizes, of, curves, file, what, node = [] } = growing;
  const contestants = sizes.flatMap((size): Contestant[] => {
    const shared = sharedPart(stage, { file, words: [what, String(size)], node });
    return Object.entries(curves).map(([order, name]) => shared({ name, ours: true, size }, [order]));
  });
  return { name: '', sizes: of, contestants };
}
