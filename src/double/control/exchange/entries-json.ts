import { nextTurn } from '../../../timers.ts';
import type { JournalEntry } from '../../journal/entry.ts';

/** The size in bytes of the entries that are written in one turn of the event loop. */
const sliceSize = 64 * 1024;

/**
 * Writes entries as an array in JSON. It pauses after each slice, and before each explanation, so that other requests do not wait for a long journal.
 * @param toView returns what is written of an entry. Default: the entry itself
 */
export async function entriesJson(
  entries: readonly JournalEntry[],
  toView: (entry: JournalEntry) => object = (entry) => entry,
): Promise<string> {
  const written: string[] = [];
  let size = 0;
  for (const entry of entries) {
    if (size >= sliceSize || entry.isPending) {
      await nextTurn();
      size = 0;
    }
    written.push(JSON.stringify(toView(entry)));
    size += entry.size;
  }
  return `[${written.join(',')}]`;
}
