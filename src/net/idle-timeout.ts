import { clearInterval, setInterval } from '../timers.ts';

/** Something with deadlines: a connection. */
export interface Timed {
  /** Closes it if a deadline has passed; `now` is in milliseconds, on the clock of the sweep. */
  check(now: number): void;
}

/** The shortest and the longest time between two sweeps, in milliseconds. */
const shortest = 10;
const longest = 1000;

/** Compares connections with their deadlines at regular intervals. */
export class DeadlineSweep {
  /** Milliseconds since the sweep was started, as of its last run. */
  now = 0;
  readonly #interval: number;
  readonly #timer: NodeJS.Timeout;

  /**
   * Starts to sweep: eight times within the shortest of `timeouts` (milliseconds, 0 for none), but not more often than every
   * 10 ms, and every second at least. One timer serves all connections: a timeout on each socket costs a
   * small request a thirtieth of its time.
   */
  constructor(timeouts: readonly number[], connections: () => Iterable<Timed>) {
    const least = Math.min(...timeouts.filter((timeout) => timeout > 0));
    const interval = Math.ceil(Math.max(shortest, Math.min(longest, least / 8)));
    this.#interval = interval;
    this.#timer = setInterval(() => {
      this.now += interval;
      for (const connection of connections()) connection.check(this.now);
    }, interval).unref();
  }

  /** Returns the time at which `timeout` milliseconds from now have certainly passed; Infinity, if it is 0. */
  after(timeout: number): number {
    // The last run was up to an interval ago.
    return timeout > 0 ? this.now + timeout + this.#interval : Number.POSITIVE_INFINITY;
  }

  /** Stops. */
  stop(): void {
    clearInterval(this.#timer);
  }
}

/** The timeouts of an idle connection, in milliseconds; 0 for none. */
export interface IdleTimeouts {
  /** How long nothing may come. */
  readonly keepAlive: number;
  /** From the first byte after a rest to the end of a header section. */
  readonly header: number;
}

/** Measures how long one connection has waited for its next request. */
export class IdleTimeout {
  /** The request after which it waits. */
  #request: number | undefined;
  #bytesRead = 0;
  #heard = false;
  #deadline = Number.POSITIVE_INFINITY;

  /**
   * Returns whether an idle connection has to be closed. Called at each sweep, with the number of the last `request` and the
   * bytes received so far. Bytes that complete no header section postpone the deadline once, not each time.
   */
  expired(sweep: DeadlineSweep, timeouts: IdleTimeouts, request: number, bytesRead: number): boolean {
    if (request !== this.#request) {
      this.#request = request;
      this.#bytesRead = bytesRead;
      this.#heard = false;
      this.#deadline = sweep.after(timeouts.keepAlive);
    } else if (!this.#heard && bytesRead !== this.#bytesRead) {
      this.#heard = true;
      // node:http answers 408 to an incomplete header section a little earlier; line ends alone are no header section.
      this.#deadline = sweep.after(timeouts.header * 1.25);
    }
    return sweep.now >= this.#deadline;
  }

  /** Forgets the connection's rest, because it is not idle. */
  reset(): void {
    this.#request = undefined;
  }
}
