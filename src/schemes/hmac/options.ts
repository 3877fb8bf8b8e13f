/** Which requests a server accepts. */
export interface HmacRules {
  /** Maximum difference (ms, inclusive) between a date and the clock, in either direction. */
  readonly window: number;
  /** The requests that the simple form may sign. */
  readonly simple: 'safe' | 'all' | 'off';
  /** Whether a request with content must have a signed content digest. */
  readonly requireBodyDigest: boolean;
}

/** How a client signs. */
interface HmacSigning {
  /** `full` has a date and a nonce, so it can be used once; `simple` has neither and can be replayed. Default: `full`. */
  readonly form?: 'full' | 'simple' | undefined;
  /** The field for the date: `X-Date` if the client cannot set `Date`, as in a browser. Default: `Date`. */
  readonly dateField?: 'Date' | 'X-Date' | undefined;
  /** Whether content is signed by its digest, which is sent as Content-Digest. Default: true. */
  readonly signBody?: boolean | undefined;
}

/** Options of the scheme. */
export type HmacOptions = Partial<HmacRules> & HmacSigning;
