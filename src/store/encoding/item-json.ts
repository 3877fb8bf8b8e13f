import type { StoredItem } from '../store.ts';
import { formatIsoDate } from './iso-date.ts';

/**
 * Formats the members of an item as JSON, without the braces. Journals, snapshots and exports contain the same members.
 * @param value the value as JSON; undefined for a deleted item
 * @param date the time of the item's last change
 */
export function formatMembers(
  { id, sequence, revision, modified }: Omit<StoredItem, 'value'>,
  value: string | undefined,
  date = formatIsoDate(modified),
): string {
  // JSON.stringify of the whole item takes twice as long.
  const members = `"id":${quoted(id)},"sequence":${sequence},"revision":${revision},"modified":"${date}"`;
  return value === undefined ? members : `${members},"value":${value}`;
}

/** Formats a text as JSON. Most texts need no escapes, and checking that is faster than JSON.stringify. */
export function quoted(text: string): string {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return JSON.stringify(text);
  }
  return `"${text}"`;
}
