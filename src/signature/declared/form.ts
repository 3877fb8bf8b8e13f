/**
 * Returns the parameters of a form (`application/x-www-form-urlencoded`) as Twilio signs them: decoded, sorted by name and then by
 * value, without repetitions, each as its name followed by its value. Each character is one octet. Returns undefined if an escape
 * is malformed.
 */
export function sortForm(form: string): string | undefined {
  const pairs = formPairs(form);
  if (pairs === undefined) return undefined;
  const sorted = pairs.toSorted(
    ([name, value], [other, otherValue]) => compare(name, other) || compare(value, otherValue),
  );
  return sorted
    .filter(([name, value], at) => sorted[at - 1]?.[0] !== name || sorted[at - 1]?.[1] !== value)
    .map(([name, value]) => name + value)
    .join('');
}

/** Returns the decoded parameters of a form in the order sent; undefined if an escape is malformed. */
export function formPairs(form: string): [name: string, value: string][] | undefined {
  if (/%(?![0-9A-Fa-f]{2})/.test(form)) return undefined;
  return form
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=');
      return equals < 0
        ? [decode(pair), '']
        : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
    });
}

function decode(text: string): string {
  // Faster than a replacement with a function.
  const [start = '', ...escaped] = text.replaceAll('+', ' ').split('%');
  let decoded = start;
  for (const piece of escaped)
    decoded += String.fromCharCode(Number.parseInt(piece.slice(0, 2), 16)) + piece.slice(2);
  return decoded;
}

/** The order of octets. */
function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
