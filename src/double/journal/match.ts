import { differences, type Match } from '../match.ts';
import type { JournalEntry } from './entry.ts';

/** Which entries of the journal are meant: all that fit everything that is given, or whatever a function takes. */
export type EntryMatch = EntryParts | ((entry: JournalEntry) => boolean);

/** What an entry can be found by. */
export interface EntryParts extends Match {
  /** The status of the reply. */
  readonly status?: number;
  /** The step (0 to 16) that answered. */
  readonly step?: number;
  /** The problem type of a refusal: `nonce-replayed`. */
  readonly problem?: string;
  /** What the content of the request has in it. */
  readonly text?: string | RegExp;
}

/** Whether an entry is what is meant. */
export function fits(entry: JournalEntry, match: EntryMatch): boolean {
  return typeof match === 'function' ? match(entry) : differencesOf(entry, match).length === 0;
}

/** How an entry differs from what is meant, each difference in a few words; none where it fits. */
export function differencesOf(entry: JournalEntry, match: EntryParts): string[] {
  const { request } = entry;
  const { method = '(unparsed)', path = '(unparsed)', text = '' } = request ?? {};
  const found = differences(match, { method, path, user: entry.user });
  const compare = (name: 'status' | 'step' | 'problem', value: unknown): void => {
    if (match[name] !== undefined && match[name] !== value)
      found.push(`the ${name} is ${value ?? 'none'}, not ${match[name]}`);
  };
  compare('status', entry.reply?.status);
  compare('step', entry.step);
  compare('problem', entry.problem?.type);
  if (match.text !== undefined && !hasText(text, match.text))
    found.push(`the content has no ${JSON.stringify(String(match.text))}`);
  return found;
}

function hasText(text: string, wanted: string | RegExp): boolean {
  return typeof wanted === 'string' ? text.includes(wanted) : text.search(wanted) >= 0;
}
