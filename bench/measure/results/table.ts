import type { Figure } from '../benchmark.ts';
import { curvesOf, type GroupResult, type Row, ratioOf, valuesOf } from './result.ts';
import { spreadOf } from './statistics.ts';
import { digits, sizeLabel, withUnit } from './unit.ts';

/** A head and rows of cells; the first cell of each is a name. */
export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A group as a table: of the first figure min, median, max and the ratio to the yardstick, of the others the median and the ratio. */
export function tableOf(group: GroupResult, figures: readonly Figure[]): Table {
  const present = figures.filter(({ key }) => group.rows.some((row) => row.values[key] !== undefined));
  const head = present.flatMap(({ label }, index) =>
    index === 0 ? [`${label}: min`, 'median', 'max', 'ratio'] : [label, 'ratio'],
  );
  const rows = group.rows.map((row) => [
    labelOf(row, group.sizes),
    ...present.flatMap((figure, index) => cellsOf(group, row, figure, index === 0)),
  ]);
  return { head: ['', ...head], rows };
}

/** A row's name, with its size where it has one. */
export function labelOf({ name, size }: Row, sizes = ''): string {
  return size === undefined ? name : `${name}, ${sizeLabel(size)} ${sizes}`.trimEnd();
}

function cellsOf(group: GroupResult, row: Row, { key, unit }: Figure, whole: boolean): string[] {
  const values = valuesOf(row, key);
  if (values.length === 0) return whole ? ['', '', '', ''] : ['', ''];
  const { min, median, max } = spreadOf(values);
  const ratio = digits(ratioOf(group, row, key));
  const shown = (value: number): string => withUnit(value, unit);
  return whole ? [shown(min), shown(median), shown(max), ratio] : [shown(median), ratio];
}

/** The exponents that were fitted to a group's curves; empty where it has no sizes. */
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

/** For a terminal: names on the left, the rest right-aligned. */
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

/** For a page in Markdown. */
export function asMarkdown({ head, rows }: Table): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const rule = `|${head.map((_, column) => (column === 0 ? '---' : '--:')).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
