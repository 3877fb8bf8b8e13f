import { inspect, types } from 'node:util';
import { type Duration, readSignedDuration } from './duration.ts';

/** A point in time: a Date, milliseconds since 1970-01-01T00:00:00Z, or an ISO 8601 date such as `2026-03-01T12:00:00Z`. */
export type DateLike = Date | number | string;

const isoForm =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,3})?)?(?:Z|[+-][0-9]{2}:[0-9]{2}))?$/;

/** Returns a point in time in ms since 1970-01-01T00:00:00Z; undefined if it is none. */
export function readTime(moment: unknown): number | undefined {
  const time = typeof moment === 'string' ? (isoForm.test(moment) ? Date.parse(moment) : undefined) : moment;
  // A Date may be of another realm. Other values, such as null, would be converted to numbers.
  const ms = types.isDate(time) ? time.getTime() : time;
  return typeof ms === 'number' && Number.isFinite(ms) ? ms : undefined;
}

/** A source of time. All code that needs the time takes one as a parameter. */
export interface Clock {
  /** Returns the milliseconds since 1970-01-01T00:00:00Z. The system time may be set forward or back. */
  now(): number;
  /** Returns the milliseconds since an arbitrary moment. Monotonic: setting the system time does not affect it. */
  steady(): number;
  /**
   * Returns by how many ms the clock is ahead of the host's, if it follows that and can be moved. A hint names it to clients that
   * use the time of the host.
   */
  ahead?(): number;
}

/** The system's clock. It does not use `performance`, for which Node.js 20 loads a dozen modules. */
export const systemClock: Clock = { now: () => Date.now(), steady };

function steady(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

/** A clock that moves only by its own methods. */
export interface ManualClock extends Clock {
  /**
   * Advances the clock by a duration: ms, or text such as `11m`. A negative one sets it back; the monotonic time then stays.
   * @throws RangeError if it is invalid
   */
  advance(by: Duration): void;
  /**
   * Sets the time. The monotonic time stays.
   * @throws RangeError if it is invalid
   */
  set(to: DateLike): void;
}

/**
 * Creates a clock that shows the time `start` until it is moved.
 * @throws RangeError if `start` is invalid
 * @example const clock = createManualClock('2026-03-01T12:00:00Z');
 */
export function createManualClock(start: DateLike): ManualClock {
  let time = requireTime(start);
  let passed = 0;
  return {
    now: () => time,
    steady: () => passed,
    advance(by) {
      const ms = readSignedDuration(by);
      if (ms === undefined)
        throw new RangeError(`${inspect(by)} is not a duration such as 1500, '90s', '11m' or '-24h'`);
      time += ms;
      passed += Math.max(0, ms);
    },
    set(to) {
      time = requireTime(to);
    },
  };
}

function requireTime(moment: DateLike): number {
  const time = readTime(moment);
  if (time !== undefined) return time;
  throw new RangeError(
    `${inspect(moment)} is not a time such as '2026-03-01T12:00:00Z', a Date or ms since 1970`,
  );
}

/** A clock that follows another one at an offset, or is frozen. It can be moved in both directions. */
export interface AdjustableClock extends Clock {
  /** Advances the clock by `ms` milliseconds. A negative number sets it back; the monotonic time then stays. */
  advance(ms: number): void;
  /** Sets the time to `ms` milliseconds since 1970-01-01T00:00:00Z. The monotonic time stays. */
  set(ms: number): void;
  /** Freezes the clock at its present time. */
  freeze(): void;
  /** Sets the clock to the time of the other one, and follows it. */
  follow(): void;
  /** The offset from the other clock, or the time at which this one is frozen; in ms. */
  readonly setting: ClockSetting;
  /** Restores an earlier `setting`. The monotonic time stays. */
  adjust(setting: ClockSetting): void;
}

/** The offset from the clock that is followed, or the time at which the clock is frozen; both in ms. */
export type ClockSetting = { readonly ahead: number } | { readonly stands: number };

/** Creates a clock that follows `host` without an offset. Its monotonic time never goes back. */
export function createAdjustableClock(host: Clock): AdjustableClock {
  let setting: ClockSetting = { ahead: 0 };
  /** The setting of the monotonic time. */
  let steady: ClockSetting = { ahead: 0 };
  const computeTime = (set: ClockSetting, shown: number): number =>
    'stands' in set ? set.stands : shown + set.ahead;
  const moveSetting = (set: ClockSetting, ms: number): ClockSetting =>
    'stands' in set ? { stands: set.stands + ms } : { ahead: set.ahead + ms };
  const now = (): number => computeTime(setting, host.now());
  const passed = (): number => computeTime(steady, host.steady());
  const adjust = (next: ClockSetting): void => {
    // Whole, because sums and differences of fractions are not exact: a window of an hour must end when the clock is advanced by one.
    steady = 'stands' in next ? { stands: Math.ceil(passed()) } : { ahead: passed() - host.steady() };
    setting = next;
  };
  return {
    now,
    steady: passed,
    ahead: () => now() - host.now(),
    advance(ms) {
      setting = moveSetting(setting, ms);
      steady = moveSetting(steady, Math.max(0, ms));
    },
    set(ms) {
      setting = 'stands' in setting ? { stands: ms } : { ahead: ms - host.now() };
    },
    freeze: () => adjust({ stands: now() }),
    follow: () => adjust({ ahead: 0 }),
    get setting() {
      return setting;
    },
    adjust,
  };
}
