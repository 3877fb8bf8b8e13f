// Values that are not computed again.

/** Returns a function that computes a value at its first call, and returns the same value at each later one. */
export function once<Value>(compute: () => Value): () => Value {
  let computed: { readonly value: Value } | undefined;
  return () => {
    computed ??= { value: compute() };
    return computed.value;
  };
}

/** Returns a function that computes a value once for each object. It keeps no object that nothing else refers to. */
export function onceEach<From extends object, Value extends object>(
  compute: (from: From) => Value,
): (from: From) => Value {
  const computed = new WeakMap<From, Value>();
  return (from) => {
    const known = computed.get(from);
    if (known !== undefined) return known;
    const value = compute(from);
    computed.set(from, value);
    return value;
  };
}

/** Returns a function that keeps the value of the last text, because many requests have the same one. */
export function keepLast<Value>(compute: (text: string) => Value): (text: string) => Value {
  let last: string | undefined;
  let computed: Value;
  return (text) => {
    if (text === last) return computed;
    computed = compute(text);
    last = text;
    return computed;
  };
}
