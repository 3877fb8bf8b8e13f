import type { Clock } from '../clock.ts';
import type { Entry, Store } from '../store/store.ts';
import { grantsCollection, readGrant, readToken, tokensCollection } from './records.ts';

/** How many entries of a collection a step looks at: more than an issue adds, so that the sweep keeps up. */
const stride = 16;

/**
 * Deletes expired tokens and grants, looking at a few entries whenever something is issued: no timer runs, nobody waits, and
 * what is kept stays within a small multiple of what is live.
 */
export class ExpirySweep {
  readonly #store: Store;
  readonly #clock: Clock;
  /** The sequence number that the present pass over each collection has reached. */
  readonly #reached = new Map<string, number>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Looks at the next few entries of either collection. Never rejects: what could not be deleted is found by the next pass. */
  async step(): Promise<void> {
    const now = this.#clock.now();
    await Promise.allSettled([
      this.#pass(tokensCollection, (entry) => this.#isTokenOver(entry, now)),
      this.#pass(grantsCollection, async (entry) => (readGrant(entry)?.ends ?? 0) <= now),
    ]);
  }

  async #pass(collection: string, isOver: (entry: Entry) => Promise<boolean>): Promise<void> {
    const { entries, more } = await this.#store.list(collection, this.#reached.get(collection) ?? 0, stride);
    this.#reached.set(collection, more ? (entries.at(-1)?.sequence ?? 0) : 0);
    for (const entry of entries) {
      if (!(await isOver(entry))) continue;
      const { id, revision } = entry;
      await this.#store.apply({ kind: 'delete', collection, id, expected: revision, at: this.#clock.now() });
    }
  }

  /** Codes and refresh tokens are kept as long as their grant, so that their reuse is detected (RFC 9700 §4.14.2). */
  async #isTokenOver(entry: Entry, now: number): Promise<boolean> {
    const token = readToken(entry);
    if (token === undefined) return true;
    if (token.expires > now) return false;
    if (token.grant === undefined || (token.kind !== 'code' && token.kind !== 'refresh')) return true;
    return (await this.#store.read(grantsCollection, token.grant)) === undefined;
  }
}
