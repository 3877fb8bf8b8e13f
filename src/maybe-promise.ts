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
