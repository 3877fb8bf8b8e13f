import timers from 'node:timers';

/*
 * The host's timers, as they were when this module was loaded. Test frameworks with fake timers replace the globals, the members
 * of `node:timers` and `node:timers/promises`; a server that waited on those would stop responding. The values come from the
 * module, because a framework may have replaced the globals before it loads a test.
 */
export const setTimeout = timers.setTimeout;
export const clearTimeout = timers.clearTimeout;
export const setInterval = timers.setInterval;
export const clearInterval = timers.clearInterval;
export const setImmediate = timers.setImmediate;

/** The longest delay of `setTimeout` (ms). */
export const longestDelay = 2_147_483_647;

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
