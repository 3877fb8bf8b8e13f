import { type ForeignDocument, Problem } from '../../../http/problem.ts';
import type { ProblemType } from '../../../http/problem-types.ts';
import type { Aws4Options } from '../options.ts';
import { queryErrors } from './query.ts';
import type { AwsError, AwsRefusal, Reason } from './refusal.ts';
import { s3Errors } from './s3.ts';

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

/** Expresses a refusal at a time (ms) as a Problem. */
export type WriteProblem = (refusal: AwsRefusal, now: number) => Problem;

/** Creates the function that expresses refusals as problem documents, or in the wording and form of AWS. */
export function createProblemWriter(options: Aws4Options): WriteProblem {
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
