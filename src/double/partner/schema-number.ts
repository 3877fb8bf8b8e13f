// Creates numbers within the bounds of schemas, with few digits.
import type { Located } from './located.ts';
import { readBounds } from './schema-parts.ts';
import { drawInteger, type Randomness } from './schema-text.ts';

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
