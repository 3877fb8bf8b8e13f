import type { Scope } from './signing-key.ts';

/** The parts of a scope. */
interface ScopeParts extends Scope {
  /** The last part: `aws4_request`. */
  readonly end: string;
}

/** What a signature can have otherwise than the options say. */
export interface Aws4Overrides {
  /** Whether the content is not signed. Default: false, for a presigned URL of Amazon S3 true. */
  readonly unsignedPayload?: boolean | undefined;
  /** The value of X-Amz-Content-Sha256. Default: the SHA-256 of the content. */
  readonly payloadHash?: string | undefined;
  /** The names of the signed headers, in lower case. One that is absent is signed as empty. Default: all of the request. */
  readonly signedHeaders?: readonly string[] | undefined;
  /** Other parts of the scope. */
  readonly scope?: Partial<ScopeParts> | undefined;
  /** Other parts of the scope for which the key is derived. Default: those of the scope as sent. */
  readonly keyScope?: Partial<Scope> | undefined;
  /** The algorithm of a presigned URL as sent. */
  readonly algorithm?: string | undefined;
  /** The lifetime of a presigned URL as sent. */
  readonly expires?: string | undefined;
}
