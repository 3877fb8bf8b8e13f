import type { Clock } from '../clock.ts';
import type { Entry, Store } from '../store/store.ts';
import { grantsCollection, readGrant, readToken, tokensCollection } from './records.ts';

/** How many of a collection are looked at in a step: more than a step adds, so that what is over goes sooner than new comes. */
const stride = 16;

/**
 * Takes away what is over, a few entries each time that something is issued: nothing has to be waited for, and what is kept
 * stays within a small multiple of what is live.
 */
export class ExpirySweep {
  readonly #store: Store;
  readonly #clock: Clock;
  /** The sequence up to which each collection was looked at on this round. */
  readonly #reached = new Map<string, number>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Looks at the next few of either collection. Never rejects: what stays is found the next time. */
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

  /** Codes and refresh tokens, used or not, are told from unknown ones for as long as their grant lasts. */
  async #isTokenOver(entry: Entry, now: number): Promise<boolean> {
    const token = readToken(entry);
    if (token === undefined) return true;
    if (token.expires > now) return false;
    if (token.grant === undefined || (token.kind !== 'code' && token.kind !== 'refresh')) return true;
    return (await this.#store.read(grantsCollection, token.grant)) === undefined;
  }
}
