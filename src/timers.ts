import timers from 'node:timers';

/*
 * The timers of the host, as they were when this module was loaded. Frameworks replace the global timers, the members of
 * `node:timers` and `node:timers/promises` while a test runs with fake timers; a server that waited on those would stop
 * answering. They are read from the module, because a framework may install its own globals before it loads a test.
 */
export const setTimeout = timers.setTimeout;
export const clearTimeout = timers.clearTimeout;
export const setInterval = timers.setInterval;
export const clearInterval = timers.clearInterval;
export const setImmediate = timers.setImmediate;

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
