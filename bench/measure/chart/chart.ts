import { describeMachine } from '../machine.ts';
import type { Result } from '../results/result.ts';
import { barsOf } from './bars.ts';
import { curvesChart } from './curves.ts';
import { chartWidth } from './drawing.ts';
import { label, picture } from './svg.ts';

const margin = 20;
const headHeight = 62;

/** Returns a chart of the first figure as SVG: bars, or curves in groups with sizes. */
export function chartOf(result: Result): string {
  const { title, figures, groups, machine, rounds, date } = result;
  const [figure] = figures;
  if (figure === undefined) throw new RangeError('a chart needs a figure');
  const drawings = groups
    .filter(({ rows }) => rows.length > 0)
    .map((group) =>
      group.sizes === undefined ? barsOf(group, figure, margin) : curvesChart(group, figure, margin),
    );
  const parts: string[] = [];
  let top = headHeight;
  for (const drawing of drawings) {
    parts.push(drawing.draw(top));
    top += drawing.height;
  }
  const better = figure.more === true ? 'more is better' : 'less is better';
  const what = groups.some(({ sizes }) => sizes === undefined)
    ? `${figure.label}: median of ${rounds} rounds, the line from the least to the most; ${better}`
    : `${figure.label}: median of ${rounds} rounds; ${better}`;
  return picture(
    chartWidth,
    top + 34,
    title,
    label(margin, 28, title, { class: 'title' }),
    label(margin, 48, what, { class: 'faint' }),
    ...parts,
    label(margin, top + 18, `${date} · ${describeMachine(machine)}`, { class: 'faint' }),
  );
}
