// Ends a process of tests when one of its tests hangs. The limit is that of one test and not of the process, and it is longer on a busy
// machine: there, a run is slow and does not fail.

import { availableParallelism, loadavg } from 'node:os';
import { beforeEach } from 'node:test';

// Tests replace timers.
const { setTimeout, clearTimeout } = globalThis;
const now = performance.now.bind(performance);

/**
 * Ends this process with status 1 when a test takes longer than the limit, after it has printed the name of the test. While more programs
 * want to run than there are processors, the limit is as many times longer.
 *
 * @param {number} limit The maximum time (ms) of a test on a machine that does nothing else
 */
export function limitEachTest(limit) {
  beforeEach((context) => {
    const begun = now();
    const end = () => {
      const allowed = limit * Math.max(1, loadavg()[0] / availableParallelism());
      const left = begun + allowed - now();
      if (left > 0) {
        timer = setTimeout(end, left);
        return;
      }
      console.error(`the test "${context.fullName}" has not ended after ${Math.round(allowed / 1000)} s`);
      process.exit(1);
    };
    let timer = setTimeout(end, limit);
    // Not afterEach, which is not called for a test that skips itself.
    context.after(() => clearTimeout(timer));
  });
}
