/** Where the time comes from. Everything that asks for the time is handed one of these. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. Whoever keeps the host's time may set it forward or back. */
  now(): number;
  /** Milliseconds since some moment: time as it passes, which nobody sets. */
  steady(): number;
}

/** The host's clock. */
export const systemClock: Clock = { now: () => Date.now(), steady: () => performance.now() };

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
