import type { FieldLine } from '../../../http/fields.ts';
import type { IncomingRequest } from '../../../http/message.ts';
import { type ForeignDocument, Problem } from '../../../http/problem.ts';
import type { ProblemType } from '../../../http/problem-types.ts';
import type { Aws4Options } from '../options.ts';
import { formatStamp } from '../signing-key.ts';
import type { AwsError, AwsErrors, AwsRefusal, ErrorContext, Reason } from './refusal.ts';
import { s3Errors } from './s3.ts';

const types: Readonly<Record<Reason, ProblemType>> = {
  missing: 'authentication-required',
  foreign: 'scheme-not-offered',
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
    const { document, fields } = buildAnswer(reason, { detail, facts, options, now }, id);
    return new Problem(types[reason], detail, { members, document, headers: fields });
  };
}

interface AwsAnswer {
  readonly document: ForeignDocument;
  readonly fields: readonly FieldLine[];
}

function buildAnswer(reason: Reason, context: ErrorContext, id: string): AwsAnswer {
  const { service } = context.options;
  if (service === 'execute-api') return gatewayAnswer(queryErrors[reason](context), id);
  const document =
    service === 's3'
      ? s3Document(s3Errors[reason](context), id)
      : queryDocument(queryErrors[reason](context), id);
  return { document, fields: [['x-amz-request-id', id]] };
}

/**
 * Expresses a refusal of a request without credentials of this scheme as AWS does. Returns any other Problem as it is.
 *
 * @param now The time (ms).
 */
export function expressRefusal(
  problem: Problem,
  { headers: fields, target }: IncomingRequest,
  write: WriteProblem,
  now: number,
): Problem {
  const reason = withoutCredentials.get(problem.type);
  if (reason === undefined) return problem;
  const isVersion2 = /^aws\s/i.test(fields.get('authorization') ?? '') || /[?&]AWSAccessKeyId=/.test(target);
  const { detail, members } = problem;
  return write({ reason, detail, facts: { presigned: false, isVersion2 }, members }, now).with(
    problem.headers,
  );
}

const withoutCredentials: ReadonlyMap<ProblemType, Reason> = new Map([
  ['authentication-required', 'missing'],
  ['scheme-not-offered', 'foreign'],
]);

/** Returns an id in the form of those of Amazon S3: 16 hexadecimal digits in upper case. */
function requestId(now: number, count: number): string {
  const digits = (value: number, length: number): string =>
    value.toString(16).toUpperCase().padStart(length, '0').slice(-length);
  return digits(now, 12) + digits(count, 4);
}

function s3Document({ status, code, message, more = {} }: AwsError, id: string): ForeignDocument {
  const content = { Code: code, Message: message, ...more, RequestId: id };
  return { status, type: 'application/xml', root: 'Error', body: content };
}

/** The names that Amazon API Gateway has for the codes of other services. */
const gatewayTypes: ReadonlyMap<string, string> = new Map([
  ['SignatureDoesNotMatch', 'InvalidSignatureException'],
  ['InvalidClientTokenId', 'UnrecognizedClientException'],
]);
/** The texts that differ from those of other services. */
const gatewayMessages: ReadonlyMap<string, string> = new Map([
  ['MissingAuthenticationToken', 'Missing Authentication Token'],
]);

/** Creates an error in the form of Amazon API Gateway: JSON with a message, and the type in a field. The status is 403. */
function gatewayAnswer({ status, code, message }: AwsError, id: string): AwsAnswer {
  const content = { message: gatewayMessages.get(code) ?? message };
  return {
    document: { status: status < 500 ? 403 : status, type: 'application/json', body: content },
    fields: [
      ['x-amzn-RequestId', id],
      ['x-amzn-ErrorType', gatewayTypes.get(code) ?? `${code}Exception`],
    ],
  };
}

/** Creates a document in the form of services with the query protocol, such as IAM and STS. */
function queryDocument({ status, code, message }: AwsError, id: string): ForeignDocument {
  const content = { Error: { Type: 'Sender', Code: code, Message: message }, RequestId: id };
  return { status, type: 'text/xml', root: 'ErrorResponse', body: content };
}

// Errors in the wording of AWS services with the query protocol, such as IAM and STS.

const error = (status: number, code: string, message: string): AwsError => ({ status, code, message });

/** These services use one code for nearly everything that is wrong with a signature. */
const mismatch = (message: string): AwsError => error(403, 'SignatureDoesNotMatch', message);

function wrongSignature({ facts: { canonicalRequest = '', stringToSign = '' } }: ErrorContext): AwsError {
  return mismatch(`The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.

The Canonical String for this request should have been
'${canonicalRequest}'

The String-to-Sign should have been
'${stringToSign}'
`);
}

const minutes = (ms: number): string => `${ms / 60_000} min.`;

/** The errors of these services by reason. */
const queryErrors: AwsErrors = {
  missing: () => error(403, 'MissingAuthenticationToken', 'Request is missing Authentication Token'),
  // AWS repeats the field, which may contain a secret.
  foreign: () =>
    error(400, 'IncompleteSignature', 'The Authorization header is not that of AWS4-HMAC-SHA256.'),
  malformed: ({ detail }) => error(400, 'IncompleteSignature', detail),
  'headers-not-signed': ({ detail }) => mismatch(detail),
  region: ({ facts }) => mismatch(`Credential should be scoped to a valid region, not '${facts.scoped}'. `),
  service: ({ options }) =>
    mismatch(`Credential should be scoped to correct service: '${options.service}'. `),
  'payload-unsigned': ({ detail }) => error(403, 'AccessDenied', detail),
  'payload-streaming': ({ detail }) => error(501, 'NotImplemented', detail),
  'payload-mismatch': wrongSignature,
  'unknown-key': () =>
    error(403, 'InvalidClientTokenId', 'The security token included in the request is invalid.'),
  'expired-key': () => error(403, 'ExpiredToken', 'The security token included in the request is expired'),
  signature: wrongSignature,
  'date-behind': ({ facts, options: { window }, now }) => {
    const [sent, least] = [formatStamp(facts.time ?? now), formatStamp(now - window)];
    return mismatch(
      `Signature expired: ${sent} is now earlier than ${least} (${formatStamp(now)} - ${minutes(window)})`,
    );
  },
  'date-ahead': ({ facts, options: { window }, now }) => {
    const [sent, most] = [formatStamp(facts.time ?? now), formatStamp(now + window)];
    return mismatch(
      `Signature not yet current: ${sent} is still later than ${most} (${formatStamp(now)} + ${minutes(window)})`,
    );
  },
  'presigned-expired': ({ facts: { time = 0, expires = 0 }, now }) => {
    const end = formatStamp(time + expires * 1000);
    return mismatch(`Signature expired: ${end} is now earlier than ${formatStamp(now)}`);
  },
  // AWS accepts replays, so this wording is our own.
  replayed: ({ detail }) => error(403, 'AccessDenied', detail),
};
