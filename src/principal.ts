/** Somebody whose credentials were good. Nobody is `undefined`. */
export interface Principal {
  readonly name: string;
  /** The scheme that vouches for the name: `hmac`. */
  readonly scheme: string;
}
