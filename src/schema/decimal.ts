/** Decimals are digits: text that is compared and never computed with, so that no binary fraction changes them. */

const decimalForm = /^-?(?:0|[1-9][0-9]*)(?:\.([0-9]+))?$/;

/** How many fraction digits a decimal has; undefined for what is no decimal, zero with a minus included. */
export function fractionDigitsOf(text: string): number | undefined {
  const parts = decimalForm.exec(text);
  if (parts === null || (text.startsWith('-') && /^-[0.]+$/.test(text))) return undefined;
  return parts[1]?.length ?? 0;
}

/** Negative when the first is less, positive when it is greater, else 0. Both have equally many fraction digits. */
export function compareDecimals(one: string, other: string): number {
  const [minusOne, minusOther] = [one.startsWith('-'), other.startsWith('-')];
  if (minusOne !== minusOther) return minusOne ? -1 : 1;
  const order = compareMagnitudes(one, other);
  return minusOne ? -order : order;
}

/** There are no leading zeros, so the longer is the greater, and of equally long ones the digits decide. */
function compareMagnitudes(one: string, other: string): number {
  if (one.length !== other.length) return one.length - other.length;
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
