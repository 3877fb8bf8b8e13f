import type { Figure } from '../benchmark.ts';
import { type GroupResult, type Row, ratioOf, valuesOf } from '../results/result.ts';
import { spreadOf } from '../results/statistics.ts';
import { digits, withUnit } from '../results/unit.ts';
import { chartWidth, type Drawing } from './drawing.ts';
import { element, label } from './svg.ts';

const rowHeight = 24;
const barHeight = 14;
const nameWidth = 250;
const valueWidth = 150;
/** A bar is cut if it is more than this many times as long as the longest of this project and the baseline. */
const cutAt = 5;

/** Draws a bar for each contestant from zero. A bar that exceeds the scale is cut and marked. */
export function barsOf(group: GroupResult, figure: Figure, margin: number): Drawing {
  const rows = group.rows.filter((row) => valuesOf(row, figure.key).length > 0);
  const scale = scaleOf(group, rows, figure.key);
  const left = margin + nameWidth;
  const width = chartWidth - margin - valueWidth - left;
  const heading = group.name === '' ? 0 : 26;
  return {
    height: heading + rows.length * rowHeight + 14,
    draw(top) {
      const bars = rows.map((row, index) =>
        bar(group, row, figure, { left, width, scale, top: top + heading + index * rowHeight }),
      );
      const axis = element('line', {
        class: 'axis',
        x1: left,
        x2: left,
        y1: top + heading,
        y2: top + heading + rows.length * rowHeight,
      });
      const name = heading === 0 ? '' : label(margin, top + 15, group.name, { class: 'group' });
      return [name, ...bars, axis].join('');
    },
  };
}

/** Returns the value of the full width. */
function scaleOf(group: GroupResult, rows: readonly Row[], key: string): number {
  const most = (some: readonly Row[]): number =>
    Math.max(0, ...some.map((row) => spreadOf(valuesOf(row, key)).max));
  const near = most(rows.filter(({ ours, name }) => ours || name === group.yardstick));
  return Math.min(most(rows), near > 0 ? near * cutAt : Number.POSITIVE_INFINITY) || 1;
}

interface Place {
  readonly left: number;
  readonly width: number;
  readonly scale: number;
  readonly top: number;
}

function bar(group: GroupResult, row: Row, { key, unit }: Figure, place: Place): string {
  const { left, width, scale, top } = place;
  const { min, median, max } = spreadOf(valuesOf(row, key));
  const at = (value: number): number => left + (Math.min(value, scale) / scale) * width;
  const middle = top + rowHeight / 2;
  const isYardstick = row.name === group.yardstick;
  const kind = row.ours ? 'ours' : isYardstick ? 'yardstick' : 'peer';
  const y = middle - barHeight / 2;
  const ratio = isYardstick ? '' : ` · ${digits(ratioOf(group, row, key))}×`;
  const text = { class: row.ours ? 'own' : '' };
  const span = Math.max(1, at(median) - left);
  const mark = median > scale ? cut(at(scale), middle) : whisker(at(min), at(max), middle);
  return [
    label(left - 8, middle + 4, row.name, { class: `end ${text.class}`.trimEnd() }),
    element('rect', { class: kind, x: left, y, width: span, height: barHeight, rx: 2 }),
    mark,
    label(left + width + 10, middle + 4, `${withUnit(median, unit)}${ratio}`, text),
  ].join('');
}

function whisker(from: number, to: number, y: number): string {
  const path = `M${from.toFixed(1)} ${y - 4}v8M${from.toFixed(1)} ${y}H${to.toFixed(1)}M${to.toFixed(1)} ${y - 4}v8`;
  return element('path', { class: 'whisker', d: path });
}

/** Draws two slanted gaps near the end of a bar. */
function cut(end: number, y: number): string {
  const gap = (x: number): string => `M${x.toFixed(1)} ${y + 9}l6 -18h4l-6 18z`;
  return element('path', { class: 'cut', d: gap(end - 32) + gap(end - 24) });
}
