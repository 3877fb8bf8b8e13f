import type { Clock } from '../clock.ts';
import type { Observer } from '../observer.ts';
import type { FaultsPart } from './faults.ts';
import type { JournalEntry } from './journal-entry.ts';
import type { Match } from './match.ts';
import type { Stateful } from './stateful.ts';

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

/** How to wait. */
export interface WaitOptions {
  /** Milliseconds of the host's time; 2,000 when left out. */
  readonly timeout?: number;
  /** Entries up to this one do not count; all that are in the journal do when it is left out. */
  readonly after?: JournalEntry;
}

/**
 * Every request that came, and what became of it. Secrets, passwords, tokens and signatures are never in what it
 * prints, nor in what its entries show; `entry.raw()` has everything.
 */
export interface Journal extends Iterable<JournalEntry> {
  readonly length: number;
  /** The latest entry; with a match the latest that fits. Undefined where there is none. */
  last(match?: EntryMatch): JournalEntry | undefined;
  /** All entries, oldest first. */
  all(): readonly JournalEntry[];
  /** Those that fit, oldest first. */
  find(match: EntryMatch): readonly JournalEntry[];
  /**
   * The first entry that fits, which may have come before. Rejects with JournalTimeout, which lists what did come
   * and how each differs.
   * @example await double.journal.waitFor({ method: 'PUT', path: '/articles/1' });
   */
  waitFor(match: EntryMatch, options?: WaitOptions): Promise<JournalEntry>;
  /** Has `listener` told of each entry from now on; gives what ends that. */
  subscribe(listener: (entry: JournalEntry) => void): () => void;
  /** Forgets every entry. */
  clear(): void;
}

/** What a journal is made of. */
export interface JournalOptions {
  readonly clock: Clock;
  /** What a duration is measured with; the host's clock when left out. */
  readonly stopwatch?: Clock;
  /** Entries at most; 1,000 when left out. The oldest go first. */
  readonly entries?: number;
  /** Bytes of all entries at most; 16 MiB when left out. */
  readonly bytes?: number;
  /** Bytes kept of one content; 64 KiB when left out. */
  readonly content?: number;
  /** Secrets and passwords that must not be shown, wherever they stand. */
  readonly secrets?: () => Iterable<string>;
}

/** A journal with what the double does with it. */
export interface JournalPart extends Stateful {
  readonly journal: Journal;
  /** What the service is given: it writes the journal, and has faults carried out in between. */
  observer(faults: FaultsPart): Observer;
}
