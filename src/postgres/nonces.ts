import type { NonceResult, NonceStore } from '../store/nonces/nonces.ts';
import { earliest, latest, lostUntil } from '../store/nonces/time.ts';
import { numberIn, textIn } from './client.ts';
import { Coalesced } from './coalesced.ts';
import type { PostgresParts } from './database.ts';
import { deadlineFromNow, patience, shortPatience } from './deadline.ts';
import { computeDigest } from './text.ts';

/** A claim of the nonce with a digest. */
interface DigestClaim {
  readonly digest: string;
  readonly until: number;
}

/** Nonces in PostgreSQL. Several processes may claim nonces of the same store. Claims of one turn of the event loop share a query. */
export class NonceTable implements NonceStore {
  readonly #parts: PostgresParts;
  /** Called with each claim. */
  readonly #onUse: () => void;
  readonly #claims = new Coalesced<DigestClaim, boolean>((claims) => this.#claimAll(claims));
  /** The approximate number of nonces of all processes, by the statistics of PostgreSQL. */
  size = 0;

  constructor(parts: PostgresParts, onUse: () => void) {
    this.#parts = parts;
    this.#onUse = onUse;
  }

  /**
   * Claims a nonce of a user, as one atomic step. Resolves to `fresh` if the user has not used it before, to `seen` if the user
   * has, and to NoncesLost if the nonces with this `until` are not known. Rejects with StoreError if PostgreSQL cannot be reached.
   * @param until the last time (ms) at which a request with this nonce could be accepted
   */
  async claim(user: string, nonce: string, until: number, now: number): Promise<NonceResult> {
    this.#onUse();
    // A nonce without a valid time could never be deleted.
    if (!(Number.isFinite(until) && Number.isFinite(now))) return 'seen';
    const isFresh = await this.#claims.call({ digest: computeDigest(user, nonce), until });
    return isFresh ? 'fresh' : this.#findRefusal(until);
  }

  /** Returns why a claim was refused: the nonce was used before, or the nonces below the high-water mark are not known. */
  async #findRefusal(until: number): Promise<NonceResult> {
    const { database, schema } = this.#parts;
    const [row] = await database.query(`SELECT mark, ${schema}.now_ms() AS now FROM ${schema}.meta`, []);
    const [mark, now] = [numberIn(row, 'mark'), numberIn(row, 'now')];
    // Without a loss, the mark is in the past.
    return now <= until && until < mark ? lostUntil(mark, until, now) : 'seen';
  }

  /** Resolves when all claims have finished. */
  async settled(): Promise<void> {
    await this.#claims.settled();
  }

  async #claimAll(all: readonly DigestClaim[]): Promise<(index: number) => boolean> {
    const first = new Map<string, number>();
    for (const [index, { digest }] of all.entries()) if (!first.has(digest)) first.set(digest, index);
    const claims = [...first].map(([digest, index]) => encodeClaim(digest, all[index]?.until ?? 0));
    // It identifies these claims if the query is repeated.
    const { database, schema, random } = this.#parts;
    const token = Buffer.from(random(8)).readBigInt64BE();
    const [row] = await database.query(
      `SELECT ${schema}.claim_nonces($1, $2, $3, $4) AS fresh`,
      (attempt, wait) => [`[${claims.join()}]`, String(token), attempt > 0, wait],
      deadlineFromNow(database.isUnreachable ? shortPatience : patience),
    );
    const parsed: unknown = JSON.parse(textIn(row, 'fresh'));
    const fresh = new Set<unknown>(Array.isArray(parsed) ? parsed : []);
    const places = new Map([...first.values()].map((index, place) => [index, place + 1]));
    return (index) => fresh.has(places.get(index));
  }
}

/** Encodes a claim. A time that is no date has passed. */
function encodeClaim(digest: string, until: number): string {
  return `["${digest}",${until >= earliest && until <= latest ? Math.ceil(until) : earliest}]`;
}
