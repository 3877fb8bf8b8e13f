/** What is known of the issuer of a bearer token that is a JWT. */
export interface TokenIssuerOptions {
  /** The public keys (RFC 7517), with which tokens are forged as if they were secrets. Default: none. */
  readonly keys?: readonly object[] | undefined;
  /**
   * The private key of an issuer of a test, in PEM. With it, the attempts with other claims have a valid signature. Default: none, and
   * they have that of the good token.
   */
  readonly privateKey?: string | undefined;
}
