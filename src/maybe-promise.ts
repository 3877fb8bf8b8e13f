/** A value that is there at once, or comes later: most are in memory, and a promise costs more than finding them. */
export type Soon<T> = T | PromiseLike<T>;

/** Whether a value comes later. By its `then`, for a promise may be of another realm. */
export function comesLater<T>(value: Soon<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value;
}

/** What is made of a value: at once where it is there, else when it has come. */
export function whenThere<T, Made>(
  value: Soon<T>,
  make: (value: T) => Made | Promise<Made>,
): Made | Promise<Made> {
  return comesLater(value) ? Promise.resolve(value).then(make) : make(value);
}
