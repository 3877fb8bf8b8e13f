import { type AdjustableClock, adjustableClock, type Clock, type ClockSetting } from '../../clock.ts';
import { parseDuration } from '../../duration.ts';
import type { Snapshottable } from './snapshot.ts';

/** A length of time: in ms, or as `250ms`, `90s`, `11m`, `24h`, `7d`, with a minus sign for the other way. */
export type Duration = number | string;

/** A moment: a Date, ms since 1970-01-01T00:00:00Z, or a date of ISO 8601 such as `2026-03-01T12:00:00Z`. */
export type Moment = Date | number | string;

/**
 * The one clock of a double: signed dates, nonces, tokens, `Date` and `Last-Modified` all go by it. It runs with the
 * host's clock until it is told otherwise; times that are waited for (timeouts, delays) are always those of the host.
 */
export interface DoubleClock {
  /** What it shows, in ms since 1970-01-01T00:00:00Z. */
  now(): number;
  /**
   * Lets time pass at once.
   * @example double.clock.advance('11m'); // a date that was signed before is now outside of the window
   */
  advance(by: Duration): void;
  /**
   * Sets it to a moment, back or forth; it runs on from there, or stands there when it is frozen.
   * @example double.clock.set('2026-03-01T12:00:00Z');
   */
  set(to: Moment): void;
  /** Stops it where it is, or at the moment given. */
  freeze(at?: Moment): void;
  /** Lets it be the host's clock again, and run with it. */
  follow(): void;
  /**
   * Moves only what the server says the time is, the field `Date`, by so much; 0 puts it right again. What is judged goes
   * by the clock as before.
   * @example double.clock.skewServerDate('-5m'); // a client that sets its clock by `Date` will be five minutes late
   */
  skewServerDate(by: Duration): void;
}

/** The clock as the parts of a double use it. */
export interface DoubleTime extends Snapshottable<TimeSnapshot> {
  /** What the service goes by. */
  readonly clock: Clock;
  readonly face: DoubleClock;
  /** By how much (ms) the server's `Date` is off. */
  readonly skew: number;
}

/** How a clock was set. */
export interface TimeSnapshot {
  readonly setting: ClockSetting;
  readonly skew: number;
}

/** The period (ms) over which the throttle counts failures. */
const minute = 60_000;

/** Makes the clock of a double. `start` freezes it there. `movedBack` is told whenever it was set back. Throws RangeError on no moment. */
export function createDoubleTime(host: Clock, start: Moment | undefined, movedBack: () => void): DoubleTime {
  const clock = adjustableClock(host);
  let skew = 0;
  if (start !== undefined) stand(clock, start);
  const begun: TimeSnapshot = { setting: clock.setting, skew };

  const move = (change: () => void): void => {
    const before = clock.now();
    change();
    if (clock.now() < before) movedBack();
  };
  const put = ({ setting, skew: skewed }: TimeSnapshot): void =>
    move(() => {
      // Lets the throttle forget the failures that came after the snapshot.
      clock.advance(minute);
      clock.adjust(setting);
      skew = skewed;
    });
  return {
    clock,
    get skew() {
      return skew;
    },
    face: {
      now: () => clock.now(),
      advance(by) {
        const length = lengthOf(by);
        datable(clock.now() + length);
        move(() => clock.advance(length));
      },
      set: (to) => move(() => clock.set(datable(timeOf(to)))),
      freeze: (at) => move(() => (at === undefined ? clock.freeze() : stand(clock, at))),
      follow: () => move(() => clock.follow()),
      skewServerDate(by) {
        const length = lengthOf(by);
        if (Math.abs(length) > mostSkew) throw new RangeError('the server’s Date is off by a year at most');
        skew = length;
      },
    },
    snapshot: () => ({ setting: clock.setting, skew }),
    restore: put,
    reset: () => put(begun),
  };
}

function stand(clock: AdjustableClock, at: Moment): void {
  const time = datable(timeOf(at));
  clock.freeze();
  clock.set(time);
}

/** By how much (ms) a date may be skewed: a year. */
export const mostSkew = 366 * 86_400_000;

/** The first ms of the year 2 and the last of 9997: skewed by up to two years, these still have a year of four digits. */
const [earliest, latest] = [-62_104_060_800_000, 253_339_228_799_999];

/** The moment, if the clock can show it. Throws RangeError where it could not be written as a date of HTTP. */
function datable(time: number): number {
  if (time >= earliest && time <= latest) return time;
  throw new RangeError('the clock goes from the year 0002 to the year 9997');
}

/** A length of time in ms. Throws RangeError on what is none. */
export function lengthOf(duration: Duration): number {
  const text = String(duration);
  const size = typeof duration === 'number' ? duration : parseDuration(text.replace(/^[+-]/, ''));
  if (size === undefined || !Number.isFinite(size))
    throw new RangeError(
      `${JSON.stringify(duration)} is no length of time such as 1500, '90s', '11m' or '-24h'`,
    );
  return typeof duration === 'string' && text.startsWith('-') ? -size : size;
}

const isoForm =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,3})?)?(?:Z|[+-][0-9]{2}:[0-9]{2}))?$/;

/** A moment in ms since 1970. Throws RangeError on what is none. */
export function timeOf(moment: Moment): number {
  const time = typeof moment === 'string' ? timeOfText(moment) : Number(moment);
  if (Number.isFinite(time)) return time;
  throw new RangeError(
    `${JSON.stringify(moment)} is no moment such as '2026-03-01T12:00:00Z', a Date or ms since 1970`,
  );
}

function timeOfText(text: string): number {
  return isoForm.test(text) ? Date.parse(text) : Number.NaN;
}
