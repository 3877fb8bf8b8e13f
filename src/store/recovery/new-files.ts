import { replaceFile } from '../files/atomic-write.ts';
import type { Disk } from '../files/disk.ts';
import { formatJournalHeader } from '../journal/line.ts';
import { writeSnapshot } from '../snapshot/writer.ts';
import type { State } from '../state/state.ts';
import { journalName, snapshotName } from './recovery.ts';

/** What a store's files are begun with. */
export interface NewFiles {
  readonly directory: string;
  readonly lineage: string;
  readonly generation: number;
  /** The number of the last change before. */
  readonly sequence: number;
  readonly state: State;
  /** The time (ms). */
  readonly now: number;
}

/**
 * Writes a state as a snapshot with a journal of its generation, which has nothing yet. The journal is there first, so
 * that what was there before counts until the snapshot stands. All is on the medium when it resolves; throws StoreError.
 */
export async function writeNewFiles(disk: Disk, beginning: NewFiles): Promise<void> {
  const { directory, lineage, generation, sequence, state, now } = beginning;
  const { revision } = state;
  const header = formatJournalHeader({ lineage, generation, revision, sequence, opened: now });
  await replaceFile(disk, { directory, name: journalName(generation), content: [header], sync: true });
  const content = writeSnapshot(
    { lineage, generation, revision, sequence, written: now },
    state,
    () => sequence,
  );
  await replaceFile(disk, { directory, name: snapshotName, content, sync: true });
}
