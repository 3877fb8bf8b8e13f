import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';
import type { GrantEvent, Mechanism, TokenKind } from './records.ts';
import { grantsCollection, readGrant, readToken, tokensCollection } from './records.ts';

/** As what somebody is known by a name: whoever of these goes takes what was granted along. */
export type Role = 'user' | 'client' | 'consumer';

/** Who is known, by their names. */
export type Names = Readonly<Record<Role, ReadonlySet<string>>>;

/** The names that are known no more, so that somebody else may come by one of them. */
export type Departed = Readonly<Record<Role, ReadonlySet<string>>>;

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

/** Of what is kept: how many entries are looked at before others have their turn. */
const stride = 256;

/**
 * Ends what was granted to a name when nobody has it any more, so that the next one of this name begins with nothing. Who
 * looks for a token waits until that is done.
 */
export class Departures {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #told: (event: GrantEvent) => void;
  #known: Names;
  #departed: Departed = { user: new Set(), client: new Set(), consumer: new Set() };
  /** Tokens that have ended, though the store could not say so. */
  readonly #unkept = new Set<string>();
  #underway: Promise<void> | undefined;
  /** Counts how often the store was put back. */
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

  /** Ends what is kept of names that nobody has: they went while this did not run. Of a role that is not `told`, nobody knows. */
  compare(told: readonly Role[]): void {
    const known = this.#known;
    this.#end((holder) =>
      told.some((role) => {
        const name = nameOf(role, holder);
        return name !== undefined && !isAmong(known[role], name);
      }),
    );
  }

  /** Takes these for all who have a name in this role. */
  know(role: Role, names: Iterable<string>): void {
    const next = new Set(names);
    const gone = [...this.#known[role]].filter((name) => !next.has(name));
    // What was under way when the name went may have left something.
    const back = [...this.#departed[role]].filter((name) => next.has(name));
    const departed = [...this.#departed[role], ...gone].filter((name) => !next.has(name));
    this.#known = { ...this.#known, [role]: next };
    this.#departed = { ...this.#departed, [role]: new Set(departed) };
    const changed = new Set([...gone, ...back]);
    if (changed.size > 0) this.#end((holder) => isAmong(changed, nameOf(role, holder)));
  }

  /** The names that went, for who takes down the state of the store as well. */
  snapshot(): Departed {
    return this.#departed;
  }

  /** Goes on from such names, with a store that was put back: what has not ended yet there stays. */
  restore(departed: Departed): void {
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
    // Who waits for it learns of a failure.
    work.then(finish, finish);
  }

  async #after(before: Promise<void> | undefined, isOver: (holder: Holder) => boolean): Promise<void> {
    const life = this.#life;
    await before?.catch(() => {});
    // A token ends with its grant, so what is left when this breaks off is of no use.
    await this.#sweep(grantsCollection, isOver, life);
    await this.#sweep(tokensCollection, isOver, life);
  }

  async #sweep(collection: string, isOver: (holder: Holder) => boolean, life: number): Promise<void> {
    for (let after = 0; life === this.#life; await setImmediate()) {
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
        // What hangs on a grant is told of with it.
        if (grant === undefined) this.#told({ kind: 'revoked', mechanism, client, user, token: kind });
        return;
      }
    } catch {
      // The store has told why. Whoever comes by the name meanwhile has it all the same.
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
