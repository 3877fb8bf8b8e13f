/** A value that is there at once, or comes later: most are in memory, and a promise costs more than finding them. */
export type MaybePromise<T> = T | PromiseLike<T>;

/** Whether a value comes later. By its `then`, for a promise may be of another realm. */
export function isPromiseLike<T>(value: MaybePromise<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value;
}

/** What is made of a value: at once where it is there, else when it has come. */
export function andThen<T, Made>(
  value: MaybePromise<T>,
  make: (value: T) => Made | Promise<Made>,
): Made | Promise<Made> {
  return isPromiseLike(value) ? Promise.resolve(value).then(make) : make(value);
}
