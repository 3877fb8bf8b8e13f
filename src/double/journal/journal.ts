import { type Clock, systemClock } from '../../clock.ts';
import type { IncomingRequest, Response } from '../../http/message.ts';
import { createRequestTrace } from '../../pipeline/call.ts';
import type { Observer } from '../../pipeline/observer.ts';
import type { AuthScheme } from '../../schemes/auth-scheme.ts';
import { AuthenticationTrace } from '../../schemes/trace.ts';
import type { ClaimedUser } from '../claimed-user.ts';
import { DoubleError } from '../error.ts';
import type { FaultsPart } from '../faults/faults.ts';
import { JournalEntry } from './entry.ts';
import {
  buildAnsweredExchange,
  buildRefusedExchange,
  RecordedContent,
  type RecordedExchange,
  readArrivedContent,
} from './exchange.ts';
import type { KnownCredentials } from './known-credentials.ts';
import { checkEntryMatch, type EntryMatch, fits } from './match.ts';
import { createRedaction } from './redaction.ts';
import { noMatchMessage, Waiters, type WaitOptions, waitForEntry } from './waiting.ts';

/**
 * The requests that the server received, with their responses. Secrets, passwords, tokens and signatures are redacted in
 * its entries and in what it prints. `entry.raw()` contains them.
 */
export interface DoubleJournal extends Iterable<JournalEntry> {
  /** The number of entries. */
  readonly length: number;
  /**
   * Returns the latest entry, or the latest matching entry. Throws DoubleError (`no-match`) if there is none, with the other entries and
   * how each differs, and RangeError if `match` is invalid.
   */
  last<Path extends string>(match?: EntryMatch<Path>): JournalEntry;
  /** Returns the matching entries, oldest first. Throws RangeError if `match` is invalid. */
  all<Path extends string>(match?: EntryMatch<Path>): readonly JournalEntry[];
  /**
   * Waits for an entry that matches. Resolves to the first matching entry, at once if the journal already contains it.
   * Rejects with DoubleError (`timeout`, or `closed` if the double was closed), which lists the other entries and how each differs. Rejects
   * with RangeError if an argument is invalid, and with the error of a function that throws.
   * @param options `timeout`: ms of the host's time, or text such as `5s` (default: 2,000), and `after`, an entry that is ignored with all earlier ones
   * @example
   * await double.journal.waitFor({ method: 'PUT', path: '/articles/1' });
   * @example
   * await double.journal.waitFor({ status: 401, problem: 'nonce-replayed' }, { timeout: 5000 });
   */
  waitFor<Path extends string>(match: EntryMatch<Path>, options?: WaitOptions): Promise<JournalEntry>;
  /** Removes all entries. */
  clear(): void;
  /** Returns all entries as text, oldest first, or that there are none. */
  toString(): string;
}

/** The limits of a journal. */
export interface JournalLimits {
  /** The maximum number of entries. The oldest are dropped first. Default: 1,000. */
  readonly entries?: number | undefined;
  /** The maximum size of all entries in bytes. Default: 16 MiB. */
  readonly bytes?: number | undefined;
  /** The maximum number of bytes that are recorded of one body. Default: 64 KiB. */
  readonly body?: number | undefined;
}

/** What a journal needs of its double. */
interface JournalParts {
  readonly limits: JournalLimits | undefined;
  readonly clock: Clock;
  /** The credentials to redact, and for explanations. */
  readonly known: KnownCredentials;
  /** Whether an explanation takes at most 10 ms, as in a server. */
  readonly limitedExplanations: boolean;
  /** Returns the user that the credentials of a request name. */
  readonly claimedUser: ClaimedUser;
  /** The configured schemes, whose credentials are redacted. */
  readonly schemes: readonly AuthScheme[];
  /** Called with each entry after it was written. It must not throw. */
  onEntry(entry: JournalEntry): void;
}

/** The journal as a part of a double. */
export type JournalPart = ReturnType<typeof createJournal>;

interface JournalSnapshot {
  readonly entries: readonly JournalEntry[];
  readonly written: number;
}

/** Creates the journal of a double. Throws RangeError if a limit is not a positive integer. */
export function createJournal(parts: JournalParts) {
  const { clock, known, claimedUser } = parts;
  const limits = readLimits(parts.limits);
  const redact = createRedaction(
    () => known.secrets,
    (text) => known.isToken(text),
    parts.schemes.flatMap(({ places }) => places),
  );
  const entries = new JournalEntries(limits.entries, limits.bytes);
  const userNames = (): readonly string[] => [
    ...new Set([...known.names(), ...entries.all.flatMap(({ user }) => user ?? [])]),
  ];
  const waiters = new Waiters<JournalEntry>();
  let written = 0;

  const write = (exchange: RecordedExchange): JournalEntry => {
    written += 1;
    const entry = new JournalEntry(exchange, written, redact, claimedUser);
    entries.add(entry);
    waiters.notify(entry);
    parts.onEntry(entry);
    return entry;
  };
  const restore = ({ entries: earlier, written: count }: JournalSnapshot): void => {
    entries.replace(earlier);
    written = count;
  };

  const record = async (
    request: IncomingRequest,
    respond: (
      request: IncomingRequest,
      trace: ReturnType<typeof createRequestTrace>,
    ) => ReturnType<FaultsPart['intercept']>,
  ): Promise<Response> => {
    const time = clock.now();
    const begun = systemClock.steady();
    const content = request.body.present ? new RecordedContent(request.body, limits.body) : undefined;
    let arrived: Uint8Array | undefined;
    const authTrace = new AuthenticationTrace(() => ({
      ...known.knowledge(),
      isLimited: parts.limitedExplanations,
      async content() {
        arrived = await readArrivedContent(request);
        return arrived;
      },
    }));
    const trace = createRequestTrace(authTrace);
    const observed = { ...request, body: content ?? request.body, trace: authTrace };
    const intercepted = await respond(observed, trace);
    if (authTrace.searchesContent) {
      const bytes =
        content !== undefined && content.length > 0 ? content.bytes : await readArrivedContent(request);
      if (bytes !== undefined) authTrace.addContent(bytes);
    }
    const duration = systemClock.steady() - begun;
    const kept = { time, duration, content, unread: arrived?.length ?? 0 };
    const entry = write(buildAnsweredExchange(kept, request, intercepted, trace));
    return { ...intercepted.response, onAbandoned: () => entry.abandon(), record: entry };
  };

  const all = (match?: EntryMatch): readonly JournalEntry[] => {
    if (match === undefined) return entries.all;
    checkEntryMatch(match, userNames);
    return entries.all.filter((entry) => fits(entry, match));
  };
  const last = (match?: EntryMatch): JournalEntry => {
    if (match !== undefined) checkEntryMatch(match, userNames);
    const found =
      match === undefined ? entries.all.at(-1) : entries.all.findLast((entry) => fits(entry, match));
    if (found === undefined) throw new DoubleError('no-match', noMatchMessage(match, entries.all));
    return found;
  };
  const journal: DoubleJournal = {
    get length() {
      return entries.length;
    },
    last,
    all,
    waitFor: (match, options) => waitForEntry(waiters, () => entries.all, userNames, match, options),
    clear() {
      entries.replace([]);
    },
    toString: () => (entries.length === 0 ? noMatchMessage(undefined, []) : entries.all.join('\n')),
    [Symbol.iterator]: () => entries.all[Symbol.iterator](),
  };
  return {
    journal,
    /** Creates the observer of the service. It writes the journal and applies faults. */
    observer: (faults: FaultsPart): Observer => ({
      observe: (request, answer) =>
        record(request, (observed, trace) => faults.intercept(observed, trace, answer)),
      observeRefused(problem, request, response, received) {
        write(buildRefusedExchange(clock.now(), problem, request, response, received));
      },
    }),
    /** Ends all waits as if they had timed out. */
    close: () => waiters.end(),
    snapshot: (): JournalSnapshot => ({ entries: entries.all, written }),
    restore,
    reset: () => restore({ entries: [], written: 0 }),
  };
}

type Limits = { readonly [Name in keyof JournalLimits]-?: number };

function readLimits({
  entries = 1000,
  bytes = 16 * 1024 * 1024,
  body = 64 * 1024,
}: JournalLimits = {}): Limits {
  for (const [name, limit] of Object.entries({ entries, bytes, body })) {
    if (!Number.isInteger(limit) || limit < 1)
      throw new RangeError(`${name} of the journal must be a positive integer`);
  }
  return { entries, bytes, body };
}

/** The latest entries of a journal, within limits. The oldest are dropped first. */
class JournalEntries {
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  #entries: JournalEntry[] = [];
  /** The number of dropped entries at the front of the array. They are removed together, since each removal moves all others. */
  #dropped = 0;
  #bytes = 0;

  /** Holds at most `maxEntries` entries with a total size of at most `maxBytes`, but always the latest entry. */
  constructor(maxEntries: number, maxBytes: number) {
    this.#maxEntries = maxEntries;
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#entries.length - this.#dropped;
  }

  /** All entries, oldest first. */
  get all(): readonly JournalEntry[] {
    return this.#entries.slice(this.#dropped);
  }

  add(entry: JournalEntry): void {
    this.#entries.push(entry);
    this.#bytes += entry.size;
    while (this.length > this.#maxEntries || (this.#bytes > this.#maxBytes && this.length > 1)) this.#drop();
    if (this.#dropped > this.#maxEntries) this.#compact();
  }

  /** Replaces all entries. */
  replace(entries: readonly JournalEntry[]): void {
    this.#entries = [...entries];
    this.#dropped = 0;
    this.#bytes = entries.reduce((bytes, { size }) => bytes + size, 0);
  }

  #drop(): void {
    this.#bytes -= this.#entries[this.#dropped]?.size ?? 0;
    this.#dropped += 1;
  }

  #compact(): void {
    this.#entries = this.#entries.slice(this.#dropped);
    this.#dropped = 0;
  }
}
