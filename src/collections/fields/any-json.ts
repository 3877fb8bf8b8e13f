/** The maximum nesting of the value of a field of the type `json`. */
export const maxJsonDepth = 32;

/** The default of the maximum length of its text, in characters. */
export const defaultJsonLength = 65_536;

/** Returns whether a text is JSON that is nested at most 32 levels deep. */
export function isJsonText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return isShallow(value, maxJsonDepth);
  } catch {
    return false;
  }
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((each) => isShallow(each, depth - 1));
}
