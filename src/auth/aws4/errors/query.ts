// Errors in the wording of AWS services with the query protocol, such as IAM and STS.
import { formatStamp } from '../../../signature/aws4/date.ts';
import type { AwsError, AwsErrors, ErrorContext } from './refusal.ts';

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
export const queryErrors: AwsErrors = {
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
