import { createHash } from 'node:crypto';
import type { StoreChange } from '../store.ts';
import type { AssignRevision } from './state.ts';

/** The maximum number of remembered changes. */
const maxChanges = 100_000;

/** The revisions of a store that can be restored. */
interface Timelines {
  /**
   * Assigns revisions. A revision identifies one change to one state: a change that is repeated after a restore gets its
   * former revision, any other change one that was never assigned.
   */
  readonly assign: AssignRevision;
  /** Must be called before the first copy. Changes before it cannot be repeated, so they need not be remembered. */
  begin(): void;
}

/** Creates revisions from 1. After 100,000 changes all are forgotten; a repetition of one then gets a new revision. */
export function createTimelines(): Timelines {
  /** The revision of each change, by the revision before it and the change. */
  const revisions = new Map<string, number>();
  let highestEver = 0;
  let begun = false;
  return {
    assign(highest, change) {
      const key = begun ? `${highest} ${computeDigest(change)}` : '';
      const former = begun ? revisions.get(key) : undefined;
      if (former !== undefined) return former;
      highestEver = Math.max(highestEver, highest) + 1;
      if (revisions.size >= maxChanges) revisions.clear();
      if (begun) revisions.set(key, highestEver);
      return highestEver;
    },
    begin() {
      begun = true;
    },
  };
}

/** Returns a digest of the parts of a change that determine the state after it. */
function computeDigest(change: StoreChange): string {
  return createHash('sha256').update(JSON.stringify(change)).digest('base64');
}
