/** The base class of all errors of the library. Wrong arguments are RangeErrors and TypeErrors instead. */
export abstract class CountersignError extends Error {
  /** The reason. Each subclass lists its codes in its type; they are stable. */
  abstract readonly code: string;
}
