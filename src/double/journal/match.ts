import { differences, type Match } from '../match.ts';
import type { JournalEntry } from './entry.ts';

/** Selects entries of the journal, by members or by a function. An entry matches if it matches every member that is present. */
export type EntryMatch = EntryParts | ((entry: JournalEntry) => boolean);

/** The members by which entries are selected. */
export interface EntryParts extends Match {
  /** The status of the response. */
  readonly status?: number;
  /** The step (0 to 16) that produced the response. */
  readonly step?: number;
  /** The problem type in the response, such as `nonce-replayed`. */
  readonly problem?: string;
  /** A text or pattern that the content of the request contains. */
  readonly text?: string | RegExp;
}

/** Returns whether an entry matches. */
export function fits(entry: JournalEntry, match: EntryMatch): boolean {
  return typeof match === 'function' ? match(entry) : differencesOf(entry, match).length === 0;
}

/** Returns how an entry differs from a match, one phrase for each difference. Empty if it matches. */
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
    found.push(`the content does not contain ${JSON.stringify(String(match.text))}`);
  return found;
}

function hasText(text: string, wanted: string | RegExp): boolean {
  return typeof wanted === 'string' ? text.includes(wanted) : text.search(wanted) >= 0;
}
