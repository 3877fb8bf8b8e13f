import type { Entry } from '../store.ts';
import { formatIsoDate } from './iso-date.ts';

/**
 * The members of an item as JSON, without the braces: the same in the line of a journal that a change has and in that of a snapshot.
 * `value` is its value as JSON, and undefined where it has none any more; `date` is when it was modified.
 */
export function formatMembers(
  { id, sequence, revision, modified }: Omit<Entry, 'value'>,
  value: string | undefined,
  date = formatIsoDate(modified),
): string {
  // Put together by hand: JSON.stringify of all of it takes twice as long.
  const members = `"id":${quoted(id)},"sequence":${sequence},"revision":${revision},"modified":"${date}"`;
  return value === undefined ? members : `${members},"value":${value}`;
}

/** A text as JSON. Most need no escapes, and to look is faster than JSON.stringify. */
export function quoted(text: string): string {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return JSON.stringify(text);
  }
  return `"${text}"`;
}
