import { describeMatch } from '../match.ts';
import type { JournalEntry } from './entry.ts';
import { differencesOf, type EntryMatch, type EntryParts } from './match.ts';
import { Waiters } from './waiters.ts';

/** Thrown if no matching entry is written in time. The message lists the other entries and how each differs. */
export class JournalTimeout extends Error {
  override readonly name = 'JournalTimeout';
}

/** The options of `journal.waitFor`. */
export interface WaitOptions {
  /** The timeout in ms of the host's time. Default: 2,000. */
  readonly timeout?: number;
  /** An entry. It and earlier entries are ignored. Default: no entry is ignored. */
  readonly after?: JournalEntry;
}

/** The default timeout in ms. */
const defaultTimeout = 2000;
/** The maximum number of entries that a message lists. */
const maxListed = 20;

/** Waits for entries of the journal. */
export class Waiting {
  readonly #entries: () => readonly JournalEntry[];
  readonly #waiters = new Waiters<JournalEntry>();

  /** `entries` returns the entries of the journal. */
  constructor(entries: () => readonly JournalEntry[]) {
    this.#entries = entries;
  }

  /** Resolves to the first matching entry, existing or future. Rejects with JournalTimeout. */
  waitFor(match: EntryMatch, { timeout = defaultTimeout, after }: WaitOptions = {}): Promise<JournalEntry> {
    const since = after?.number ?? 0;
    const fits = (entry: JournalEntry): boolean =>
      entry.number > since && entryDifferences(entry, match).length === 0;
    return this.#waiters.waitFor(this.#entries(), fits, timeout, () => {
      const others = this.#entries().filter(({ number }) => number > since);
      return new JournalTimeout(messageOf(match, timeout, others));
    });
  }

  /** Resolves every wait that this entry matches. */
  notify(entry: JournalEntry): void {
    this.#waiters.notify(entry);
  }

  /** Ends all waits as if they had timed out. */
  end(): void {
    this.#waiters.end();
  }
}

function entryDifferences(entry: JournalEntry, match: EntryMatch): string[] {
  if (typeof match === 'function') return match(entry) ? [] : ['the function returned false'];
  return differencesOf(entry, match);
}

function messageOf(match: EntryMatch, timeout: number, others: readonly JournalEntry[]): string {
  const expected = typeof match === 'function' ? 'the function' : describeEntryMatch(match);
  const head = `No request matched ${expected} within ${timeout} ms.`;
  if (others.length === 0) return `${head} There were no requests.`;
  const unlisted = others.length - maxListed;
  const listed = others
    .slice(-maxListed)
    .map((entry) => `  ${firstLine(entry)}\n    ${entryDifferences(entry, match).join('; ')}`);
  return [`${head} Requests:`, ...(unlisted > 0 ? [`  (${unlisted} earlier requests)`] : []), ...listed].join(
    '\n',
  );
}

function firstLine(entry: JournalEntry): string {
  return String(entry).split('\n', 1).join();
}

function describeEntryMatch(match: EntryParts): string {
  const { method: _method, path: _path, user: _user, ...others } = match;
  const members = Object.entries(others).map(([name, value]) => `${name} ${String(value)}`);
  return [describeMatch(match), ...members].join(', ');
}
