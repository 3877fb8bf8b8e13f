import type { Figure } from '../benchmark.ts';
import { type Curve, curvesOf, type GroupResult } from '../results/result.ts';
import { roundWithUnit, sizeLabel } from '../results/unit.ts';
import { chartWidth, type Drawing } from './drawing.ts';
import { element, label } from './svg.ts';

const plotHeight = 210;
const axisWidth = 62;
const legendWidth = 220;
const colours = ['a', 'b', 'c', 'd'];

/** The powers of ten of an axis. */
interface Axis {
  readonly least: number;
  readonly most: number;
}

/** Draws cost over size on logarithmic axes. A power law is a straight line, a constant cost a horizontal one. */
export function curvesChart(group: GroupResult, figure: Figure, margin: number): Drawing {
  const curves = curvesOf(group, figure.key).filter(({ points }) => points.length > 0);
  const left = margin + axisWidth;
  const right = chartWidth - margin - legendWidth;
  const across = axisOf(curves.flatMap(({ points }) => points.map(({ x }) => x)));
  const up = axisOf(curves.flatMap(({ points }) => points.map(({ y }) => y)));
  const x = (value: number): number => left + share(across, value) * (right - left);
  return {
    height: plotHeight + 76,
    draw(top) {
      const base = top + 28 + plotHeight;
      const y = (value: number): number => base - share(up, value) * plotHeight;
      const rows = powers(up).map((value) =>
        [
          element('line', { class: 'grid', x1: left, x2: right, y1: y(value), y2: y(value) }),
          label(left - 8, y(value) + 4, roundWithUnit(value, figure.unit), { class: 'faint end' }),
        ].join(''),
      );
      const columns = powers(across).map((value) =>
        label(x(value), base + 18, sizeLabel(value), { class: 'faint middle' }),
      );
      const drawn = curves.map((curve, index) => lineOf(curve, colours[index % 4] ?? 'a', x, y));
      const legend = curves.map((curve, index) =>
        entryOf(curve, colours[index % 4] ?? 'a', right + 18, top + 44 + index * 40),
      );
      const name = label(margin, top + 15, group.name, { class: 'group' });
      const sizes = label((left + right) / 2, base + 36, group.sizes ?? '', { class: 'faint middle' });
      return [name, ...rows, ...columns, sizes, ...drawn, ...legend].join('');
    },
  };
}

function axisOf(values: readonly number[]): Axis {
  const least = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  const most = Math.ceil(Math.log10(Math.max(...values)) - 1e-9);
  return { least, most: Math.max(most, least + 1) };
}

function share({ least, most }: Axis, value: number): number {
  return (Math.log10(value) - least) / (most - least);
}

function powers({ least, most }: Axis): number[] {
  return Array.from({ length: most - least + 1 }, (_, index) => 10 ** (least + index));
}

function lineOf(
  { points }: Curve,
  colour: string,
  x: (value: number) => number,
  y: (value: number) => number,
): string {
  const places = points.map((point) => ({ cx: x(point.x), cy: y(point.y) }));
  const path = places.map(({ cx, cy }) => `${cx.toFixed(1)} ${cy.toFixed(1)}`).join('L');
  const dots = places.map((place) => element('circle', { class: `dot-${colour} ring`, ...place, r: 4 }));
  return [element('path', { class: `curve ${colour}`, d: `M${path}` }), ...dots].join('');
}

function entryOf({ name, ours, exponent }: Curve, colour: string, x: number, y: number): string {
  const growth = exponent === undefined ? 'one size' : `grows to the power of ${exponent.toFixed(2)}`;
  return [
    element('circle', { class: `dot-${colour}`, cx: x, cy: y - 4, r: 5 }),
    label(x + 12, y, name, { class: ours ? 'own' : '' }),
    label(x + 12, y + 16, growth, { class: 'faint' }),
  ].join('');
}
