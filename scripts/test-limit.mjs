// Ends a process of tests when one of its tests hangs. The limit is that of one test and not of the process: on a busy machine, a run
// is slow and does not fail.
import { afterEach, beforeEach } from 'node:test';

// Tests replace timers.
const { setTimeout, clearTimeout } = globalThis;

/**
 * Ends this process with status 1 when a test takes longer than the limit, after it has printed the name of the test.
 *
 * @param {number} limit The maximum time (ms) of a test
 */
export function limitEachTest(limit) {
  const timers = new Map();
  beforeEach(({ fullName }) => {
    const end = () => {
      console.error(`the test "${fullName}" has not ended after ${limit / 1000} s`);
      process.exit(1);
    };
    timers.set(fullName, setTimeout(end, limit));
  });
  afterEach(({ fullName }) => {
    clearTimeout(timers.get(fullName));
    timers.delete(fullName);
  });
}
