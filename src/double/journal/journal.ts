import { AuthenticationTrace } from '../../auth/trace.ts';
import { type Clock, systemClock } from '../../clock.ts';
import type { Request, Response } from '../../http/message.ts';
import { createRequestTrace } from '../../pipeline/call.ts';
import type { Observer } from '../../pipeline/observer.ts';
import type { FaultsPart } from '../faults/faults.ts';
import type { Snapshottable } from '../state/snapshot.ts';
import { RecordedContent } from './content.ts';
import { JournalEntries } from './entries.ts';
import { JournalEntry } from './entry.ts';
import { answeredExchange, type RecordedExchange, refusedExchange } from './exchange.ts';
import { type EntryMatch, fits } from './match.ts';
import { createRedaction } from './redaction.ts';
import { Waiting, type WaitOptions } from './waiting.ts';

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

/** A journal as a part of a double. */
export interface JournalPart extends Snapshottable<JournalSnapshot> {
  readonly journal: Journal;
  /** The observer for the service: writes the journal, and has faults carried out between service and journal. */
  observer(faults: FaultsPart): Observer;
  /** Ends every wait as if its time had run out. */
  close(): void;
}

interface JournalSnapshot {
  readonly entries: readonly JournalEntry[];
  readonly written: number;
}

/** Makes the journal of a double. Throws RangeError on a bound that is no whole number above 0. */
export function createJournal(options: JournalOptions): JournalPart {
  const { clock, stopwatch = systemClock, secrets = () => [] } = options;
  const bounds = boundsOf(options);
  const redact = createRedaction(secrets);
  const listeners = new Set<(entry: JournalEntry) => void>();
  const entries = new JournalEntries(bounds.entries, bounds.bytes);
  const waiting = new Waiting(() => entries.all);
  let written = 0;

  const write = (parts: RecordedExchange): JournalEntry => {
    written += 1;
    const entry = new JournalEntry(parts, written, redact);
    entries.add(entry);
    waiting.come(entry);
    for (const listener of listeners) listener(entry);
    return entry;
  };
  const put = ({ entries: earlier, written: count }: JournalSnapshot): void => {
    entries.replace(earlier);
    written = count;
  };

  const record = async (
    request: Request,
    judge: (
      request: Request,
      trace: ReturnType<typeof createRequestTrace>,
    ) => ReturnType<FaultsPart['intercept']>,
  ): Promise<Response> => {
    const time = clock.now();
    const begun = stopwatch.steady();
    const content = request.body.present ? new RecordedContent(request.body, bounds.content) : undefined;
    const trace = createRequestTrace(new AuthenticationTrace());
    const seen = content === undefined ? request : { ...request, body: content };
    const answered = await judge(seen, trace);
    const timing = { time, duration: stopwatch.steady() - begun };
    const entry = write(answeredExchange(timing, request, content, answered, trace));
    return { ...answered.reply, onAbandoned: () => entry.abandon() };
  };

  const find = (match: EntryMatch): readonly JournalEntry[] =>
    entries.all.filter((entry) => fits(entry, match));
  return {
    journal: {
      get length() {
        return entries.length;
      },
      last: (match) => entries.all.findLast((entry) => match === undefined || fits(entry, match)),
      all: () => entries.all,
      find,
      waitFor: (match, options) => waiting.waitFor(match, options),
      subscribe(listener) {
        listeners.add(listener);
        return () => {
          listeners.delete(listener);
        };
      },
      clear() {
        entries.replace([]);
      },
      [Symbol.iterator]: () => entries.all[Symbol.iterator](),
    },
    observer: (faults) => ({
      observe: (request, answer) => record(request, (seen, trace) => faults.intercept(seen, trace, answer)),
      observeRefused(problem, request, response, received) {
        write(refusedExchange(clock.now(), problem, request, response, received));
      },
    }),
    close: () => waiting.end(),
    snapshot: () => ({ entries: entries.all, written }),
    restore: put,
    reset: () => put({ entries: [], written: 0 }),
  };
}

interface Bounds {
  readonly entries: number;
  readonly bytes: number;
  readonly content: number;
}

function boundsOf({ entries = 1000, bytes = 16 * 1024 * 1024, content = 64 * 1024 }: JournalOptions): Bounds {
  for (const [name, bound] of Object.entries({ entries, bytes, content })) {
    if (!Number.isInteger(bound) || bound < 1)
      throw new RangeError(`${name} of the journal is not a whole number above 0`);
  }
  return { entries, bytes, content };
}
