// A value that is computed at its first use.

/** Returns a function that computes a value at its first call, and returns the same value at each later one. */
export function once<Value>(compute: () => Value): () => Value {
  let computed: { readonly value: Value } | undefined;
  return () => {
    computed ??= { value: compute() };
    return computed.value;
  };
}
