// Revokes the grants of users, clients and consumers that are removed. A start does so for names that were removed before it.
// `grant revoke` writes its request to revocations.json, and the process that has the lock of the store carries it out: the
// server, or the command itself.
import type { GrantSelection } from '../accounts/revocations.ts';
import type { Clock } from '../clock.ts';
import { StoreError } from '../store/errors.ts';
import type { Store } from '../store/store.ts';
import { nextTurn } from '../timers.ts';
import type { Mechanism, TokenEvent, TokenKind } from './records.ts';
import { grantsCollection, readGrant, readToken, tokensCollection } from './records.ts';

/** The kind of a registered name. When the name is removed, its grants and tokens in this role are revoked. */
export type Role = 'user' | 'client' | 'consumer';

/** The names in use, by role. */
type Names = Readonly<Record<Role, ReadonlySet<string>>>;

/** The names that were removed and are not in use again, by role. A later user or client may get the same name. */
type RemovedNames = Readonly<Record<Role, ReadonlySet<string>>>;

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

/** Returns whether a grant or token is to be revoked. `grant` is the id of the grant; undefined for a token without one. */
type Matches = (holder: Holder, grant: string | undefined) => boolean;

/** Entries read in one batch before control returns to the event loop. */
const stride = 256;

/**
 * Revokes the grants and tokens of a name when the name is removed, so that a later user or client of the same name does not
 * inherit them. Token lookups wait until the revocation is complete.
 */
export class RevokeOnRemoval {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #onEvent: (event: TokenEvent) => void;
  #names: Names;
  #removed: RemovedNames = { user: new Set(), client: new Set(), consumer: new Set() };
  /** Ids of revoked tokens and grants that the store failed to delete. */
  readonly #undeleted = new Set<string>();
  #running: Promise<void> | undefined;
  /** Number of restores of the store. Work that began before a restore stops. */
  #generation = 0;

  constructor(names: Names, store: Store, clock: Clock, onEvent: (event: TokenEvent) => void) {
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
    void this.#revokeMatching((holder) =>
      roles.some((role) => {
        const name = selectName(role, holder);
        return name !== undefined && !isAmong(names[role], name);
      }),
    );
  }

  /** Returns whether a name is in use in this role. */
  isUsed(role: Role, name: string): boolean {
    return isAmong(this.#names[role], name);
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
    if (changed.size > 0) void this.#revokeMatching((holder) => isAmong(changed, selectName(role, holder)));
  }

  /**
   * Revokes the selected grants and tokens. Resolves when they are deleted. Rejects with StoreError if the store could not delete
   * all of them: those are rejected until the process ends, and the caller repeats the call.
   */
  async revoke({ grant, user, client }: GrantSelection): Promise<void> {
    const isSelected: Matches = (holder, id) =>
      (grant === undefined || id === grant) &&
      (user === undefined || holder.user === user) &&
      (client === undefined || holder.client === client);
    const failed = await this.#revokeMatching(isSelected);
    if (failed > 0)
      throw new StoreError('failed', `${failed} revoked grants and tokens could not be deleted`);
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

  /** Resolves to the number of grants and tokens that the store failed to delete. */
  #revokeMatching(matches: Matches): Promise<number> {
    const work = this.#revokeAfter(this.#running, matches);
    const running = work.then(() => {});
    this.#running = running;
    const finish = (): void => {
      if (this.#running === running) this.#running = undefined;
    };
    // Callers that await `done` see a failure; it needs no handling here.
    running.then(finish, finish);
    return work;
  }

  async #revokeAfter(before: Promise<void> | undefined, matches: Matches): Promise<number> {
    const generation = this.#generation;
    await before?.catch(() => {});
    // Grants first: if this is interrupted, a token without its grant is not valid.
    const grants = await this.#sweep(grantsCollection, matches, generation);
    return grants + (await this.#sweep(tokensCollection, matches, generation));
  }

  async #sweep(collection: string, matches: Matches, generation: number): Promise<number> {
    let failed = 0;
    for (let after = 0; generation === this.#generation; await nextTurn()) {
      const { entries, more } = await this.#store.list(collection, after, stride);
      const held = entries.flatMap((entry) => {
        const holder: Held | undefined =
          collection === grantsCollection ? readGrant(entry) : readToken(entry);
        const grant = collection === grantsCollection ? entry.id : holder?.grant;
        return holder !== undefined && matches(holder, grant) ? [{ id: entry.id, holder }] : [];
      });
      const deleted = await Promise.all(
        held.map(({ id, holder }) => this.#deleteHeld(collection, id, holder, generation)),
      );
      failed += deleted.filter((isDeleted) => !isDeleted).length;
      after = entries.at(-1)?.sequence ?? after;
      if (!more) break;
    }
    return failed;
  }

  /** Resolves to false if the store failed. */
  async #deleteHeld(
    collection: string,
    id: string,
    { mechanism, client, user, kind, grant }: Held,
    generation: number,
  ): Promise<boolean> {
    try {
      while (generation === this.#generation) {
        const stored = await this.#store.read(collection, id);
        if (stored === undefined) return true;
        const change = { kind: 'delete', collection, id, expected: stored.revision } as const;
        const { applied } = await this.#store.apply({ ...change, at: this.#clock.now() });
        if (!applied) continue;
        // A token of a grant is reported with the grant.
        if (grant === undefined)
          this.#onEvent({ type: 'token-revoked', mechanism, client, user, token: kind });
        this.#undeleted.delete(id);
        return true;
      }
      return true;
    } catch {
      // The store reports its own failure. The token counts as revoked nevertheless.
      this.#undeleted.add(id);
      return false;
    }
  }
}

function isAmong(names: ReadonlySet<string>, name: string | undefined): boolean {
  return name !== undefined && names.has(name);
}

function selectName(role: Role, { mechanism, client, user }: Holder): string | undefined {
  if (role === 'user') return user;
  return (role === 'client') === (mechanism === 'oauth2') ? client : undefined;
}
