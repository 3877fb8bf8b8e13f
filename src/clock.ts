/** Where the time comes from. Everything that asks for the time is handed one of these. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
}

/** The host's clock. */
export const systemClock: Clock = { now: () => Date.now() };

/** A clock that moves only when it is told to. */
export interface ManualClock extends Clock {
  /** Moves by `ms` milliseconds; a negative number moves it back. */
  advance(ms: number): void;
  /** Sets it to `ms` milliseconds since 1970-01-01T00:00:00Z. */
  set(ms: number): void;
}

/** Makes a clock that stands at `start` (milliseconds since 1970-01-01T00:00:00Z) until it is moved. */
export function manualClock(start: number): ManualClock {
  let time = start;
  return {
    now: () => time,
    advance(ms) {
      time += ms;
    },
    set(ms) {
      time = ms;
    },
  };
}
