/** A part of a double whose state can be taken down, put back, and begun anew. */
export interface Snapshottable<Snapshot = unknown> {
  /** What it holds now, as a value that nothing changes afterwards and that can be restored any number of times. */
  snapshot(): Snapshot;
  /** Puts back what `snapshot` of this same part gave. */
  restore(snapshot: Snapshot): void;
  /** Begins anew, as when the double started. */
  reset(): void;
}
