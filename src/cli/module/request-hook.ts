import { isPromiseLike, type MaybePromise } from '../../maybe-promise.ts';
import type { AccessLogEntry } from '../../pipeline/options.ts';
import { delay, setImmediate } from '../../timers.ts';

/** Calls `onRequest` of a module. */
export interface RequestHook {
  /** Calls the function in the next turn of the event loop, so that it does not delay the response. */
  readonly add: (entry: AccessLogEntry) => void;
  /** Calls the function for all remaining entries, and waits for its promises, at most one second. */
  flush(): Promise<void>;
}

/** The time limit of `flush`, in milliseconds. */
const flushTimeout = 1000;
/** The maximum number of kinds of errors that are reported. */
const maxKinds = 100;

/**
 * Creates a hook.
 *
 * @param onError called with what the function throws or rejects with, once per kind: name and code of the error
 */
export function createRequestHook(
  onRequest: (entry: AccessLogEntry) => unknown,
  onError: (error: unknown) => void,
): RequestHook {
  let waiting: AccessLogEntry[] = [];
  const pending = new Set<Promise<void>>();
  const kinds = new Set<string>();
  const report = (error: unknown): void => {
    const kind = describeKind(error);
    if (kinds.has(kind) || kinds.size === maxKinds) return;
    kinds.add(kind);
    onError(error);
  };
  const call = (entry: AccessLogEntry): void => {
    try {
      const returned: MaybePromise<unknown> = onRequest(entry);
      if (!isPromiseLike(returned)) return;
      const settled: Promise<void> = Promise.resolve(returned)
        .then(() => {}, report)
        .finally(() => pending.delete(settled));
      pending.add(settled);
    } catch (error) {
      report(error);
    }
  };
  const callAll = (): void => {
    const entries = waiting;
    waiting = [];
    for (const entry of entries) call(entry);
  };
  return {
    add(entry) {
      if (waiting.push(entry) === 1) setImmediate(callAll);
    },
    async flush() {
      callAll();
      if (pending.size > 0) await Promise.race([Promise.all(pending), delay(flushTimeout)]);
    },
  };
}

function describeKind(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return `${error.name} ${'code' in error ? String(error.code) : ''}`;
}
