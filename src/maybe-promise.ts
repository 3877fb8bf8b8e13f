/** A value, or a promise of one. Most values are in memory, and a promise would cost more than the lookup. */
export type MaybePromise<T> = T | PromiseLike<T>;

/** Returns whether a value is a promise. It checks for `then`, because a promise may be of another realm. */
export function isPromiseLike<T>(value: MaybePromise<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value;
}

/** Applies `make` to a value: synchronously if the value is available, otherwise when the promise has resolved. */
export function andThen<T, Made>(
  value: MaybePromise<T>,
  make: (value: T) => Made | Promise<Made>,
): Made | Promise<Made> {
  return isPromiseLike(value) ? Promise.resolve(value).then(make) : make(value);
}

/** Steps that wait for promises one after the other, and return a result. */
export type Steps<Result> = Generator<PromiseLike<void>, Result, void>;

/** Waits for a value among steps: `const user = yield* wait(find(name))`. A value that is available is returned at once. */
export function* wait<T>(value: MaybePromise<T>): Steps<T> {
  if (!isPromiseLike(value)) return value;
  const resolved: T[] = [];
  yield value.then((result) => {
    resolved.push(result);
  });
  for (const result of resolved) return result;
  throw new Error('steps were continued before their promise was resolved');
}

/** Runs steps: synchronously as long as the values that they wait for are available. A promise that rejects ends them. */
export function run<Result>(steps: Steps<Result>): Result | Promise<Result> {
  const step = steps.next();
  return step.done === true ? step.value : resume(steps, step.value);
}

async function resume<Result>(steps: Steps<Result>, first: PromiseLike<void>): Promise<Result> {
  await first;
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await step.value;
  }
}
