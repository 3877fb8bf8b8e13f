/** Returns all orders of a few items. */
export function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, at) =>
    permutations(items.filter((_, index) => index !== at)).map((others) => [item, ...others]),
  );
}
