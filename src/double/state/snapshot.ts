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
