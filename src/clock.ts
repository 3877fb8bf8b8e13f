/** Where the time comes from. Everything that asks for the time is handed one of these. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. Whoever keeps the host's time may set it forward or back. */
  now(): number;
  /** Milliseconds since some moment: time as it passes, which nobody sets. */
  steady(): number;
}

/** The host's clock. Not by `performance`, which Node.js 20 loads a dozen modules for. */
export const systemClock: Clock = { now: () => Date.now(), steady };

function steady(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

/** A clock that moves only when it is told to. */
export interface ManualClock extends Clock {
  /** Lets `ms` milliseconds pass; a negative number sets it back without any time passing. */
  advance(ms: number): void;
  /** Sets it to `ms` milliseconds since 1970-01-01T00:00:00Z without any time passing. */
  set(ms: number): void;
}

/** Makes a clock that stands at `start` (milliseconds since 1970-01-01T00:00:00Z) until it is moved. */
export function manualClock(start: number): ManualClock {
  let time = start;
  let passed = 0;
  return {
    now: () => time,
    steady: () => passed,
    advance(ms) {
      time += ms;
      passed += Math.max(0, ms);
    },
    set(ms) {
      time = ms;
    },
  };
}

/** A clock that runs with another one, at an offset from it, or stands still; it can be moved either way. */
export interface AdjustableClock extends ManualClock {
  /** Stops it where it is. */
  freeze(): void;
  /** Lets it show what the other one shows, and run with it. */
  follow(): void;
  /** How it stands to the other one: so many ms ahead of it, or still at this time (ms). */
  readonly setting: ClockSetting;
  /** Puts it as `setting` was. No time passes. */
  adjust(setting: ClockSetting): void;
}

/** A clock's offset from the one that it runs with, or the time at which it stands; both in ms. */
export type ClockSetting = { readonly ahead: number } | { readonly stands: number };

/** Makes a clock that follows `host` until it is told otherwise. Its steady time never goes back. */
export function adjustableClock(host: Clock): AdjustableClock {
  let setting: ClockSetting = { ahead: 0 };
  /** How far the steady time is ahead of the host's, or where it stands. */
  let steady: ClockSetting = { ahead: 0 };
  const at = (set: ClockSetting, shown: number): number => ('stands' in set ? set.stands : shown + set.ahead);
  const moved = (set: ClockSetting, ms: number): ClockSetting =>
    'stands' in set ? { stands: set.stands + ms } : { ahead: set.ahead + ms };
  const now = (): number => at(setting, host.now());
  const passed = (): number => at(steady, host.steady());
  const adjust = (next: ClockSetting): void => {
    steady = 'stands' in next ? { stands: passed() } : { ahead: passed() - host.steady() };
    setting = next;
  };
  return {
    now,
    steady: passed,
    advance(ms) {
      setting = moved(setting, ms);
      steady = moved(steady, Math.max(0, ms));
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
