import type { MaybePromise } from '../maybe-promise.ts';
import type { NonceClaim } from '../principal.ts';
import { createRefusal, type NonceResult } from '../store/nonces/nonces.ts';
import { lostUntil, type NoncesLost } from '../store/nonces/time.ts';
import { nextTurn } from '../timers.ts';
import { encodeClaim, nonceDigest } from './change-encoding.ts';
import { numberIn, textIn } from './client.ts';
import { Coalesced } from './coalesced.ts';
import type { Database } from './database.ts';
import { deadlineFromNow, patience, shortPatience } from './deadline.ts';

/** The maximum number of provisional claims that were not held yet. Further ones are not deferred. */
const maxProvisional = 100_000;

/** Nonces in PostgreSQL. Several processes may claim nonces of the same store. */
export interface PostgresNonces {
  /**
   * Claims a nonce of a user, as one atomic step. Resolves to `fresh` if the user has not used it before, to `seen` if the user
   * has, and to NoncesLost if the nonces with this `until` are not known. Rejects with StoreError if PostgreSQL cannot be reached.
   * @param until the last time (ms) at which a request with this nonce could be accepted
   * @param deferrable whether the nonce may be claimed with the change of the request. Then `fresh` is returned
   *   provisionally, and `apply` or `release` claims the nonce. Default: false.
   */
  claim(
    user: string,
    nonce: string,
    until: number,
    now: number,
    deferrable?: boolean,
  ): MaybePromise<NonceResult>;
  /** Returns a claim that is provisional, once; undefined for one that is stored. */
  hold(user: string, nonce: string, until: number): NonceClaim | undefined;
  /**
   * Claims a held nonce, unless it was stored with a change. Rejects with NonceRefusedError if it was used before, and with
   * StoreError if PostgreSQL cannot be reached.
   */
  release(claim: NonceClaim, durably: boolean): Promise<void> | undefined;
  /** Returns undefined: a claim has been stored when it resolves. */
  kept(durably: boolean): Promise<void> | undefined;
  /** The approximate number of nonces of all processes, by the statistics of PostgreSQL. */
  readonly size: number;
}

/** The options of nonces in PostgreSQL. */
interface NonceTableOptions {
  readonly database: Database;
  /** The schema, as a quoted identifier. */
  readonly schema: string;
  readonly random: (bytes: number) => Uint8Array;
  /** Called with each claim. */
  readonly onUse: () => void;
}

/** A claim of the nonce with a digest. */
interface DigestClaim {
  readonly digest: string;
  readonly until: number;
}

/** Claims nonces: those of one turn of the event loop with one query. */
export class NonceTable implements PostgresNonces {
  readonly #database: Database;
  readonly #schema: string;
  readonly #random: (bytes: number) => Uint8Array;
  readonly #onUse: () => void;
  readonly #claims = new Coalesced<DigestClaim, boolean>((claims) => this.#claimAll(claims));
  /** The digests of provisional claims that were not held yet. Each belongs to one claim. */
  readonly #provisional = new Set<string>();
  /** The number of claims of each digest that are being made, or whose results have just been returned. */
  readonly #immediate = new Map<string, number>();
  /** The held claims that were stored with a change. */
  readonly #withChange = new WeakSet<NonceClaim>();
  /** The held claims of changes of which it is not known whether they were made. */
  readonly #uncertain = new WeakSet<NonceClaim>();
  size = 0;

  constructor({ database, schema, random, onUse }: NonceTableOptions) {
    this.#database = database;
    this.#schema = schema;
    this.#random = random;
    this.#onUse = onUse;
  }

  claim(
    user: string,
    nonce: string,
    until: number,
    now: number,
    deferrable = false,
  ): MaybePromise<NonceResult> {
    this.#onUse();
    // A nonce without a valid time could never be deleted.
    if (!(Number.isFinite(until) && Number.isFinite(now))) return 'seen';
    const digest = nonceDigest({ user, nonce });
    // Otherwise `hold` could not distinguish the two claims.
    if (this.#provisional.has(digest)) return 'seen';
    if (!deferrable || this.#provisional.size >= maxProvisional) {
      return this.#claimNow({ digest, until }).then(async (fresh) =>
        fresh ? 'fresh' : this.findRefusal(until),
      );
    }
    if (this.#immediate.has(digest)) return 'seen';
    this.#provisional.add(digest);
    return 'fresh';
  }

  hold(user: string, nonce: string, until: number): NonceClaim | undefined {
    if (this.#provisional.size === 0) return undefined;
    return this.#provisional.delete(nonceDigest({ user, nonce })) ? { user, nonce, until } : undefined;
  }

  release(claim: NonceClaim, _durably: boolean): Promise<void> | undefined {
    if (this.#withChange.has(claim)) return undefined;
    return this.#claimNow({ digest: nonceDigest(claim), until: claim.until }).then(async (fresh) => {
      // The change of this request may have stored the nonce.
      if (!fresh && !this.#uncertain.has(claim)) throw createRefusal(await this.findRefusal(claim.until));
      this.#withChange.add(claim);
    });
  }

  kept(): undefined {}

  /** Returns why a claim was refused: the nonce was used before, or the nonces below the high-water mark are not known. */
  async findRefusal(until: number): Promise<'seen' | NoncesLost> {
    const [row] = await this.#database.query(
      `SELECT mark, ${this.#schema}.now_ms() AS now FROM ${this.#schema}.meta`,
      [],
    );
    const [mark, now] = [numberIn(row, 'mark'), numberIn(row, 'now')];
    // Without a loss, the mark is in the past.
    return now <= until && until < mark ? lostUntil(mark, until, now) : 'seen';
  }

  /** Records that a held claim was stored with a change. */
  storedWithChange(claim: NonceClaim): void {
    this.#withChange.add(claim);
  }

  /** Records that a held claim may have been stored with a change. */
  perhapsStoredWithChange(claim: NonceClaim): void {
    this.#uncertain.add(claim);
  }

  /** Resolves when all claims have finished. */
  async settled(): Promise<void> {
    await this.#claims.settled();
  }

  async #claimNow(claim: DigestClaim): Promise<boolean> {
    const { digest } = claim;
    this.#immediate.set(digest, (this.#immediate.get(digest) ?? 0) + 1);
    try {
      return await this.#claims.call(claim);
    } finally {
      void nextTurn().then(() => this.#forget(digest));
    }
  }

  #forget(digest: string): void {
    const count = this.#immediate.get(digest) ?? 0;
    if (count > 1) this.#immediate.set(digest, count - 1);
    else this.#immediate.delete(digest);
  }

  async #claimAll(all: readonly DigestClaim[]): Promise<(index: number) => boolean> {
    const first = new Map<string, number>();
    for (const [index, { digest }] of all.entries()) if (!first.has(digest)) first.set(digest, index);
    const claims = [...first].map(([digest, index]) => encodeClaim(digest, all[index]?.until ?? 0));
    // It identifies these claims if the query is repeated. 0 is that of claims with a change.
    const token = Buffer.from(this.#random(8)).readBigInt64BE() || 1n;
    const [row] = await this.#database.query(
      `SELECT ${this.#schema}.claim_nonces($1, $2, $3, $4) AS fresh`,
      (attempt, wait) => [`[${claims.join()}]`, String(token), attempt > 0, wait],
      deadlineFromNow(this.#database.isUnreachable ? shortPatience : patience),
    );
    const parsed: unknown = JSON.parse(textIn(row, 'fresh'));
    const fresh = new Set<unknown>(Array.isArray(parsed) ? parsed : []);
    const places = new Map([...first.values()].map((index, place) => [index, place + 1]));
    return (index) => fresh.has(places.get(index));
  }
}
