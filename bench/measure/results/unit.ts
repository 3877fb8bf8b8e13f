/** The unit of a figure: nanoseconds, bytes, a rate per second, a count, or a share of one. */
export type Unit = 'ns' | 'bytes' | 'per second' | 'count' | 'share';

const scales: Readonly<Record<Unit, readonly (readonly [least: number, factor: number, suffix: string])[]>> =
  {
    ns: [
      [1e9, 1e9, ' s'],
      [1e6, 1e6, ' ms'],
      [1e3, 1e3, ' µs'],
      [0, 1, ' ns'],
    ],
    bytes: [
      [1e9, 1e9, ' GB'],
      [1e6, 1e6, ' MB'],
      [1e3, 1e3, ' KB'],
      [0, 1, ' B'],
    ],
    'per second': [
      [1e6, 1e6, ' M/s'],
      [0, 1, ' /s'],
    ],
    count: [[0, 1, '']],
    share: [[0, 0.01, ' %']],
  };

/** Formats a value with three significant digits and its unit: `12.4 µs`, `80,300 /s`. */
export function withUnit(value: number, unit: Unit): string {
  const [, factor, suffix] = scales[unit].find(([least]) => Math.abs(value) >= least) ?? [0, 1, ''];
  return `${digits(value / factor)}${suffix}`;
}

/** Formats a round number with its unit for an axis: `10 ms`. */
export function roundWithUnit(value: number, unit: Unit): string {
  return withUnit(value, unit).replace(/\.0+(?= |$)/, '');
}

/** Formats three significant digits with thousands separators: `0.0123`, `12.4`, `80,300`. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const rounded = Number(value.toPrecision(3));
  if (Math.abs(rounded) >= 1000) return rounded.toLocaleString('en');
  if (rounded === 0) return '0';
  const fraction = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(rounded))));
  return rounded.toFixed(Math.min(fraction, 6));
}

/** Formats a size for an axis: `100`, `10K`, `1M`. */
export function sizeLabel(value: number): string {
  if (value >= 1e6) return `${short(value / 1e6)}M`;
  if (value >= 1e4) return `${short(value / 1e3)}K`;
  return value.toLocaleString('en');
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}
