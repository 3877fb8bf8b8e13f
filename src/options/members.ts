/** Returns the members of a JSON object by name; undefined if the value is not an object. */
export function toMembers(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return new Map(Object.entries(value));
}
