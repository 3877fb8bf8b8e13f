import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';
import { nextTurn } from '../timers.ts';
import type { GrantEvent, Mechanism, TokenKind } from './records.ts';
import { grantsCollection, readGrant, readToken, tokensCollection } from './records.ts';

/** The kind of a registered name. When the name is removed, its grants and tokens in this role are revoked. */
export type Role = 'user' | 'client' | 'consumer';

/** The names in use, by role. */
export type Names = Readonly<Record<Role, ReadonlySet<string>>>;

/** The names that were removed and are not in use again, by role. A later user or client may get the same name. */
export type RemovedNames = Readonly<Record<Role, ReadonlySet<string>>>;

/** The client that a grant or token was issued to, and the user that allowed it. */
interface Holder {
  readonly mechanism: Mechanism;
  readonly client: string;
  readonly user?: string | undefined;
}

/** The fields of a grant or token that its revocation needs. */
interface Held extends Holder {
  readonly kind?: TokenKind;
  readonly grant?: string | undefined;
}

/** Entries read in one batch before control returns to the event loop. */
const stride = 256;

/**
 * Revokes the grants and tokens of a name when the name is removed, so that a later user or client of the same name does not
 * inherit them. Token lookups wait until the revocation is complete.
 */
export class RevokeOnRemoval {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #onEvent: (event: GrantEvent) => void;
  #names: Names;
  #removed: RemovedNames = { user: new Set(), client: new Set(), consumer: new Set() };
  /** Ids of revoked tokens and grants that the store failed to delete. */
  readonly #undeleted = new Set<string>();
  #running: Promise<void> | undefined;
  /** Number of restores of the store. Work that began before a restore stops. */
  #generation = 0;

  constructor(names: Names, store: Store, clock: Clock, onEvent: (event: GrantEvent) => void) {
    this.#names = names;
    this.#store = store;
    this.#clock = clock;
    this.#onEvent = onEvent;
  }

  /** Resolves when all pending revocations are complete; undefined if none is pending. */
  get done(): Promise<void> | undefined {
    return this.#running;
  }

  /** Returns whether a token that is still stored has been revoked. */
  isRevoked(digest: string): boolean {
    return this.#undeleted.has(digest);
  }

  /**
   * Revokes stored grants and tokens of names that are not in use, because they were removed while no server ran.
   *
   * @param roles The roles whose names are known; grants and tokens of other roles are not examined.
   */
  compare(roles: readonly Role[]): void {
    const names = this.#names;
    this.#revokeMatching((holder) =>
      roles.some((role) => {
        const name = nameOf(role, holder);
        return name !== undefined && !isAmong(names[role], name);
      }),
    );
  }

  /** Sets all names in use in this role, and revokes the grants and tokens of the names that were removed. */
  setNames(role: Role, names: Iterable<string>): void {
    const next = new Set(names);
    const gone = [...this.#names[role]].filter((name) => !next.has(name));
    // A request in progress when the name was removed may have issued a token since.
    const back = [...this.#removed[role]].filter((name) => next.has(name));
    const removed = [...this.#removed[role], ...gone].filter((name) => !next.has(name));
    this.#names = { ...this.#names, [role]: next };
    this.#removed = { ...this.#removed, [role]: new Set(removed) };
    const changed = new Set([...gone, ...back]);
    if (changed.size > 0) this.#revokeMatching((holder) => isAmong(changed, nameOf(role, holder)));
  }

  /** Returns the removed names, for a snapshot of the whole state. */
  snapshot(): RemovedNames {
    return this.#removed;
  }

  /** Restores the removed names from a snapshot, together with the store. */
  restore(removed: RemovedNames): void {
    this.#generation += 1;
    this.#removed = removed;
    this.#undeleted.clear();
  }

  #revokeMatching(matches: (holder: Holder) => boolean): void {
    const work = this.#revokeAfter(this.#running, matches);
    this.#running = work;
    const finish = (): void => {
      if (this.#running === work) this.#running = undefined;
    };
    // Callers that await `done` see a failure; it needs no handling here.
    work.then(finish, finish);
  }

  async #revokeAfter(before: Promise<void> | undefined, matches: (holder: Holder) => boolean): Promise<void> {
    const generation = this.#generation;
    await before?.catch(() => {});
    // Grants first: if this is interrupted, a token without its grant is not valid.
    await this.#sweep(grantsCollection, matches, generation);
    await this.#sweep(tokensCollection, matches, generation);
  }

  async #sweep(collection: string, matches: (holder: Holder) => boolean, generation: number): Promise<void> {
    for (let after = 0; generation === this.#generation; await nextTurn()) {
      const { entries, more } = await this.#store.list(collection, after, stride);
      const held = entries.flatMap((entry) => {
        const holder = collection === grantsCollection ? readGrant(entry) : readToken(entry);
        return holder !== undefined && matches(holder) ? [{ id: entry.id, holder }] : [];
      });
      await Promise.all(held.map(({ id, holder }) => this.#deleteHeld(collection, id, holder, generation)));
      after = entries.at(-1)?.sequence ?? after;
      if (!more) return;
    }
  }

  async #deleteHeld(
    collection: string,
    id: string,
    { mechanism, client, user, kind, grant }: Held,
    generation: number,
  ): Promise<void> {
    try {
      while (generation === this.#generation) {
        const stored = await this.#store.read(collection, id);
        if (stored === undefined) return;
        const change = { kind: 'delete', collection, id, expected: stored.revision } as const;
        const { applied } = await this.#store.apply({ ...change, at: this.#clock.now() });
        if (!applied) continue;
        // A token of a grant is reported with the grant.
        if (grant === undefined) this.#onEvent({ kind: 'revoked', mechanism, client, user, token: kind });
        return;
      }
    } catch {
      // The store reports its own failure. The token counts as revoked nevertheless.
      this.#undeleted.add(id);
    }
  }
}

function isAmong(names: ReadonlySet<string>, name: string | undefined): boolean {
  return name !== undefined && names.has(name);
}

function nameOf(role: Role, { mechanism, client, user }: Holder): string | undefined {
  if (role === 'user') return user;
  return (role === 'client') === (mechanism === 'oauth2') ? client : undefined;
}
