import { type Duration, durationForm, readDuration } from '../duration.ts';
import { convert, leaf, type Shape } from './shape.ts';

/** A duration in ms, or as text such as `2s`. It is read as given. */
export function duration(max = Infinity): Shape<Duration> {
  const range = max === Infinity ? '' : ` from 0 to ${max}`;
  return leaf(
    {
      anyOf: [
        { type: 'number', minimum: 0 },
        { type: 'string', pattern: `^0$|${durationForm.source}` },
      ],
    },
    `a number of ms${range} or text such as 2s`,
    (value): value is Duration => (readDuration(value, 1) ?? Number.NaN) <= max,
  );
}

/** The range of a duration in seconds, both inclusive. */
interface SecondsRange {
  readonly min: number;
  readonly max: number;
  /** Whether it must be a whole number of seconds. Default: true. */
  readonly whole?: boolean;
}

/** A duration in seconds, or as text such as `5m`. It is read as seconds. */
export function seconds({ min, max, whole = true }: SecondsRange): Shape<number> {
  const readSeconds = (value: unknown): number | undefined => {
    const ms = readDuration(value, 1000);
    const isValid =
      ms !== undefined && ms >= min * 1000 && ms <= max * 1000 && (!whole || Number.isInteger(ms / 1000));
    return isValid ? ms / 1000 : undefined;
  };
  const schema = {
    description: 'seconds, or a duration such as 90s or 5m',
    anyOf: [
      { type: whole ? 'integer' : 'number', minimum: min, maximum: max },
      { type: 'string', pattern: durationForm.source },
    ],
  };
  return convert(
    leaf(
      schema,
      `a ${whole ? 'whole ' : ''}number of seconds from ${min} to ${max} or text such as 5m`,
      (value): value is number | string => readSeconds(value) !== undefined,
    ),
    (value) => readSeconds(value) ?? min,
  );
}
