import { type Duration, readDuration } from '../../duration.ts';
import { duration } from '../../shape/duration.ts';
import { instanceOf, object, optional, read, type ShapesOf } from '../../shape/shape.ts';
import { clearTimeout, longestDelay, setTimeout } from '../../timers.ts';
import { DoubleError } from '../error.ts';
import { describeRequestMatch } from '../match.ts';
import { JournalEntry } from './entry.ts';
import { checkEntryMatch, type EntryMatch, fits, listDifferences } from './match.ts';

/** Why no entry matched: the timeout elapsed, or the waits were ended. */
type WaitEnd = 'timeout' | 'closed';

/** Waits for entries, existing or future ones. */
export class Waiters<Entry> {
  readonly #waiters = new Set<{ notify(entry: Entry): void; end(why: WaitEnd): void }>();
  #closed = false;

  /**
   * Resolves to the first matching entry of `existing`, or to the next matching entry within `timeout` ms of the host's
   * time. Otherwise rejects with the error that `onEnd` returns. If `fits` throws, rejects with that error.
   */
  waitFor(
    existing: readonly Entry[],
    fits: (entry: Entry) => boolean,
    timeout: number,
    onEnd: (why: WaitEnd) => Error,
  ): Promise<Entry> {
    const waiting: Promise<Entry> = new Promise((resolve, reject) => {
      const found = existing.find(fits);
      if (found !== undefined) return resolve(found);
      if (this.#closed) return reject(onEnd('closed'));
      const leave = (): void => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
      };
      const waiter = {
        notify: (entry: Entry): void => {
          try {
            if (!fits(entry)) return;
            resolve(entry);
          } catch (error) {
            reject(error);
          }
          leave();
        },
        end: (why: WaitEnd): void => {
          leave();
          if (why === 'closed') markHandled(waiting);
          reject(onEnd(why));
        },
      };
      const timer = setTimeout(() => waiter.end('timeout'), timeout);
      this.#waiters.add(waiter);
    });
    if (this.#closed) markHandled(waiting);
    return waiting;
  }

  /** Resolves every wait that this entry matches. Rejects those whose function throws; the others are not affected. */
  notify(entry: Entry): void {
    for (const waiter of [...this.#waiters]) waiter.notify(entry);
  }

  /** Rejects all waits. Further ones only resolve to existing entries. */
  end(): void {
    this.#closed = true;
    for (const waiter of [...this.#waiters]) waiter.end('closed');
  }
}

/**
 * Prevents that a rejection ends the process if nothing awaits the promise: a test that failed before it awaited its wait still
 * closes its double. The promise rejects as before.
 */
function markHandled(promise: Promise<unknown>): void {
  promise.catch(() => undefined);
}

/** The options of `journal.waitFor`. */
export interface WaitOptions {
  /** The timeout: ms of the host's time, or text such as `5s`. Default: 2,000. */
  readonly timeout?: Duration | undefined;
  /** An entry. It and earlier entries are ignored. Default: no entry is ignored. */
  readonly after?: JournalEntry | undefined;
}

const waitShape = object({
  timeout: optional(duration(longestDelay)),
  after: optional(instanceOf(JournalEntry, 'an entry of the journal')),
} satisfies ShapesOf<WaitOptions>);

/** The default timeout in ms. */
const defaultTimeout = 2000;
/** The maximum number of entries that a message lists. */
const maxListed = 20;

/**
 * Resolves to the first entry that matches, existing or future. Rejects with DoubleError (`timeout` or `closed`), with RangeError if an
 * argument is invalid, and with the error of a function that throws.
 * @param entries returns the entries of the journal
 * @param userNames returns the names that a match can have
 */
export function waitForEntry(
  waiters: Waiters<JournalEntry>,
  entries: () => readonly JournalEntry[],
  userNames: () => readonly string[],
  match: EntryMatch,
  options: WaitOptions = {},
): Promise<JournalEntry> {
  try {
    checkEntryMatch(match, userNames);
    read(waitShape, options, { optionsOf: 'waitFor' });
  } catch (error) {
    return Promise.reject(error);
  }
  const timeout = readDuration(options.timeout, 1) ?? defaultTimeout;
  const since = options.after?.number ?? 0;
  const isMatch = (entry: JournalEntry): boolean => entry.number > since && fits(entry, match);
  return waiters.waitFor(entries(), isMatch, timeout, (why) => {
    const until = why === 'closed' ? 'before the double was closed' : `within ${timeout} ms`;
    const others = entries().filter(({ number }) => number > since);
    return new DoubleError(
      why,
      listOthers(`No request matched ${describeEntryMatch(match)} ${until}.`, match, others),
    );
  });
}

/** Returns the reason why an entry does not match. A function is not called again, since it may throw. */
function formatReason(entry: JournalEntry, match: EntryMatch): string {
  if (typeof match === 'function') return 'the function returned false';
  return listDifferences(entry, match).join('; ');
}

/** Returns the message of `last` if no entry matches. Without a match, there is no entry at all. */
export function noMatchMessage(match: EntryMatch | undefined, others: readonly JournalEntry[]): string {
  if (match === undefined) return 'The journal has no entries: there were no requests.';
  return listOthers(`No request matched ${describeEntryMatch(match)}.`, match, others);
}

function listOthers(head: string, match: EntryMatch, others: readonly JournalEntry[]): string {
  if (others.length === 0) return `${head} There were no requests.`;
  const unlisted = others.length - maxListed;
  const listed = others
    .slice(-maxListed)
    .map((entry) => `  ${String(entry).split('\n', 1).join()}\n    ${formatReason(entry, match)}`);
  return [`${head} Requests:`, ...(unlisted > 0 ? [`  (${unlisted} earlier requests)`] : []), ...listed].join(
    '\n',
  );
}

function describeEntryMatch(match: EntryMatch): string {
  if (typeof match === 'function') return 'the function';
  const { status, step, problem, text } = match;
  const members = Object.entries({ status, step, problem, text })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${String(value)}`);
  return [describeRequestMatch(match), ...members].join(', ');
}
