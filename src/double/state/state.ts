// A double is a service some of whose parts a test controls. Every part whose state can change is `Snapshottable`, and a
// snapshot contains the state of each. Random numbers come from a seed and are counted.
/** A part of a double whose state can be saved, restored and reset. */
export interface Snapshottable<Snapshot = unknown> {
  /** Returns the present state as an immutable value, which can be restored any number of times. */
  snapshot(): Snapshot;
  /** Restores a snapshot of this part. */
  restore(snapshot: Snapshot): void;
  /** Restores the state in which the double started. */
  reset(): void;
}

declare const snapshotBrand: unique symbol;

/** The state of a double at one time. It is immutable, and the same double can restore it any number of times. */
export interface DoubleSnapshot {
  readonly [snapshotBrand]: true;
}

/** The state of a double as a whole. */
export interface State {
  snapshot(): DoubleSnapshot;
  /** Throws TypeError if `snapshot` is not a snapshot of this double. */
  restore(snapshot: DoubleSnapshot): void;
  reset(): void;
}

/** Combines the states of parts, which are restored in this order. */
export function createState(all: readonly Snapshottable[]): State {
  /** The states of the parts in each snapshot. They are held here, since a snapshot is opaque. */
  const states = new WeakMap<DoubleSnapshot, readonly unknown[]>();
  return {
    snapshot() {
      const snapshot = Object.freeze(new Snapshot());
      states.set(
        snapshot,
        all.map((part) => part.snapshot()),
      );
      return snapshot;
    },
    restore(snapshot) {
      const saved = states.get(snapshot);
      if (saved === undefined) throw new TypeError('the value is not a snapshot of this double');
      all.forEach((part, at) => {
        part.restore(saved[at]);
      });
    },
    reset() {
      for (const part of all) part.reset();
    },
  };
}

/** A class, so that a snapshot is printed with a name. */
class Snapshot implements DoubleSnapshot {
  declare readonly [snapshotBrand]: true;
}
