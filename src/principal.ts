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
}

/** A nonce that was taken and is not kept yet. */
export interface HeldNonce {
  readonly user: string;
  readonly nonce: string;
  /** The time (ms) up to which a request that carries it could be accepted. */
  readonly until: number;
}
