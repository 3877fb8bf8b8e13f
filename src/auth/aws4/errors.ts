import { type ForeignDocument, Problem, type ProblemMember } from '../../http/problem.ts';
import type { ProblemType } from '../../http/problem-types.ts';
import type { Aws4Options } from './options.ts';
import { queryErrors } from './query-errors.ts';
import { s3Errors } from './s3-errors.ts';

/** The reason of a refusal. */
export type Reason =
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
}

/** A refusal, before it has a form. */
export interface Refusal {
  readonly reason: Reason;
  readonly detail: string;
  readonly facts: Facts;
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

const types: Readonly<Record<Reason, ProblemType>> = {
  malformed: 'malformed-credentials',
  'headers-not-signed': 'malformed-credentials',
  region: 'credentials-refused',
  service: 'credentials-refused',
  'payload-unsigned': 'digest-required',
  'payload-streaming': 'streaming-signature-not-implemented',
  'payload-mismatch': 'digest-mismatch',
  'unknown-key': 'credentials-refused',
  'expired-key': 'credentials-refused',
  signature: 'credentials-refused',
  'date-behind': 'date-out-of-window',
  'date-ahead': 'date-out-of-window',
  'presigned-expired': 'date-out-of-window',
  replayed: 'nonce-replayed',
};

/** Creates the function that expresses refusals as problem documents, or in the wording and form of AWS. */
export function createProblemWriter(options: Aws4Options): (refusal: Refusal, now: number) => Problem {
  let count = 0;
  return ({ reason, detail, facts, members = {} }, now) => {
    if (options.errors === 'problem') return new Problem(types[reason], detail, { members });
    count += 1;
    const id = requestId(now, count);
    const context = { detail, facts, options, now };
    const document =
      options.service === 's3'
        ? s3Document(s3Errors[reason](context), id)
        : queryDocument(queryErrors[reason](context), id);
    return new Problem(types[reason], detail, { members, document, fields: [['x-amz-request-id', id]] });
  };
}

/** Returns an id in the form of those of Amazon S3: 16 hexadecimal digits in upper case. */
function requestId(now: number, count: number): string {
  const digits = (value: number, length: number): string =>
    value.toString(16).toUpperCase().padStart(length, '0').slice(-length);
  return digits(now, 12) + digits(count, 4);
}

function s3Document({ status, code, message, more = {} }: AwsError, id: string): ForeignDocument {
  const content = { Code: code, Message: message, ...more, RequestId: id };
  return { status, type: 'application/xml', root: 'Error', content };
}

/** Creates a document in the form of services with the query protocol, such as IAM and STS. */
function queryDocument({ status, code, message }: AwsError, id: string): ForeignDocument {
  const content = { Error: { Type: 'Sender', Code: code, Message: message }, RequestId: id };
  return { status, type: 'text/xml', root: 'ErrorResponse', content };
}
