import { describeMatch } from '../match.ts';
import type { JournalEntry } from './entry.ts';
import { differencesOf, type EntryMatch } from './match.ts';
import { Waiters } from './waiters.ts';

/** What was waited for did not come in time. The message lists what did, and how each differs. */
export class JournalTimeout extends Error {
  override readonly name = 'JournalTimeout';
}

/** How to wait. */
export interface WaitOptions {
  /** Milliseconds of the host's time; 2,000 when left out. */
  readonly timeout?: number;
  /** Entries up to this one do not count; all that are in the journal do when it is left out. */
  readonly after?: JournalEntry;
}

/** The default timeout in ms. */
const defaultTimeout = 2000;
/** How many entries a message lists, the latest ones. */
const mostListed = 20;

/** Waits for entries of the journal. */
export class Waiting {
  readonly #entries: () => readonly JournalEntry[];
  readonly #arrivals = new Waiters<JournalEntry>();

  /** `entries` gives those that are there. */
  constructor(entries: () => readonly JournalEntry[]) {
    this.#entries = entries;
  }

  /** The first entry that fits, there or to come. Rejects with JournalTimeout. */
  waitFor(match: EntryMatch, { timeout = defaultTimeout, after }: WaitOptions = {}): Promise<JournalEntry> {
    const since = after?.number ?? 0;
    const fits = (entry: JournalEntry): boolean =>
      entry.number > since && howItDiffers(entry, match).length === 0;
    return this.#arrivals.waitFor(this.#entries(), fits, timeout, () => {
      const come = this.#entries().filter(({ number }) => number > since);
      return new JournalTimeout(messageOf(match, timeout, come));
    });
  }

  /** Resolves every wait that this entry fits. */
  come(entry: JournalEntry): void {
    this.#arrivals.come(entry);
  }

  /** Ends every wait as if its time had run out. */
  end(): void {
    this.#arrivals.end();
  }
}

function howItDiffers(entry: JournalEntry, match: EntryMatch): string[] {
  if (typeof match === 'function') return match(entry) ? [] : ['it is not what the function takes'];
  return differencesOf(entry, match);
}

function messageOf(match: EntryMatch, timeout: number, come: readonly JournalEntry[]): string {
  const wanted = typeof match === 'function' ? 'what the function takes' : wantedIn(match);
  const head = `${wanted} did not come within ${timeout} ms.`;
  if (come.length === 0) return `${head} Nothing came.`;
  const left = come.length - mostListed;
  const listed = come
    .slice(-mostListed)
    .map((entry) => `  ${oneLine(entry)}\n    ${howItDiffers(entry, match).join('; ')}`);
  return [`${head} These came:`, ...(left > 0 ? [`  (${left} earlier ones)`] : []), ...listed].join('\n');
}

function oneLine(entry: JournalEntry): string {
  return String(entry).split('\n', 1).join();
}

function wantedIn(match: Exclude<EntryMatch, (entry: JournalEntry) => boolean>): string {
  const { method: _method, path: _path, user: _user, ...others } = match;
  const rest = Object.entries(others).map(([name, value]) => `${name} ${String(value)}`);
  return [describeMatch(match), ...rest].join(', ');
}
