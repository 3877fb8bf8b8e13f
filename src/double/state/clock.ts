import {
  type AdjustableClock,
  type Clock,
  type ClockSetting,
  createAdjustableClock,
  type DateLike,
  readTime,
} from '../../clock.ts';
import { type Duration, readSignedDuration } from '../../duration.ts';
import { formatValue } from '../../shape/fault.ts';
import { maxSkew } from '../faults/declaration.ts';

/**
 * The clock of a double. It determines signed dates, the validity of nonces and tokens, `Date` and `Last-Modified`. By
 * default it follows the host's clock. Timeouts and delays are always in the host's time.
 */
export interface DoubleClock {
  /** Returns the clock's time in ms since 1970-01-01T00:00:00Z. */
  now(): number;
  /**
   * Advances the clock by a duration, which may be negative. No real time passes.
   * @throws RangeError if the duration is invalid, or if the year would be outside of 0002 to 9997
   * @example double.clock.advance('11m'); // a date that was signed before is now outside the window
   */
  advance(by: Duration): void;
  /**
   * Sets the clock, forward or back. A frozen clock stays frozen; otherwise it continues from there.
   * @throws RangeError as `advance`
   * @example double.clock.set('2026-03-01T12:00:00Z');
   */
  set(to: DateLike): void;
  /** Freezes the clock, at `at` or now. Throws RangeError as `advance`. */
  freeze(at?: DateLike): void;
  /** Makes the clock follow the host's clock again. */
  follow(): void;
  /**
   * Adds a skew to the field `Date` of responses, of up to 366 days. 0 removes it. The clock itself is not changed.
   * @example double.clock.skewServerDate('-5m'); // a client that sets its clock by `Date` is five minutes slow
   */
  skewServerDate(by: Duration): void;
}

/** The clock as a part of a double. */
export type DoubleTime = ReturnType<typeof createDoubleTime>;

/** The settings of a clock in a snapshot. */
interface TimeSnapshot {
  readonly setting: ClockSetting;
  readonly skew: number;
}

/** The period in ms over which the rate limit counts failures. */
const minute = 60_000;

/**
 * Creates the clock of a double.
 * @param start the time at which the clock is frozen. Undefined: it follows the host's clock.
 * @param onSetBack called whenever the clock was set back
 * @throws RangeError if `start` is invalid
 */
export function createDoubleTime(host: Clock, start: DateLike | undefined, onSetBack: () => void) {
  const clock = createAdjustableClock(host);
  let skew = 0;
  if (start !== undefined) freezeAt(clock, start);
  const initial: TimeSnapshot = { setting: clock.setting, skew };

  const move = (change: () => void): void => {
    const before = clock.now();
    change();
    if (clock.now() < before) onSetBack();
  };
  const restore = ({ setting, skew: restoredSkew }: TimeSnapshot): void =>
    move(() => {
      // Makes the failures since the snapshot expire in the rate limit.
      clock.advance(minute);
      clock.adjust(setting);
      skew = restoredSkew;
    });
  const control: DoubleClock = {
    now: () => clock.now(),
    advance(by) {
      const length = toMilliseconds(by);
      checkRange(clock.now() + length);
      move(() => clock.advance(length));
    },
    set: (to) => move(() => clock.set(checkRange(toTime(to)))),
    freeze: (at) => move(() => (at === undefined ? clock.freeze() : freezeAt(clock, at))),
    follow: () => move(() => clock.follow()),
    skewServerDate(by) {
      const length = toMilliseconds(by);
      if (Math.abs(length) > maxSkew) throw new RangeError('the skew of Date must be at most 366 days');
      skew = length;
    },
  };
  return {
    /** The clock of the service. */
    clock,
    /** The functions with which a test controls the clock. */
    control,
    /** The skew of `Date` in ms. */
    get skew() {
      return skew;
    },
    snapshot: () => ({ setting: clock.setting, skew }),
    restore,
    reset: () => restore(initial),
  };
}

function freezeAt(clock: AdjustableClock, at: DateLike): void {
  const time = checkRange(toTime(at));
  clock.freeze();
  clock.set(time);
}

/** The first ms of the year 2 and the last ms of 9997. Skewed by up to two years, they still have a year of four digits. */
const [earliest, latest] = [-62_104_060_800_000, 253_339_228_799_999];

/** Returns `time`. Throws RangeError if an HTTP date could not represent it. */
function checkRange(time: number): number {
  if (time >= earliest && time <= latest) return time;
  throw new RangeError('the clock must be set to a year from 0002 to 9997');
}

/** Returns a duration in ms. Throws RangeError if it is invalid. */
export function toMilliseconds(duration: Duration): number {
  const length = readSignedDuration(duration);
  if (length !== undefined) return length;
  throw new RangeError(`${formatValue(duration)} is not a duration such as 1500, '90s', '11m' or '-24h'`);
}

/** Returns a moment in ms since 1970-01-01T00:00:00Z. Throws RangeError if it is invalid. */
export function toTime(moment: DateLike): number {
  const time = readTime(moment);
  if (time !== undefined) return time;
  throw new RangeError(
    `${formatValue(moment)} is not a time such as '2026-03-01T12:00:00Z', a Date or ms since 1970`,
  );
}
