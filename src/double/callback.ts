/** Reports the error of a user's callback. */
export type ReportError = (error: unknown) => void;

/** Writes an error to standard error, as the service does with internal errors. */
export const writeError: ReportError = (error) => {
  console.error(error);
};

/** Reports an error by a callback that may throw itself. */
export function reportBy(report: ReportError, error: unknown): void {
  try {
    report(error);
  } catch (thrown) {
    writeError(thrown);
  }
}

/**
 * Calls a listener of the user. An error that it throws, or with which its promise rejects, is reported and has no other effect: it
 * reaches neither the other listeners nor the request that is being processed.
 */
export function callListener<Value>(
  listener: (value: Value) => unknown,
  value: Value,
  report: ReportError,
): void {
  try {
    const returned = listener(value);
    if (isPromise(returned)) returned.then(undefined, (error: unknown) => reportBy(report, error));
  } catch (error) {
    reportBy(report, error);
  }
}

/** Returns whether a value is a promise, or an object that can be awaited as one. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
