import { parseFormOctets } from '../../http/form.ts';

/**
 * Returns the parameters of a form (`application/x-www-form-urlencoded`) as Twilio signs them: decoded, sorted by name and then by
 * value, without repetitions, each as its name followed by its value. Each character is one octet. Returns undefined if an escape
 * is malformed.
 */
export function sortForm(form: string): string | undefined {
  const pairs = parseFormOctets(form);
  if (pairs === undefined) return undefined;
  const sorted = pairs.toSorted(
    ([name, value], [other, otherValue]) => compare(name, other) || compare(value, otherValue),
  );
  return sorted
    .filter(([name, value], at) => sorted[at - 1]?.[0] !== name || sorted[at - 1]?.[1] !== value)
    .map(([name, value]) => name + value)
    .join('');
}

/** The order of octets. */
function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
