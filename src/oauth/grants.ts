// Grants and tokens are items of two collections that have no path. They are as durable as other items, and are used up by a
// compare-and-set. Only the SHA-256 of a token is stored. All tokens issued for one consent belong to one grant, which is
// revoked as a whole if a code or a refresh token is used twice.
import type { Clock } from '../clock.ts';
import type { Store, StoredItem, StoredRecord, StoreResult } from '../store/store.ts';
import { nextTurn } from '../timers.ts';
import { IssueLimits, type MaxIssued } from './issue-limits.ts';
import {
  type Grant,
  grantsCollection,
  type Mechanism,
  readGrant,
  readToken,
  type Token,
  type TokenDraft,
  type TokenEvent,
  type TokenKind,
  toGrantRecord,
  tokensCollection,
  toTokenRecord,
} from './records.ts';
import type { RevokeOnRemoval } from './revoke-on-removal.ts';
import { hashSha256 } from './sha256.ts';

/** A token and its grant as stored at the time of the lookup. */
export interface Found {
  readonly token: Token;
  readonly grant: Grant | undefined;
  /** The token's revision. A change is applied only if the revision is still the same. */
  readonly revision: number;
}

/** An issued token. Its value is available only here; the store has its digest. */
export interface Issued {
  /** 256 random bits in base64url, or a JWT. */
  readonly value: string;
  readonly token: Token;
}

/** Dependencies of the grants. */
interface GrantsOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Returns that many random bytes. */
  readonly random: (size: number) => Uint8Array;
  /** How many tokens and grants are stored for one owner. Default: `maxIssued`. */
  readonly maxIssued?: MaxIssued | undefined;
  /** Called when a token is issued or revoked, or its reuse is detected. */
  readonly onEvent?: ((event: TokenEvent) => void) | undefined;
  /** Revocation of the grants of removed names. Lookups and issues wait for it. */
  readonly revocation?: Pick<RevokeOnRemoval, 'done' | 'isRevoked'> | undefined;
}

/** A grant to be created. */
type GrantDraft = Pick<Grant, 'mechanism' | 'client' | 'user' | 'scopes' | 'ends'>;

/** Returns whether a token is neither used nor expired, and its grant is neither revoked nor ended. */
export function isLive({ token, grant }: Found, now: number): boolean {
  if (token.used || token.expires <= now) return false;
  return token.grant === undefined || (grant !== undefined && isInForce(grant, now));
}

/** Returns whether a grant is neither revoked nor ended. */
export function isInForce({ revoked, ends }: Grant, now: number): boolean {
  return !revoked && ends > now;
}

/**
 * Returns whether a token was issued after this client or user was registered, and not to a removed one of the same name. The
 * time of issue of a token with a grant is that of the grant.
 */
export function isIssuedTo(
  { token, grant }: Found,
  { since }: { readonly since?: number | undefined },
): boolean {
  return since === undefined || (grant ?? token).issued >= since;
}

/** Returns the first of the issued tokens. Throws Error if there is none. */
export function requireFirst([first]: readonly Issued[]): Issued {
  if (first === undefined) throw new Error('no token was issued');
  return first;
}

/** Random bytes of a token, a code or the id of a grant. */
const tokenBytes = 32;
/** Length of a token in characters. */
export const tokenLength = Math.ceil((tokenBytes * 4) / 3);

/**
 * Grants and tokens in the store. A call resolves when the store has made its change durable. Their collections are not resources: names
 * of resource collections begin with a slash.
 */
export class Grants {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #random: (size: number) => Uint8Array;
  readonly #onEvent: (event: TokenEvent) => void;
  readonly #revocation: Pick<RevokeOnRemoval, 'done' | 'isRevoked'> | undefined;
  readonly #sweep: ExpirySweep;
  readonly #limits: IssueLimits;

  constructor({ store, clock, random, maxIssued, onEvent = () => {}, revocation }: GrantsOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
    this.#onEvent = onEvent;
    this.#revocation = revocation;
    this.#sweep = new ExpirySweep(store, clock);
    const stored = { tokens: () => this.all(), grants: () => this.#allGrants() };
    this.#limits = new IssueLimits(clock, stored, maxIssued);
  }

  /** Issues tokens without a grant. Rejects with a Problem (429) if a user or client has too many: see `IssueLimits`. */
  async issue(drafts: readonly TokenDraft[]): Promise<Issued[]> {
    if (this.#revocation?.done !== undefined) await this.#revocation.done;
    await this.#limits.admit(drafts);
    const issued = await this.#generate(drafts, undefined);
    this.#reportIssued(issued);
    return issued;
  }

  /** Creates a grant and issues its first tokens. */
  async begin(draft: GrantDraft, drafts: readonly TokenDraft[]): Promise<{ grant: Grant; issued: Issued[] }> {
    if (this.#revocation?.done !== undefined) await this.#revocation.done;
    await this.#limits.admit(drafts, draft, true);
    const grant: Grant = { ...draft, id: this.#randomValue(), issued: this.#clock.now(), revoked: false };
    // Both in one turn of the event loop, and so in one batch.
    const stored = this.#put(grantsCollection, grant.id, 'absent', toGrantRecord(grant));
    const [issued] = await Promise.all([this.#generate(drafts, grant), stored]);
    this.#reportIssued(issued);
    return { grant, issued };
  }

  /** Finds a stored token of this kind, live or not. Resolves to undefined if there is none. */
  async find(value: string, mechanism: Mechanism, kind: TokenKind): Promise<Found | undefined> {
    if (this.#revocation?.done !== undefined) await this.#revocation.done;
    const digest = hashSha256(value);
    if (this.#revocation?.isRevoked(digest)) return undefined;
    const entry = await this.#store.read(tokensCollection, digest);
    const found = entry === undefined ? undefined : await this.#foundIn(entry);
    return found?.token.mechanism === mechanism && found.token.kind === kind ? found : undefined;
  }

  /**
   * Marks a token as used, atomically: of concurrent calls exactly one resolves to true. A token with a grant is kept as long
   * as the grant; another one is deleted when it expires.
   */
  async consume({ token, revision }: Found): Promise<boolean> {
    if (token.used) return false;
    const { applied } = await this.#put(
      tokensCollection,
      token.digest,
      revision,
      toTokenRecord({ ...token, used: true }),
    );
    return applied;
  }

  /**
   * Marks a token as used and issues others of the same grant, in one batch. Resolves to undefined if the token was used before.
   * Rejects with a Problem (429) like `issue`, and the token stays unused, if there are too many.
   */
  async exchange(found: Found, drafts: readonly TokenDraft[]): Promise<Issued[] | undefined> {
    await this.#limits.admit(drafts, found.grant);
    // Both in one turn of the event loop, and so in one batch. If the token was used before, the new tokens are stored but not
    // returned, and the caller revokes their grant.
    const [consumed, issued] = await Promise.all([this.consume(found), this.#generate(drafts, found.grant)]);
    if (!consumed) return undefined;
    this.#reportIssued(issued);
    return issued;
  }

  /** Sets a token's user and adds details. Resolves to undefined if the token was changed or used meanwhile. */
  async update(
    { token, grant, revision }: Found,
    { user, details }: { user?: string; details: Readonly<Record<string, string>> },
  ): Promise<Found | undefined> {
    if (token.used) return undefined;
    const updated: Token = { ...token, user: user ?? token.user, details: { ...token.details, ...details } };
    const done = await this.#put(tokensCollection, token.digest, revision, toTokenRecord(updated));
    return done.applied ? { token: updated, grant, revision: done.entry.revision } : undefined;
  }

  /** Revokes one token. */
  async revokeToken(found: Found): Promise<void> {
    const { mechanism, client, user, kind } = found.token;
    await this.#delete(tokensCollection, found.token.digest);
    this.#limits.release(found);
    this.#onEvent({ type: 'token-revoked', mechanism, client, user, token: kind });
  }

  /**
   * Revokes a grant with all its tokens.
   *
   * @param reused The kind of the token whose reuse is the reason, if it is.
   */
  async revokeGrant(id: string, reused?: TokenKind): Promise<void> {
    for (;;) {
      const entry = await this.#store.read(grantsCollection, id);
      const grant = entry === undefined ? undefined : readGrant(entry);
      if (entry === undefined || grant === undefined) return;
      if (grant.revoked) return;
      const value = toGrantRecord({ ...grant, revoked: true });
      const { applied } = await this.#put(grantsCollection, id, entry.revision, value);
      if (!applied) continue;
      const { mechanism, client, user } = grant;
      const type = reused === undefined ? 'token-revoked' : 'token-reused';
      this.#onEvent({ type, mechanism, client, user, token: reused });
      return;
    }
  }

  /** Returns the grants of a user that are neither revoked nor ended, in the order of issue. */
  async ofUser(user: string): Promise<readonly Grant[]> {
    const found: Grant[] = [];
    for await (const grant of this.#allGrants())
      if (grant.user === user && isInForce(grant, this.#clock.now())) found.push(grant);
    return found;
  }

  /** Iterates over all tokens in the order of issue. */
  async *all(): AsyncIterable<Found> {
    for await (const entry of this.#entries(tokensCollection)) {
      const found = await this.#foundIn(entry);
      if (found !== undefined) yield found;
    }
  }

  async *#allGrants(): AsyncIterable<Grant> {
    for await (const entry of this.#entries(grantsCollection)) {
      const grant = readGrant(entry);
      if (grant !== undefined) yield grant;
    }
  }

  /** Iterates over all entries of a collection. Other work can proceed between two pages of it. */
  async *#entries(collection: string): AsyncIterable<StoredItem> {
    if (this.#revocation?.done !== undefined) await this.#revocation.done;
    for (let after = 0; ; await nextTurn()) {
      const { entries, more } = await this.#store.list(collection, after, 256);
      yield* entries;
      after = entries.at(-1)?.sequence ?? after;
      if (!more) return;
    }
  }

  /** Sets the expiry of a token to now. */
  async expire(found: Found): Promise<void> {
    const value = toTokenRecord({ ...found.token, expires: this.#clock.now() });
    await this.#put(tokensCollection, found.token.digest, found.revision, value);
  }

  async #foundIn(entry: StoredItem): Promise<Found | undefined> {
    const token = readToken(entry);
    if (token === undefined) return undefined;
    const grant =
      token.grant === undefined ? undefined : await this.#store.read(grantsCollection, token.grant);
    return { token, grant: grant && readGrant(grant), revision: entry.revision };
  }

  async #generate(drafts: readonly TokenDraft[], grant: Grant | undefined): Promise<Issued[]> {
    const issued = drafts.map(({ write, details = {}, ...draft }): Issued => {
      const now = this.#clock.now();
      const value = write?.(now) ?? this.#randomValue();
      const digest = hashSha256(value);
      const token = { ...draft, digest, grant: grant?.id, issued: now, used: false, details };
      return { value, token };
    });
    void this.#sweep.step(); // never rejects
    const puts = await Promise.all(
      issued.map(({ token }) => this.#put(tokensCollection, token.digest, 'absent', toTokenRecord(token))),
    );
    // With 256 random bits, a collision means that the random source is broken.
    if (puts.some(({ applied }) => !applied)) throw new Error('two tokens have the same value');
    return issued;
  }

  #reportIssued(issued: readonly Issued[]): void {
    for (const { token } of issued) {
      const { mechanism, client, user, kind } = token;
      this.#onEvent({ type: 'token-issued', mechanism, client, user, token: kind });
    }
  }

  #randomValue(): string {
    return Buffer.from(this.#random(tokenBytes)).toString('base64url');
  }

  #put(
    collection: string,
    id: string,
    expected: number | 'absent',
    value: StoredRecord,
  ): Promise<StoreResult> {
    return this.#store.apply({ kind: 'put', collection, id, expected, value, at: this.#clock.now() });
  }

  /** Deletes an entry of any revision. */
  async #delete(collection: string, id: string): Promise<void> {
    for (;;) {
      const entry = await this.#store.read(collection, id);
      if (entry === undefined) return;
      const { revision } = entry;
      const at = this.#clock.now();
      const { applied } = await this.#store.apply({ kind: 'delete', collection, id, expected: revision, at });
      if (applied) return;
    }
  }
}

/** Entries of a collection examined in one step: more than one request adds, so that the sweep keeps up. */
const stride = 16;

/**
 * Deletes expired tokens and grants. Whenever tokens are issued, it examines a few entries. So no timer runs, no request waits,
 * and the number of stored entries stays within a small multiple of the number of live ones.
 */
class ExpirySweep {
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
