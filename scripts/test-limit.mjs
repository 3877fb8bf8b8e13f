// Ends a process of tests when one of its tests hangs. The limit is that of one test and not of the process: on a busy machine, a run
// is slow and does not fail.
import { beforeEach } from 'node:test';

// Tests replace timers.
const { setTimeout, clearTimeout } = globalThis;

/**
 * Ends this process with status 1 when a test takes longer than the limit, after it has printed the name of the test.
 *
 * @param {number} limit The maximum time (ms) of a test
 */
export function limitEachTest(limit) {
  beforeEach((context) => {
    const end = () => {
      console.error(`the test "${context.fullName}" has not ended after ${limit / 1000} s`);
      process.exit(1);
    };
    const timer = setTimeout(end, limit);
    // Not afterEach, which is not called for a test that skips itself.
    context.after(() => clearTimeout(timer));
  });
}
