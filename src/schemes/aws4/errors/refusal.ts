import type { ProblemMember } from '../../../http/problem.ts';
import type { Aws4Options } from '../options.ts';

/** The reason of a refusal. */
export type Reason =
  | 'missing'
  | 'foreign'
  | 'malformed'
  | 'headers-not-signed'
  | 'region'
  | 'service'
  | 'payload-unsigned'
  | 'payload-streaming'
  | 'payload-mismatch'
  | 'unknown-key'
  | 'expired-key'
  | 'signature'
  | 'date-behind'
  | 'date-ahead'
  | 'presigned-expired'
  | 'replayed';

/** What AWS shows of a refused request. Contains no secret and no valid signature. */
export interface Facts {
  readonly presigned: boolean;
  readonly accessKeyId?: string | undefined;
  /** The signature that the client sent. */
  readonly signature?: string | undefined;
  readonly canonicalRequest?: string | undefined;
  readonly stringToSign?: string | undefined;
  /** The time of the request (ms). */
  readonly time?: number | undefined;
  /** The lifetime of a presigned URL (s). */
  readonly expires?: number | undefined;
  readonly sentHash?: string | undefined;
  readonly computedHash?: string | undefined;
  /** The names of headers that are not signed. */
  readonly headers?: readonly string[] | undefined;
  /** The region or the service of the scope. */
  readonly scoped?: string | undefined;
  /** Whether the credentials are those of Signature Version 2. */
  readonly isVersion2?: boolean;
}

/** A refusal, before it has a form. */
export interface AwsRefusal {
  readonly reason: Reason;
  readonly detail: string;
  readonly facts: Facts;
  /** What the client can do. Shown with `explain` only. */
  readonly hint?: string | undefined;
  readonly members?: Readonly<Record<string, ProblemMember>>;
}

/** A refusal with the circumstances that AWS shows. */
export interface ErrorContext {
  readonly detail: string;
  readonly facts: Facts;
  readonly options: Aws4Options;
  readonly now: number;
}

/** An error of AWS. */
export interface AwsError {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** Further elements, as Amazon S3 shows them. */
  readonly more?: Readonly<Record<string, ProblemMember>>;
}

/** The errors of a family of services. */
export type AwsErrors = Readonly<Record<Reason, (context: ErrorContext) => AwsError>>;
