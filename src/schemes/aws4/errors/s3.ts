// Errors in the wording of Amazon S3.
import { bytesOf } from '../../../http/syntax/octets.ts';
import { formatStamp } from '../signing-key.ts';
import type { AwsError, AwsErrors, ErrorContext, Facts } from './refusal.ts';

type More = Readonly<Record<string, string | number>>;

const error = (status: number, code: string, message: string, more: More = {}): AwsError => ({
  status,
  code,
  message,
  more,
});

const denied = (message: string, more?: More): AwsError => error(403, 'AccessDenied', message, more);

function malformed({ facts }: ErrorContext, fault: string, more?: More): AwsError {
  return facts.presigned
    ? error(400, 'AuthorizationQueryParametersError', fault, more)
    : error(400, 'AuthorizationHeaderMalformed', `The authorization header is malformed; ${fault}`, more);
}

const iso = (ms: number): string => new Date(ms).toISOString().replace(/\.\d{3}/, '');

function skewed({ facts, options, now }: ErrorContext): AwsError {
  if (facts.presigned) return denied('Request is not valid yet', { ServerTime: iso(now) });
  const message = 'The difference between the request time and the current time is too large.';
  return error(403, 'RequestTimeTooSkewed', message, {
    RequestTime: formatStamp(facts.time ?? now),
    ServerTime: iso(now),
    MaxAllowedSkewMilliseconds: options.window,
  });
}

/** The errors of Amazon S3 by reason. */
export const s3Errors: AwsErrors = {
  missing: () => denied('Access Denied'),
  // Amazon S3 repeats the field, which may contain a secret.
  foreign: ({ facts }) =>
    facts.isVersion2 === true
      ? error(
          400,
          'InvalidRequest',
          'The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.',
        )
      : error(400, 'InvalidArgument', 'Unsupported Authorization Type', { ArgumentName: 'Authorization' }),
  malformed: (context) => malformed(context, context.detail),
  'headers-not-signed': ({ facts }) =>
    denied('There were headers present in the request which were not signed', {
      HeadersNotSigned: (facts.headers ?? []).join(', '),
    }),
  region: (context) => {
    const { region } = context.options;
    const fault = `the region '${context.facts.scoped}' is wrong; expecting '${region}'`;
    return malformed(context, fault, { Region: region });
  },
  service: (context) => {
    const { facts, options } = context;
    return malformed(
      context,
      `incorrect service "${facts.scoped}". This endpoint belongs to "${options.service}".`,
    );
  },
  'payload-unsigned': () => denied('Access Denied'),
  'payload-streaming': () => {
    const message = 'A header you provided implies functionality that is not implemented';
    return error(501, 'NotImplemented', message, { Header: 'x-amz-content-sha256' });
  },
  'payload-mismatch': ({ facts: { sentHash = '', computedHash = '' } }) => {
    const message = "The provided 'x-amz-content-sha256' header does not match what was computed.";
    const more = { ClientComputedContentSHA256: sentHash, S3ComputedContentSHA256: computedHash };
    return error(400, 'XAmzContentSHA256Mismatch', message, more);
  },
  'unknown-key': ({ facts: { accessKeyId = '' } }) => {
    const message = 'The AWS Access Key Id you provided does not exist in our records.';
    return error(403, 'InvalidAccessKeyId', message, { AWSAccessKeyId: accessKeyId });
  },
  'expired-key': () => error(400, 'ExpiredToken', 'The provided token has expired.'),
  signature: ({ facts }) => {
    const message =
      'The request signature we calculated does not match the signature you provided. Check your key and signing method.';
    return error(403, 'SignatureDoesNotMatch', message, signatureMembers(facts));
  },
  'date-behind': skewed,
  'date-ahead': skewed,
  'presigned-expired': ({ facts: { time = 0, expires = 0 }, now }) =>
    denied('Request has expired', {
      'X-Amz-Expires': expires,
      Expires: iso(time + expires * 1000),
      ServerTime: iso(now),
    }),
  // Amazon S3 accepts replays, so this wording is our own.
  replayed: () => denied('The signature of this request was used before.'),
};

function signatureMembers(facts: Facts): More {
  const { accessKeyId = '', signature = '', canonicalRequest = '', stringToSign = '' } = facts;
  return {
    AWSAccessKeyId: accessKeyId,
    StringToSign: stringToSign,
    SignatureProvided: signature,
    StringToSignBytes: hexadecimal(stringToSign),
    CanonicalRequest: canonicalRequest,
    CanonicalRequestBytes: hexadecimal(canonicalRequest),
  };
}

/** Returns octets as Amazon S3 shows them: two digits each, separated by spaces. */
function hexadecimal(octets: string): string {
  return bytesOf(octets)
    .toString('hex')
    .replace(/..(?=.)/g, '$& ');
}
