import { type Duration, requireDuration } from '../duration.ts';
import { duration } from '../shape/duration.ts';
import { object, optional, read } from '../shape/shape.ts';

const closeShape = object({ grace: optional(duration()) }, undefined, {
  expected: "an object such as { grace: '2s' }",
  ignoresOthers: true,
});

/**
 * Returns the grace period of `close`, in ms. A test framework that calls `close` as a hook passes a function or an object of its own, which
 * is ignored.
 * @throws RangeError if the options are invalid
 */
export function readGrace(options: unknown, fallback: Duration): number {
  const given = options === undefined || typeof options === 'function' ? {} : options;
  const { grace = fallback } = read(closeShape, given, { optionsOf: 'close' });
  return requireDuration(grace, 'grace');
}
