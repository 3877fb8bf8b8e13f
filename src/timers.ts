/*
 * The timers of the host, as they were when this module was loaded. Frameworks replace the global timers, `node:timers` and
 * `node:timers/promises` while a test runs with fake timers; a server that waited on those would stop answering.
 */
export const setTimeout = globalThis.setTimeout;
export const clearTimeout = globalThis.clearTimeout;
export const setInterval = globalThis.setInterval;
export const clearInterval = globalThis.clearInterval;
export const setImmediate = globalThis.setImmediate;

/** Resolves after `ms` milliseconds. */
export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Resolves in the next turn of the event loop, after the I/O events that are pending. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
