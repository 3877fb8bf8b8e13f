import type { Benchmark, Figure, Group, Requirement } from '../benchmark.ts';
import { fitGrowth, type Point } from '../growth.ts';
import type { Machine } from '../machine.ts';
import type { Taken } from '../parts/rounds.ts';
import { median, ratiosOf } from './statistics.ts';
import { digits, withUnit } from './unit.ts';

/** The results of a contestant: by figure, a value for each round. */
export interface Row {
  readonly name: string;
  readonly ours: boolean;
  readonly size?: number;
  readonly values: Readonly<Record<string, readonly number[]>>;
}

/** The results of a group. */
export interface GroupResult {
  readonly name: string;
  readonly yardstick: string;
  readonly sizes?: string;
  readonly rows: readonly Row[];
  readonly leftOut: readonly { readonly name: string; readonly reason: string }[];
}

/** A limit and whether it is met. */
export interface Verdict {
  readonly what: string;
  readonly value: number;
  readonly bound: string;
  readonly met: boolean;
}

/** The results of a benchmark, as stored in JSON. */
export interface Result {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  /** The day: `2026-11-21`. */
  readonly date: string;
  readonly machine: Machine;
  readonly rounds: number;
  readonly full: boolean;
  /** The duration, in seconds. */
  readonly seconds: number;
  readonly figures: readonly Figure[];
  readonly groups: readonly GroupResult[];
  readonly verdicts: readonly Verdict[];
}

/** Converts the results of a group to their stored form. */
export function groupResult(group: Group, taken: readonly Taken[], figures: readonly Figure[]): GroupResult {
  const present = taken.filter(({ samples }) => samples.length > 0);
  const rows = present.map(({ contestant: { name, ours, size }, samples }): Row => {
    const keys = figures.map(({ key }) => key).filter((key) => samples[0]?.[key] !== undefined);
    const values = keys.map((key) => [key, samples.map((sample) => shortened(sample[key]))]);
    return { name, ours, ...(size !== undefined && { size }), values: Object.fromEntries(values) };
  });
  const leftOut = taken.flatMap(({ contestant: { name }, leftOut: reason }) =>
    reason === undefined ? [] : [{ name, reason }],
  );
  const { name, yardstick = rows[0]?.name ?? '', sizes } = group;
  return { name, yardstick, ...(sizes !== undefined && { sizes }), rows, leftOut };
}

/** Rounds to five significant digits, which exceeds the precision of any figure. */
function shortened(value = Number.NaN): number {
  return Number(value.toPrecision(5));
}

/** Returns the values of a figure of a row; empty if it has none. */
export function valuesOf(row: Row | undefined, key: string): readonly number[] {
  return row?.values[key] ?? [];
}

/** Returns the baseline row, of the same size if rows have sizes. */
export function yardstickOf(group: GroupResult, { size }: Row): Row | undefined {
  const rows = group.rows.filter(({ name }) => name === group.yardstick);
  return rows.find((row) => row.size === size) ?? rows[0];
}

/** Returns the ratios of a row's figure to that of the baseline in the same round; empty if there is none. */
export function ratiosTo(group: GroupResult, row: Row, key: string): number[] {
  return ratiosOf(valuesOf(row, key), valuesOf(yardstickOf(group, row), key));
}

/** Returns the median ratio of a row's figure to that of the baseline in the same round; NaN if there is none. */
export function ratioOf(group: GroupResult, row: Row, key: string): number {
  return median(ratiosTo(group, row, key));
}

/** The medians of a contestant by size. */
export interface Curve {
  readonly name: string;
  readonly ours: boolean;
  readonly points: readonly Point[];
  /** The fitted growth; undefined with fewer than two sizes. */
  readonly exponent: number | undefined;
}

/** Returns the curves of a group with sizes. */
export function curvesOf(group: GroupResult, key: string): Curve[] {
  const names = [...new Set(group.rows.map(({ name }) => name))];
  return names.map((name) => {
    const rows = group.rows.filter((row) => row.name === name);
    const points = rows
      .map((row) => ({ x: row.size ?? Number.NaN, y: median(valuesOf(row, key)) }))
      .filter(({ x, y }) => x > 0 && y > 0);
    const exponent = points.length < 2 ? undefined : fitGrowth(points).exponent;
    return { name, ours: rows.some(({ ours }) => ours), points, exponent };
  });
}

/** Checks all limits, except those of contestants that were not measured. */
export function checkLimits(benchmark: Benchmark, groups: readonly GroupResult[]): Verdict[] {
  const { requirements = [], figures } = benchmark;
  return requirements.flatMap((requirement) => {
    const group = groups.find(({ name }) => requirement.group === undefined || name === requirement.group);
    const figure = figures.find(({ key }) => key === requirement.figure);
    const value = group === undefined ? Number.NaN : requiredValue(requirement, group);
    return figure === undefined || Number.isNaN(value) ? [] : [verdictOf(requirement, figure, value)];
  });
}

function requiredValue({ contestant, beside, figure }: Requirement, { rows }: GroupResult): number {
  const values = (name: string): readonly number[] =>
    valuesOf(
      rows.find((row) => row.name === name),
      figure,
    );
  if (beside === undefined) return median(values(contestant));
  return median(ratiosOf(values(contestant), values(beside)));
}

function verdictOf(requirement: Requirement, figure: Figure, value: number): Verdict {
  const { group, contestant, beside, atMost, atLeast } = requirement;
  const shown = (bound: number): string =>
    beside === undefined ? withUnit(bound, figure.unit) : digits(bound);
  const what = [group, `${contestant}, ${figure.label}`].filter((part) => part !== undefined && part !== '');
  const bounds = [
    ...(atLeast === undefined ? [] : [`at least ${shown(atLeast)}`]),
    ...(atMost === undefined ? [] : [`at most ${shown(atMost)}`]),
  ];
  return {
    what: `${what.join(': ')}${beside === undefined ? '' : ` beside ${beside}`}: ${shown(value)}`,
    value,
    bound: bounds.join(', '),
    met: value <= (atMost ?? Number.POSITIVE_INFINITY) && value >= (atLeast ?? Number.NEGATIVE_INFINITY),
  };
}
