import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';
import { nextTurn } from '../timers.ts';
import type { GrantEvent, Mechanism, TokenKind } from './records.ts';
import { grantsCollection, readGrant, readToken, tokensCollection } from './records.ts';

/** What a name is one of. When a name is removed, what was granted to it in this role ends. */
export type Role = 'user' | 'client' | 'consumer';

/** The names in use, by role. */
export type Names = Readonly<Record<Role, ReadonlySet<string>>>;

/** The names that were removed and are not in use again, by role. Another user or client may be given one of them. */
export type RemovedNames = Readonly<Record<Role, ReadonlySet<string>>>;

/** To whom something was granted, and in whose name. */
interface Holder {
  readonly mechanism: Mechanism;
  readonly client: string;
  readonly user?: string | undefined;
}

/** A grant or a token. */
interface Held extends Holder {
  readonly kind?: TokenKind;
  readonly grant?: string | undefined;
}

/** How many entries are read before other work has its turn. */
const stride = 256;

/**
 * Ends what was granted to a name when the name is removed, so that a later user or client of that name inherits nothing. Tokens
 * are looked up only after that is done.
 */
export class RevokeOnRemoval {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #told: (event: GrantEvent) => void;
  #known: Names;
  #departed: RemovedNames = { user: new Set(), client: new Set(), consumer: new Set() };
  /** Ids of tokens and grants that have ended although the store failed to delete them. */
  readonly #unkept = new Set<string>();
  #underway: Promise<void> | undefined;
  /** Counts restores of the store: work that began before one stops. */
  #life = 0;

  constructor(known: Names, store: Store, clock: Clock, told: (event: GrantEvent) => void) {
    this.#known = known;
    this.#store = store;
    this.#clock = clock;
    this.#told = told;
  }

  /** Resolves when what has to end has ended; undefined when there is nothing to wait for. */
  get done(): Promise<void> | undefined {
    return this.#underway;
  }

  /** Whether a token has ended though it is still kept. */
  hasEnded(digest: string): boolean {
    return this.#unkept.has(digest);
  }

  /**
   * Ends what is kept for names that are not in use: they were removed while no server ran. Only roles in `told` count; of others
   * the names are not known.
   */
  compare(told: readonly Role[]): void {
    const known = this.#known;
    this.#end((holder) =>
      told.some((role) => {
        const name = nameOf(role, holder);
        return name !== undefined && !isAmong(known[role], name);
      }),
    );
  }

  /** Takes these for all names in use in this role, and ends what was granted to those that were removed. */
  know(role: Role, names: Iterable<string>): void {
    const next = new Set(names);
    const gone = [...this.#known[role]].filter((name) => !next.has(name));
    // A request under way when the name was removed may have issued something since.
    const back = [...this.#departed[role]].filter((name) => next.has(name));
    const departed = [...this.#departed[role], ...gone].filter((name) => !next.has(name));
    this.#known = { ...this.#known, [role]: next };
    this.#departed = { ...this.#departed, [role]: new Set(departed) };
    const changed = new Set([...gone, ...back]);
    if (changed.size > 0) this.#end((holder) => isAmong(changed, nameOf(role, holder)));
  }

  /** The removed names, for a snapshot of the whole state. */
  snapshot(): RemovedNames {
    return this.#departed;
  }

  /** Goes on from a snapshot, together with a store that was restored. */
  restore(departed: RemovedNames): void {
    this.#life += 1;
    this.#departed = departed;
    this.#unkept.clear();
  }

  #end(isOver: (holder: Holder) => boolean): void {
    const work = this.#after(this.#underway, isOver);
    this.#underway = work;
    const finish = (): void => {
      if (this.#underway === work) this.#underway = undefined;
    };
    // Whoever awaits `done` sees a failure; here it needs no handling.
    work.then(finish, finish);
  }

  async #after(before: Promise<void> | undefined, isOver: (holder: Holder) => boolean): Promise<void> {
    const life = this.#life;
    await before?.catch(() => {});
    // Grants first: a token whose grant is gone is not valid, should this be interrupted.
    await this.#sweep(grantsCollection, isOver, life);
    await this.#sweep(tokensCollection, isOver, life);
  }

  async #sweep(collection: string, isOver: (holder: Holder) => boolean, life: number): Promise<void> {
    for (let after = 0; life === this.#life; await nextTurn()) {
      const { entries, more } = await this.#store.list(collection, after, stride);
      const held = entries.flatMap((entry) => {
        const holder = collection === grantsCollection ? readGrant(entry) : readToken(entry);
        return holder !== undefined && isOver(holder) ? [{ id: entry.id, holder }] : [];
      });
      await Promise.all(held.map(({ id, holder }) => this.#take(collection, id, holder, life)));
      after = entries.at(-1)?.sequence ?? after;
      if (!more) return;
    }
  }

  async #take(
    collection: string,
    id: string,
    { mechanism, client, user, kind, grant }: Held,
    life: number,
  ): Promise<void> {
    try {
      while (life === this.#life) {
        const kept = await this.#store.read(collection, id);
        if (kept === undefined) return;
        const change = { kind: 'delete', collection, id, expected: kept.revision } as const;
        const { applied } = await this.#store.apply({ ...change, at: this.#clock.now() });
        if (!applied) continue;
        // A token of a grant is reported with the grant.
        if (grant === undefined) this.#told({ kind: 'revoked', mechanism, client, user, token: kind });
        return;
      }
    } catch {
      // The store reports its own failure. The token counts as ended all the same.
      this.#unkept.add(id);
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
