import { clearInterval, setInterval } from '../timers.ts';

/** A connection with deadlines. */
interface Timed {
  /** Closes the connection if a deadline has passed. `now` is in milliseconds since the sweep was started. */
  check(now: number): void;
}

/** The shortest and the longest interval between two sweeps, in milliseconds. */
const shortest = 10;
const longest = 1000;

/** Checks the deadlines of all connections at regular intervals. */
export class DeadlineSweep {
  /** Milliseconds since the sweep was started, as of its last run. */
  now = 0;
  readonly #interval: number;
  readonly #timer: NodeJS.Timeout;

  /**
   * Starts the sweep. It runs eight times within the shortest of `timeouts` (milliseconds, 0 for none), from every 10 ms to every
   * second. One timer serves all connections, because a timeout on each socket takes a thirtieth of the time of a small request.
   */
  constructor(timeouts: readonly number[], connections: () => Iterable<Timed>) {
    const min = Math.min(...timeouts.filter((timeout) => timeout > 0));
    const interval = Math.ceil(Math.max(shortest, Math.min(longest, min / 8)));
    this.#interval = interval;
    this.#timer = setInterval(() => {
      this.now += interval;
      for (const connection of connections()) connection.check(this.now);
    }, interval).unref();
  }

  /** Returns a time at which `timeout` milliseconds from now have certainly passed; Infinity if `timeout` is 0. */
  after(timeout: number): number {
    // The last run was up to an interval ago.
    return timeout > 0 ? this.now + timeout + this.#interval : Number.POSITIVE_INFINITY;
  }

  /** Stops the sweep. */
  stop(): void {
    clearInterval(this.#timer);
  }
}

/** The timeouts of an idle connection, in milliseconds; 0 for none. */
export interface IdleTimeouts {
  /** How long no byte may arrive. */
  readonly keepAlive: number;
  /** From the first byte of a request to the end of its header section. */
  readonly header: number;
}

/** Measures how long one connection has waited for its next request. */
export class IdleTimeout {
  /** The sequence number of the last request. */
  #request: number | undefined;
  #bytesRead = 0;
  #received = false;
  #deadline = Number.POSITIVE_INFINITY;

  /**
   * Returns whether an idle connection must be closed. Called at each sweep, with the sequence number of the last `request` and the
   * bytes received so far. Bytes that complete no header section extend the deadline once, not each time.
   */
  expired(sweep: DeadlineSweep, timeouts: IdleTimeouts, request: number, bytesRead: number): boolean {
    if (request !== this.#request) {
      this.#request = request;
      this.#bytesRead = bytesRead;
      this.#received = false;
      this.#deadline = sweep.after(timeouts.keepAlive);
    } else if (!this.#received && bytesRead !== this.#bytesRead) {
      this.#received = true;
      // node:http answers 408 to an incomplete header section a little earlier, but not to mere line ends.
      this.#deadline = sweep.after(timeouts.header * 1.25);
    }
    return sweep.now >= this.#deadline;
  }

  /** Resets the measurement, because the connection is not idle. */
  reset(): void {
    this.#request = undefined;
  }
}
