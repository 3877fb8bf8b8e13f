/**
 * Returns the values between the literal texts of a segment such as `{from}..{to}`, whose texts are '', '..' and ''. Each value has at
 * least one character and ends at the first place where the following text stands, so that there is nothing to try twice.
 * @returns undefined if the segment does not match
 */
export function matchSegment(texts: readonly string[], segment: string): readonly string[] | undefined {
  const [prefix = '', ...others] = texts;
  const suffix = others.pop();
  if (suffix === undefined) return segment === prefix ? [] : undefined;
  const end = segment.length - suffix.length;
  if (!segment.startsWith(prefix) || !segment.endsWith(suffix)) return undefined;
  const values: string[] = [];
  let start = prefix.length;
  for (const text of others) {
    const found = segment.indexOf(text, start + 1);
    if (found === -1) return undefined;
    values.push(segment.slice(start, found));
    start = found + text.length;
  }
  return start < end ? [...values, segment.slice(start, end)] : undefined;
}
