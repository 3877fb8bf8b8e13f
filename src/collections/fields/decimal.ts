/** Decimals are compared as text and never converted to binary fractions. */

const decimalForm = /^-?(?:0|[1-9][0-9]*)(?:\.([0-9]+))?$/;

/**
 * Returns the number of fraction digits; undefined if the text is not a decimal. Negative zero is not a
 * decimal.
 */
export function countFractionDigits(text: string): number | undefined {
  const parts = decimalForm.exec(text);
  if (parts === null || (text.startsWith('-') && /^-[0.]+$/.test(text))) return undefined;
  return parts[1]?.length ?? 0;
}

/** Compares two decimals: negative if the first is less, positive if it is greater, else 0. */
export function compareDecimals(one: string, other: string): number {
  const [minusOne, minusOther] = [one.startsWith('-'), other.startsWith('-')];
  if (minusOne !== minusOther) return minusOne ? -1 : 1;
  const excess = fractionLength(one) - fractionLength(other);
  const order = compareMagnitudes(padFraction(one, -excess), padFraction(other, excess));
  return minusOne ? -order : order;
}

function fractionLength(decimal: string): number {
  const point = decimal.indexOf('.');
  return point < 0 ? 0 : decimal.length - point - 1;
}

/** Appends zeros to the fraction; none for a negative number. */
function padFraction(decimal: string, zeros: number): string {
  if (zeros <= 0) return decimal;
  return (decimal.includes('.') ? decimal : `${decimal}.`) + '0'.repeat(zeros);
}

/**
 * Without leading zeros, a longer number is greater; numbers of the same length are ordered like their
 * digits.
 */
function compareMagnitudes(one: string, other: string): number {
  if (one.length !== other.length) return one.length - other.length;
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
