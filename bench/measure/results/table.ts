import type { Figure } from '../benchmark.ts';
import { curvesOf, type GroupResult, type Row, ratioOf, ratiosTo, valuesOf } from './result.ts';
import { medianInterval, spreadOf } from './statistics.ts';
import { digits, sizeLabel, withUnit } from './unit.ts';

/** A header and rows of cells; the first cell of each is a name. */
export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/**
 * Returns the table of a group: minimum, median, maximum, ratio and its interval of the first figure, median and ratio of the
 * others.
 */
export function tableOf(group: GroupResult, figures: readonly Figure[]): Table {
  const present = figures.filter(({ key }) => group.rows.some((row) => row.values[key] !== undefined));
  const head = present.flatMap(({ label }, index) =>
    index === 0 ? [`${label}: min`, 'median', 'max', 'ratio', 'interval'] : [label, 'ratio'],
  );
  const rows = group.rows.map((row) => [
    labelOf(row, group.sizes),
    ...present.flatMap((figure, index) => cellsOf(group, row, figure, index === 0)),
  ]);
  return { head: ['', ...head], rows };
}

/** Returns the name of a row, with its size if it has one. */
export function labelOf({ name, size }: Row, sizes = ''): string {
  return size === undefined ? name : `${name}, ${sizeLabel(size)} ${sizes}`.trimEnd();
}

function cellsOf(group: GroupResult, row: Row, { key, unit }: Figure, whole: boolean): string[] {
  const values = valuesOf(row, key);
  if (values.length === 0) return whole ? ['', '', '', '', ''] : ['', ''];
  const { min, median, max } = spreadOf(values);
  const ratio = digits(ratioOf(group, row, key));
  const shown = (value: number): string => withUnit(value, unit);
  if (!whole) return [shown(median), ratio];
  return [shown(min), shown(median), shown(max), ratio, formatInterval(ratiosTo(group, row, key))];
}

/** Formats the interval that contains the median of ratios: `1.02 to 1.10`; empty where all are equal, as beside itself. */
export function formatInterval(ratios: readonly number[]): string {
  const { low, high } = medianInterval(ratios);
  return low === high ? '' : `${digits(low)} to ${digits(high)}`;
}

/** Returns the fitted exponents of a group's curves; empty without sizes. */
export function exponentsOf(group: GroupResult, figures: readonly Figure[]): string[] {
  if (group.sizes === undefined) return [];
  return figures.flatMap(({ key, label }) =>
    curvesOf(group, key).flatMap(({ name, exponent }) =>
      exponent === undefined
        ? []
        : [`${name}: ${label} grows as ${group.sizes} to the power of ${exponent.toFixed(2)}`],
    ),
  );
}

/** Formats a table for a terminal: names left-aligned, values right-aligned. */
export function asText({ head, rows }: Table): string {
  const widths = head.map((cell, column) =>
    Math.max(cell.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart((widths[column] ?? 0) + 2),
      )
      .join('');
  return [head, ...rows].map((cells) => `  ${line(cells)}`.trimEnd()).join('\n');
}

/** Formats a table in Markdown. */
export function asMarkdown({ head, rows }: Table): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const rule = `|${head.map((_, column) => (column === 0 ? '---' : '--:')).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
