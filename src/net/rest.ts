/** What waits for another request now and then: a connection. */
export interface Resting {
  /** Looks at it, and gives how many looks on end have found it at rest, and with nothing come since the look before. */
  look(): number;
  destroy(): void;
}

/** How often a connection is looked at in the time that it may rest. */
const looks = 4;

/** The least and the most that is between two looks, in milliseconds. */
const least = 10;
const most = 1000;

/**
 * Lets go of the connections that have rested for `time` milliseconds, each when it is looked at next: within a quarter of
 * that time, a second at most, or else 20 ms. One timer does for all of them. A timeout on each socket, which every request
 * takes away and sets anew, costs a small one a thirtieth of its time. Gives what ends it.
 */
export function limitRest(time: number, connections: () => Iterable<Resting>): () => void {
  const interval = Math.ceil(Math.max(least, time / Math.max(looks, Math.ceil(time / most))));
  const allowed = Math.ceil(time / interval);
  const timer = setInterval(() => {
    for (const connection of connections()) if (connection.look() >= allowed) connection.destroy();
  }, interval).unref();
  return () => clearInterval(timer);
}
