import type { Snapshottable } from './snapshot.ts';

declare const snapshotBrand: unique symbol;

/** All that a double held at a moment. Nothing changes it, and it can be restored any number of times in the same double. */
export interface DoubleSnapshot {
  readonly [snapshotBrand]: true;
}

/** Everything in a double that changes, as one. */
export interface State {
  snapshot(): DoubleSnapshot;
  /** Throws TypeError on what is no snapshot of this double. */
  restore(snapshot: DoubleSnapshot): void;
  reset(): void;
}

/** Makes the state of these parts, which are restored in the order given. */
export function createState(parts: Readonly<Record<string, Snapshottable>>): State {
  const all = Object.values(parts);
  /** What each snapshot holds of each part. It is kept here, so that a snapshot itself shows nothing. */
  const held = new WeakMap<DoubleSnapshot, readonly unknown[]>();
  return {
    snapshot() {
      const snapshot = Object.freeze(new Snapshot());
      held.set(
        snapshot,
        all.map((part) => part.snapshot()),
      );
      return snapshot;
    },
    restore(snapshot) {
      const kept = held.get(snapshot);
      if (kept === undefined) throw new TypeError('this is no snapshot that this double has made');
      all.forEach((part, at) => {
        part.restore(kept[at]);
      });
    },
    reset() {
      for (const part of all) part.reset();
    },
  };
}

/** A class so that it is printed by a name. */
class Snapshot implements DoubleSnapshot {
  declare readonly [snapshotBrand]: true;
}
