// Limits how many tokens and grants are stored for one user or client, so that nobody can fill the memory or the disk with them.
import type { Clock } from '../clock.ts';
import { Problem } from '../http/problem.ts';
import type { Grant, Mechanism, Token, TokenDraft, TokenKind } from './records.ts';

/** What is counted. A code is not: each one has a grant of its own. */
type CountedKind = Exclude<TokenKind, 'code'> | 'grant';

/** The maximum number of each kind that is stored for one owner. */
export type MaxIssued = Readonly<Record<CountedKind, number>>;

/**
 * The usual maximum: of a user for consent pages (`ticket`), of a consumer for request tokens, otherwise
 * of a client and a user together. Used and revoked ones are stored, and so counted, until they end. No person opens as many
 * consent pages in 5 minutes, or allows one client as often in the 30 days of a grant; no consumer begins as many logins in 10
 * minutes, and no program needs as many access tokens at once. Refresh tokens are stored until their grant ends: one every minute
 * for 30 days is 43,200.
 */
export const maxIssued: MaxIssued = {
  ticket: 1000,
  request: 10_000,
  access: 10_000,
  refresh: 50_000,
  grant: 10_000,
};

/** The minimum time (ms) between two counts of what the store has for one owner. */
const countInterval = 1000;

/** A token or grant that is counted. */
interface Counted {
  readonly kind: CountedKind;
  /** The kind and the owner. */
  readonly key: string;
  /** The time (ms) until which it is counted. */
  readonly end: number;
}

/** What is counted of one kind for one owner. */
interface Count {
  /** The end of each (ms), ascending. */
  ends: number[];
  /** When the store was counted last, in ms of the steady clock. */
  at: number;
}

/** A token and its grant, if it has one. */
interface StoredToken {
  readonly token: Token;
  readonly grant: Grant | undefined;
}

/** All stored tokens and grants. */
interface StoredTokens {
  readonly tokens: () => AsyncIterable<StoredToken>;
  readonly grants: () => AsyncIterable<Grant>;
}

/** Limits what is issued. Each process counts what it has issued, and counts what is stored if that seems to be too much. */
export class IssueLimits {
  readonly #clock: Clock;
  readonly #stored: StoredTokens;
  readonly #max: MaxIssued;
  readonly #counts = new Map<string, Count>();

  constructor(clock: Clock, stored: StoredTokens, max: MaxIssued = maxIssued) {
    this.#clock = clock;
    this.#stored = stored;
    this.#max = max;
  }

  /**
   * Counts tokens that are issued now, and their grant if `isNew`. Rejects with a Problem (429 with Retry-After), and counts
   * nothing, if an owner would have too many.
   */
  async admit(
    drafts: readonly TokenDraft[],
    grant?: Pick<Grant, 'mechanism' | 'client' | 'user' | 'ends'>,
    isNew = false,
  ): Promise<void> {
    const all = drafts.flatMap((draft) => describeToken(draft, grant?.ends));
    if (grant !== undefined && isNew) all.push(describeGrant(grant));
    for (const counted of all) if (this.#isFull(counted)) await this.#countStored(counted);
    // No other request comes between the checks and the counts.
    for (const counted of all) if (this.#isFull(counted)) throw this.#tooMany(counted);
    for (const { key, end } of all) insert(this.#live(key).ends, end);
  }

  /** Removes a deleted token from the count. */
  release({ token, grant }: StoredToken): void {
    for (const { key, end } of describeToken(token, grant?.ends)) {
      const { ends } = this.#live(key);
      const at = ends.lastIndexOf(end);
      if (at >= 0) ends.splice(at, 1);
    }
  }

  #isFull({ kind, key }: Counted): boolean {
    return this.#live(key).ends.length >= this.#max[kind];
  }

  #tooMany({ kind, key }: Counted): Problem {
    const [first = 0] = this.#live(key).ends;
    const seconds = Math.max(1, Math.ceil((first - this.#clock.now()) / 1000));
    const detail = `The number of ${nouns[kind]} at the same time is limited to ${this.#max[kind]}.`;
    return new Problem('too-many-tokens', detail, { headers: [['Retry-After', String(seconds)]] });
  }

  /** Returns the count without what has ended. */
  #live(key: string): Count {
    const count = this.#counts.get(key) ?? { ends: [], at: Number.NEGATIVE_INFINITY };
    this.#counts.set(key, count);
    const now = this.#clock.now();
    const passed = count.ends.findIndex((end) => end > now);
    if (passed !== 0) count.ends.splice(0, passed < 0 ? count.ends.length : passed);
    return count;
  }

  /** Counts what is stored: some may have been removed by another process, or with their grant. */
  async #countStored({ kind, key }: Counted): Promise<void> {
    const count = this.#live(key);
    const steady = this.#clock.steady();
    if (steady - count.at < countInterval) return;
    count.at = steady;
    const ends: number[] = [];
    for await (const stored of kind === 'grant' ? this.#grants() : this.#tokens())
      if (stored.key === key && stored.end > this.#clock.now()) ends.push(stored.end);
    count.ends = ends.sort((one, other) => one - other);
  }

  async *#tokens(): AsyncIterable<Counted> {
    for await (const { token, grant } of this.#stored.tokens()) yield* describeToken(token, grant?.ends);
  }

  async *#grants(): AsyncIterable<Counted> {
    for await (const grant of this.#stored.grants()) yield describeGrant(grant);
  }
}

const nouns: Readonly<Record<CountedKind, string>> = {
  ticket: 'consent pages of a user',
  request: 'request tokens of a consumer',
  access: 'access tokens of a client for a user, or for itself,',
  refresh: 'refresh tokens of a client for a user',
  grant: 'permissions of a user for a client',
};

/**
 * Returns what is counted of a token: it, or nothing.
 *
 * @param ends The end of its grant (ms), if it has one.
 */
function describeToken(draft: TokenDraft, ends: number | undefined): Counted[] {
  const { kind, expires } = draft;
  if (kind === 'code') return [];
  return [{ kind, key: formatKey(kind, draft), end: kind === 'refresh' ? (ends ?? expires) : expires }];
}

function describeGrant(grant: Pick<Grant, 'mechanism' | 'client' | 'user' | 'ends'>): Counted {
  return { kind: 'grant', key: formatKey('grant', grant), end: grant.ends };
}

/** Returns the key of a kind and its owner. A request token has a user only after one has allowed it. */
function formatKey(
  kind: CountedKind,
  { mechanism, client, user }: { mechanism: Mechanism; client: string; user?: string | undefined },
): string {
  if (kind === 'ticket') return JSON.stringify([kind, user]);
  return JSON.stringify([kind, mechanism, client, kind === 'request' ? undefined : user]);
}

/** Inserts a number into an ascending list. */
function insert(list: number[], value: number): void {
  let at = list.length;
  while (at > 0 && (list[at - 1] ?? 0) > value) at -= 1;
  list.splice(at, 0, value);
}
