import { mock } from 'node:test';
import timers from 'node:timers';

/*
 * Records the timers of the sources, which read them when they are loaded: a test imports this module before the others. How
 * long a source waits is then seen without measuring time, which a busy machine falsifies.
 */
const expired: number[] = [];

/** Returns a timer function that records the duration whenever a timer expires. */
function recording<Timer>(start: (callback: () => void, ms?: number) => Timer) {
  return (callback: (...values: unknown[]) => void, ms = 0, ...values: unknown[]): Timer =>
    start(() => {
      expired.push(ms);
      callback(...values);
    }, ms);
}

mock.method(timers, 'setTimeout', recording(timers.setTimeout));
mock.method(timers, 'setInterval', recording(timers.setInterval));

/** Returns how often timers of this duration (ms) have expired in the sources while `act` ran. */
export async function timersDuring(ms: number, act: () => Promise<unknown>): Promise<number> {
  const before = expired.length;
  await act();
  return expired.slice(before).filter((each) => each === ms).length;
}
