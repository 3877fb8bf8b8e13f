import type { Clock } from '../clock.ts';
import type { Applied, Entry, RecordValue, Store } from '../store/store.ts';
import { ExpirySweep } from './expiry-sweep.ts';
import {
  type Grant,
  type GrantEvent,
  grantsCollection,
  grantValueOf,
  type Mechanism,
  readGrant,
  readToken,
  type Token,
  type TokenDraft,
  type TokenKind,
  tokensCollection,
  tokenValueOf,
} from './records.ts';
import type { RevokeOnRemoval } from './revoke-on-removal.ts';
import { sha256 } from './sha256.ts';

/** A token with what it was granted by, as both were when they were looked up. */
export interface Found {
  readonly token: Token;
  readonly grant: Grant | undefined;
  /** The token's revision, which a change of it is judged by. */
  readonly revision: number;
}

/** A token that was drawn. Its value is given here once, and only its digest is kept. */
export interface Issued {
  /** 256 random bits in base64url. */
  readonly value: string;
  readonly token: Token;
}

/** What grants depend on. */
export interface GrantsOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Gives that many random bytes. */
  readonly random: (size: number) => Uint8Array;
  /** Told of what happens to grants and tokens. */
  readonly onEvent?: (event: GrantEvent) => void;
  /** Nothing is looked up or issued before what was granted to removed names has ended. */
  readonly departures?: Pick<RevokeOnRemoval, 'done' | 'hasEnded'>;
}

/** A grant to be begun. */
export type GrantDraft = Pick<Grant, 'mechanism' | 'client' | 'user' | 'scopes' | 'ends'>;

/** Grants and tokens, kept like any resource: a call resolves once the store has made its change durable. */
export interface Grants {
  /** Draws tokens without a grant. */
  issue(drafts: readonly TokenDraft[]): Promise<Issued[]>;
  /** Begins a grant, and draws its first tokens. */
  begin(grant: GrantDraft, drafts: readonly TokenDraft[]): Promise<{ grant: Grant; issued: Issued[] }>;
  /** What is kept of a token of this kind, live or not; undefined where there is none. */
  find(value: string, mechanism: Mechanism, kind: TokenKind): Promise<Found | undefined>;
  /**
   * Spends a token in one step: of all who try, exactly one gets true, and from then on it is found `used`. A token with a
   * grant stays for as long as that; another is taken away when it expires.
   */
  spend(found: Found): Promise<boolean>;
  /** Spends a token and draws others of its grant in its place, in one batch; undefined where somebody else spent it first. */
  exchange(found: Found, drafts: readonly TokenDraft[]): Promise<Issued[] | undefined>;
  /** Sets a token's user and adds to its details; undefined where it was changed or spent meanwhile. */
  amend(
    found: Found,
    changes: { user?: string; details: Readonly<Record<string, string>> },
  ): Promise<Found | undefined>;
  /** Ends one token. */
  revokeToken(found: Found): Promise<void>;
  /** Ends a grant, and with it all its tokens. `reused` is the kind of token whose second use is the reason. */
  revokeGrant(id: string, reused?: TokenKind): Promise<void>;
  /** Every token, in the order of issue. */
  all(): AsyncIterable<Found>;
  /** Makes a token expire now. */
  expire(found: Found): Promise<void>;
}

/** Whether a token may be used at this time: it is not used up or over, and neither is its grant. */
export function isLive({ token, grant }: Found, now: number): boolean {
  if (token.used || token.expires <= now) return false;
  return token.grant === undefined || (grant !== undefined && !grant.revoked && grant.ends > now);
}

/**
 * Whether this was issued after its client or user was registered, and so not to a former one of the same name. A token counts as
 * old as its grant.
 */
export function isOf({ token, grant }: Found, { since }: { readonly since?: number | undefined }): boolean {
  return since === undefined || (grant ?? token).issued >= since;
}

/** The first of the tokens that were drawn. Throws Error where there is none: a draft always makes one. */
export function firstOf([first]: readonly Issued[]): Issued {
  if (first === undefined) throw new Error('no token was drawn');
  return first;
}

/** Makes grants that are kept in the store. No request reaches their collections: the names of those it reaches begin with a slash. */
export function createGrants(options: GrantsOptions): Grants {
  return new KeptGrants(options);
}

/** Bytes of a token, a code or a grant's id. */
const tokenBytes = 32;
/** Characters of a token. */
export const tokenLength = Math.ceil((tokenBytes * 4) / 3);

class KeptGrants implements Grants {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #random: (size: number) => Uint8Array;
  readonly #told: (event: GrantEvent) => void;
  readonly #departures: Pick<RevokeOnRemoval, 'done' | 'hasEnded'> | undefined;
  readonly #sweep: ExpirySweep;

  constructor({ store, clock, random, onEvent: told = () => {}, departures: revocation }: GrantsOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
    this.#told = told;
    this.#departures = revocation;
    this.#sweep = new ExpirySweep(store, clock);
  }

  async issue(drafts: readonly TokenDraft[]): Promise<Issued[]> {
    if (this.#departures?.done !== undefined) await this.#departures.done;
    const issued = await this.#draw(drafts, undefined);
    this.#tellIssued(issued);
    return issued;
  }

  async begin(draft: GrantDraft, drafts: readonly TokenDraft[]): Promise<{ grant: Grant; issued: Issued[] }> {
    if (this.#departures?.done !== undefined) await this.#departures.done;
    const grant: Grant = { ...draft, id: this.#randomValue(), issued: this.#clock.now(), revoked: false };
    // Both in one turn, and so in one batch.
    const kept = this.#put(grantsCollection, grant.id, 'absent', grantValueOf(grant));
    const [issued] = await Promise.all([this.#draw(drafts, grant), kept]);
    this.#tellIssued(issued);
    return { grant, issued };
  }

  async find(value: string, mechanism: Mechanism, kind: TokenKind): Promise<Found | undefined> {
    if (this.#departures?.done !== undefined) await this.#departures.done;
    const digest = sha256(value);
    if (this.#departures?.hasEnded(digest)) return undefined;
    const entry = await this.#store.read(tokensCollection, digest);
    const found = entry === undefined ? undefined : await this.#foundIn(entry);
    return found?.token.mechanism === mechanism && found.token.kind === kind ? found : undefined;
  }

  async spend({ token, revision }: Found): Promise<boolean> {
    if (token.used) return false;
    const { applied } = await this.#put(
      tokensCollection,
      token.digest,
      revision,
      tokenValueOf({ ...token, used: true }),
    );
    return applied;
  }

  async exchange(found: Found, drafts: readonly TokenDraft[]): Promise<Issued[] | undefined> {
    // Both in one turn, and so in one batch. Where the token was spent already, nobody gets the drawn ones, and their grant ends.
    const [spent, issued] = await Promise.all([this.spend(found), this.#draw(drafts, found.grant)]);
    if (!spent) return undefined;
    this.#tellIssued(issued);
    return issued;
  }

  async amend(
    { token, grant, revision }: Found,
    { user, details }: { user?: string; details: Readonly<Record<string, string>> },
  ): Promise<Found | undefined> {
    if (token.used) return undefined;
    const amended: Token = { ...token, user: user ?? token.user, details: { ...token.details, ...details } };
    const done = await this.#put(tokensCollection, token.digest, revision, tokenValueOf(amended));
    return done.applied ? { token: amended, grant, revision: done.entry.revision } : undefined;
  }

  async revokeToken(found: Found): Promise<void> {
    const { mechanism, client, user, kind } = found.token;
    await this.#delete(tokensCollection, found.token.digest);
    this.#told({ kind: 'revoked', mechanism, client, user, token: kind });
  }

  async revokeGrant(id: string, reused?: TokenKind): Promise<void> {
    for (;;) {
      const entry = await this.#store.read(grantsCollection, id);
      const grant = entry === undefined ? undefined : readGrant(entry);
      if (entry === undefined || grant === undefined) return;
      if (grant.revoked) return;
      const value = grantValueOf({ ...grant, revoked: true });
      const { applied } = await this.#put(grantsCollection, id, entry.revision, value);
      if (!applied) continue;
      const { mechanism, client, user } = grant;
      const kind = reused === undefined ? 'revoked' : 'reuse_detected';
      this.#told({ kind, mechanism, client, user, token: reused });
      return;
    }
  }

  async *all(): AsyncIterable<Found> {
    if (this.#departures?.done !== undefined) await this.#departures.done;
    for (let after = 0; ; ) {
      const { entries, more } = await this.#store.list(tokensCollection, after, 256);
      for (const entry of entries) {
        const found = await this.#foundIn(entry);
        if (found !== undefined) yield found;
        after = entry.sequence;
      }
      if (!more) return;
    }
  }

  async expire(found: Found): Promise<void> {
    const value = tokenValueOf({ ...found.token, expires: this.#clock.now() });
    await this.#put(tokensCollection, found.token.digest, found.revision, value);
  }

  async #foundIn(entry: Entry): Promise<Found | undefined> {
    const token = readToken(entry);
    if (token === undefined) return undefined;
    const kept =
      token.grant === undefined ? undefined : await this.#store.read(grantsCollection, token.grant);
    return { token, grant: kept && readGrant(kept), revision: entry.revision };
  }

  async #draw(drafts: readonly TokenDraft[], grant: Grant | undefined): Promise<Issued[]> {
    const issued = drafts.map((draft): Issued => {
      const value = this.#randomValue();
      const digest = sha256(value);
      const { details = {} } = draft;
      const kept = { ...draft, digest, grant: grant?.id, issued: this.#clock.now(), used: false, details };
      return { value, token: kept };
    });
    void this.#sweep.step(); // never rejects
    const kept = await Promise.all(
      issued.map(({ token }) => this.#put(tokensCollection, token.digest, 'absent', tokenValueOf(token))),
    );
    // 256 bits that come twice are not random.
    if (kept.some(({ applied }) => !applied)) throw new Error('a token was drawn twice');
    return issued;
  }

  #tellIssued(issued: readonly Issued[]): void {
    for (const { token } of issued) {
      const { mechanism, client, user, kind } = token;
      this.#told({ kind: 'issued', mechanism, client, user, token: kind });
    }
  }

  #randomValue(): string {
    return Buffer.from(this.#random(tokenBytes)).toString('base64url');
  }

  #put(collection: string, id: string, expected: number | 'absent', value: RecordValue): Promise<Applied> {
    return this.#store.apply({ kind: 'put', collection, id, expected, value, at: this.#clock.now() });
  }

  /** Deletes an entry, whatever its revision. */
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
