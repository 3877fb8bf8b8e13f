// The bounds of numbers: checks them, and creates numbers within them, with few digits.
import type { JsonSchema } from '../../service/openapi/document.ts';
import type { Located } from './located.ts';
import { numberOr } from './schema-parts.ts';
import { drawInteger, type Randomness } from './schema-text.ts';
import type { Found } from './violations.ts';

/** The steps between the numbers that are drawn for a schema without `multipleOf`. */
const usualUnit = 0.5;

/** Creates a number that all these schemas permit; undefined if there is none. */
export function createNumber(
  schemas: readonly Located[],
  isWhole: boolean,
  { dynamic, random }: Pick<Randomness, 'dynamic' | 'random'>,
): number | undefined {
  const bounds = schemas.map(({ value }) => readBounds(value));
  const steps = schemas.flatMap(({ value: { multipleOf } }) =>
    typeof multipleOf === 'number' && multipleOf > 0 ? [multipleOf] : [],
  );
  const start = Math.max(...bounds.map(({ least, above }) => Math.max(least, above)));
  const end = Math.min(...bounds.map(({ most, below }) => Math.min(most, below)));
  const fits = (value: number): boolean =>
    Number.isFinite(value) &&
    bounds.every(
      ({ least, above, most, below }) => value >= least && value > above && value <= most && value < below,
    );
  const step = Math.max(isWhole ? 1 : 0, ...steps);
  const unit = step > 0 ? step : usualUnit;
  // Zero, or the number next to it.
  const first =
    start > 0
      ? toMultiple(Math.ceil(start / unit), unit)
      : end < 0
        ? toMultiple(Math.floor(end / unit), unit)
        : 0;
  const base = Math.round(first / unit);
  const direction = end < 0 ? -1 : 1;
  const counts = [0, 1, 2, 3, 4, -1].map((offset) => base + direction * offset);
  if (dynamic) counts.unshift(drawCount(Math.ceil(start / unit), Math.floor(end / unit), base, random));
  const listed = counts.map((count) => toMultiple(count, unit));
  // A drawn number that need not be whole is not, so that it differs from an integer.
  const broken = dynamic && step === 0 ? listed.filter((value) => !Number.isInteger(value)) : [];
  // Validators divide, and 0.3 / 0.1 is not 3.
  const exact = listed.filter((value) => Number.isInteger(value / unit));
  const between = step > 0 ? [] : [start, (start + end) / 2, end];
  return [...broken, ...exact, ...listed, ...between].find(fits);
}

/** The numbers that are drawn from, at most. */
const maxDrawn = 1000;

/** Draws a number of steps within bounds: from the first one, if there are many. */
function drawCount(lowest: number, highest: number, first: number, random: Randomness['random']): number {
  const isShort = highest - lowest < maxDrawn;
  const count = isShort ? highest - lowest + 1 : maxDrawn;
  const drawn = drawInteger(Math.max(1, count), random);
  if (isShort) return lowest + drawn;
  return first > highest - maxDrawn ? first - drawn : first + drawn;
}

/** Multiplies without the error of binary fractions: 3 * 0.1 is 0.3. */
function toMultiple(count: number, unit: number): number {
  return Number((count * unit).toPrecision(15));
}

/** Returns the bounds of a number. In 3.0, an exclusive bound is a flag beside the bound. */
function readBounds({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonSchema): {
  readonly least: number;
  readonly above: number;
  readonly most: number;
  readonly below: number;
} {
  const least = numberOr(minimum, Number.NEGATIVE_INFINITY);
  const most = numberOr(maximum, Number.POSITIVE_INFINITY);
  return {
    least,
    most,
    above: exclusiveMinimum === true ? least : numberOr(exclusiveMinimum, Number.NEGATIVE_INFINITY),
    below: exclusiveMaximum === true ? most : numberOr(exclusiveMaximum, Number.POSITIVE_INFINITY),
  };
}

/** Checks a number. */
export function checkNumber(found: Found, value: number): void {
  const { value: schema } = found.schema;
  const { least, above, most, below } = readBounds(schema);
  const { multipleOf, format } = schema;
  if (value < least) found.add('minimum', `must be at least ${least}`);
  else if (value <= above) found.add('exclusiveMinimum', `must be more than ${above}`);
  if (value > most) found.add('maximum', `must be at most ${most}`);
  else if (value >= below) found.add('exclusiveMaximum', `must be less than ${below}`);
  if (typeof multipleOf === 'number' && multipleOf > 0 && !isMultiple(value, multipleOf))
    found.add('multipleOf', `must be a multiple of ${multipleOf}`);
  if (format === 'int32' && (!Number.isInteger(value) || Math.abs(value) > 2 ** 31))
    found.add('format', 'must be of the format int32');
  if (format === 'int64' && !Number.isInteger(value)) found.add('format', 'must be of the format int64');
}

function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9 * Math.max(1, Math.abs(quotient));
}
