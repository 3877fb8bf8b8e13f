import { crc32 } from 'node:zlib';
import { formatChecksum } from '../encoding/checksum.ts';
import { formatIsoDate } from '../encoding/iso-date.ts';
import { formatMembers } from '../encoding/item-json.ts';
import type { CollectionView, State } from '../state/state.ts';

/** The name and the version of the format of an export. */
export const exportFormat = 'countersign-export';
export const exportVersion = 1;

/** The options of an export. */
export interface ExportOptions {
  /** The id of the store. It is part of every entity tag. */
  readonly storeId: string;
  readonly state: State;
  /** The current time (ms). */
  readonly at: number;
  /** Returns whether a collection is exported. */
  readonly includes: (path: string) => boolean;
}

/**
 * Returns the lines of an export: a header; for each collection a line with its counters, then its items in the
 * order of creation; and a last line with the number of items and the CRC-32 of all bytes before it.
 */
export function* formatExport({ storeId, state, at, includes }: ExportOptions): Generator<string> {
  const exported = [...state.collections()].filter(({ path }) => includes(path));
  let checksum = 0;
  const counted = (line: string): string => {
    checksum = crc32(line, checksum);
    return line;
  };
  const format = { format: exportFormat, version: exportVersion };
  yield counted(lineOf({ ...format, storeId, revision: state.revision, exported: formatIsoDate(at) }));
  for (const collection of exported) for (const line of linesOf(collection)) yield counted(line);
  const items = exported.reduce((sum, { count }) => sum + count, 0);
  yield formatExportEnd(items, checksum);
}

/** Returns the last line of an export: the number of items, and the CRC-32 of all bytes before the line. */
export function formatExportEnd(items: number, checksum: number): string {
  return lineOf({ end: true, items, crc: formatChecksum(checksum) });
}

function* linesOf(collection: CollectionView): Generator<string> {
  const { path, counter, sequence, revision, modified, entries } = collection;
  const chosen = Array.from(collection.chosen, ({ first, last }) => [first, last]);
  const numbers = { counter, chosen, sequence, revision, modified: formatIsoDate(modified) };
  yield lineOf({ collection: path, ...numbers });
  const start = `{"collection":${JSON.stringify(path)},`;
  for (const entry of entries) yield `${start}${formatMembers(entry, JSON.stringify(entry.value))}}\n`;
}

function lineOf(members: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify(members)}\n`;
}
