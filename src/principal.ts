/** Somebody whose credentials were good. Nobody is `undefined`. */
export interface Principal {
  readonly name: string;
  /** The scheme that vouches for the name: `hmac`. */
  readonly scheme: string;
  /**
   * The nonce that was used up to say so, where it is still to be kept: in one with what the request changes, so that
   * neither outlives the other, and else before the reply.
   */
  readonly nonce?: HeldNonce;
  /** What a token lends of its user's rights; undefined for who came with credentials of their own. */
  readonly lent?: LentRights;
}

/** What a token may be used for: reading (GET, HEAD and OPTIONS), or changing (POST, PUT and DELETE). */
export type Scope = 'read' | 'write';

/** All scopes, in the order in which they are written. */
export const knownScopes: readonly Scope[] = ['read', 'write'];

/** The rights of somebody who comes with a token. */
export interface LentRights {
  /** Who came with it. */
  readonly client: string;
  readonly scopes: readonly Scope[];
  /** The users for whom a client comes on its own behalf, all of them with `*`; undefined where the token is the principal's own. */
  readonly users: '*' | readonly string[] | undefined;
}

/** A nonce that was taken and is not kept yet. */
export interface HeldNonce {
  readonly user: string;
  readonly nonce: string;
  /** The time (ms) up to which a request that carries it could be accepted. */
  readonly until: number;
}
