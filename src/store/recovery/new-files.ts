import { replaceFile } from '../files/atomic-write.ts';
import type { Disk } from '../files/disk.ts';
import { formatJournalHeader } from '../journal/line.ts';
import { formatLogName } from '../log/line.ts';
import { writeSnapshot } from '../snapshot/writer.ts';
import type { State } from '../state/state.ts';
import { snapshotName } from './recovery.ts';

/** The content of a new data directory. */
export interface NewFiles {
  readonly directory: string;
  readonly storeId: string;
  readonly generation: number;
  /** The number of the last change before the journal. */
  readonly sequence: number;
  readonly state: State;
  /** The current time (ms). */
  readonly now: number;
}

/**
 * Writes a state as a snapshot, and an empty journal of its generation. The journal is written first, so that the
 * previous files remain valid until the snapshot replaces the old one. Resolves when both are on the disk. Throws
 * StoreError.
 */
export async function writeNewFiles(disk: Disk, files: NewFiles): Promise<void> {
  const { directory, storeId, generation, sequence, state, now } = files;
  const { revision } = state;
  const header = formatJournalHeader({ storeId, generation, revision, sequence, opened: now });
  await replaceFile(disk, {
    directory,
    name: formatLogName('journal', generation),
    content: [header],
    sync: true,
  });
  const content = writeSnapshot(
    { storeId, generation, revision, sequence, written: now },
    state,
    () => sequence,
  );
  await replaceFile(disk, { directory, name: snapshotName, content, sync: true });
}
