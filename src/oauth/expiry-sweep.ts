import type { Clock } from '../clock.ts';
import type { Store, StoredItem } from '../store/store.ts';
import { grantsCollection, readGrant, readToken, tokensCollection } from './records.ts';

/** Entries of a collection examined in one step: more than one request adds, so that the sweep keeps up. */
const stride = 16;

/**
 * Deletes expired tokens and grants. Whenever tokens are issued, it examines a few entries. So no timer runs, no request waits,
 * and the number of stored entries stays within a small multiple of the number of live ones.
 */
export class ExpirySweep {
  readonly #store: Store;
  readonly #clock: Clock;
  /** The sequence number that the current pass over each collection has reached. */
  readonly #reached = new Map<string, number>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Examines the next entries of both collections. Never rejects: the next pass finds an entry that could not be deleted. */
  async step(): Promise<void> {
    const now = this.#clock.now();
    await Promise.allSettled([
      this.#pass(tokensCollection, (entry) => this.#isDeletable(entry, now)),
      this.#pass(grantsCollection, async (entry) => (readGrant(entry)?.ends ?? 0) <= now),
    ]);
  }

  async #pass(collection: string, isDeletable: (entry: StoredItem) => Promise<boolean>): Promise<void> {
    const { entries, more } = await this.#store.list(collection, this.#reached.get(collection) ?? 0, stride);
    this.#reached.set(collection, more ? (entries.at(-1)?.sequence ?? 0) : 0);
    for (const entry of entries) {
      if (!(await isDeletable(entry))) continue;
      const { id, revision } = entry;
      await this.#store.apply({ kind: 'delete', collection, id, expected: revision, at: this.#clock.now() });
    }
  }

  /**
   * Returns whether a token can be deleted. Codes and refresh tokens are kept as long as their grant, so that reuse is detected
   * (RFC 9700 §4.14.2).
   */
  async #isDeletable(entry: StoredItem, now: number): Promise<boolean> {
    const token = readToken(entry);
    if (token === undefined) return true;
    if (token.expires > now) return false;
    if (token.grant === undefined || (token.kind !== 'code' && token.kind !== 'refresh')) return true;
    return (await this.#store.read(grantsCollection, token.grant)) === undefined;
  }
}
