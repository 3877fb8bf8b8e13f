// Limits how many live tokens one user or client can have, so that nobody can fill the memory or the disk with them.
import type { Clock } from '../clock.ts';
import { Problem } from '../http/problem.ts';
import type { Token, TokenDraft, TokenKind } from './records.ts';

/**
 * The maximum number of live tokens of each kind: of a user for tickets and codes, otherwise of a client. No person opens as many
 * consent pages at once, and no program needs as many access tokens without a user. Tokens of a grant that have replaced
 * each other are not counted: a refresh token is used once.
 */
const limits: Readonly<Partial<Record<TokenKind, number>>> = {
  ticket: 1000,
  code: 1000,
  request: 1000,
  access: 10_000,
};

/** The minimum time (ms) between two counts of stored tokens. */
const countInterval = 1000;

/** Limits the tokens that are issued. Each process counts those that it has issued, and looks at the store if there seem to be too many. */
export class IssueLimits {
  readonly #clock: Clock;
  readonly #tokens: () => AsyncIterable<Token>;
  /** The ends (ms) of the tokens of each kind and owner, ascending. */
  readonly #ends = new Map<string, number[]>();
  #counted = Number.NEGATIVE_INFINITY;

  /** @param tokens returns all stored tokens */
  constructor(clock: Clock, tokens: () => AsyncIterable<Token>) {
    this.#clock = clock;
    this.#tokens = tokens;
  }

  /** Counts tokens that are issued now. Rejects with a Problem (429 with Retry-After) if an owner would have too many. */
  async admit(drafts: readonly TokenDraft[]): Promise<void> {
    for (const draft of drafts) {
      const limit = limits[draft.kind];
      if (limit === undefined) continue;
      const key = formatKey(draft);
      if (this.#live(key).length >= limit) await this.#count(key);
      const ends = this.#live(key);
      if (ends.length >= limit) throw tooMany(limit, (ends[0] ?? 0) - this.#clock.now());
      ends.push(draft.expires);
      this.#ends.set(key, ends);
    }
  }

  /** Removes a token from the count that is used up or revoked. */
  release(token: Token): void {
    const key = formatKey(token);
    const ends = this.#ends.get(key);
    ends?.pop();
    if (ends?.length === 0) this.#ends.delete(key);
  }

  #live(key: string): number[] {
    const now = this.#clock.now();
    const ends = this.#ends.get(key) ?? [];
    return (ends[0] ?? Number.POSITIVE_INFINITY) > now ? ends : ends.filter((end) => end > now);
  }

  /** Counts the stored tokens of an owner: some may have been removed by another process, or with their grant. */
  async #count(key: string): Promise<void> {
    const steady = this.#clock.steady();
    if (steady - this.#counted < countInterval) return;
    this.#counted = steady;
    const now = this.#clock.now();
    const ends: number[] = [];
    for await (const token of this.#tokens())
      if (formatKey(token) === key && !token.used && token.expires > now) ends.push(token.expires);
    this.#ends.set(
      key,
      ends.sort((one, other) => one - other),
    );
  }
}

function formatKey({ kind, user, client }: Pick<Token, 'kind' | 'user' | 'client'>): string {
  const isOfUser = kind === 'ticket' || kind === 'code';
  return isOfUser ? `${kind} of ${user ?? ''}` : `${kind} of ${user ?? ''} by ${client}`;
}

function tooMany(limit: number, ms: number): Problem {
  const detail = `There are ${limit} that have neither expired nor been used, which is the limit.`;
  return new Problem('too-many-tokens', detail, {
    headers: [['Retry-After', String(Math.max(1, Math.ceil(ms / 1000)))]],
  });
}
