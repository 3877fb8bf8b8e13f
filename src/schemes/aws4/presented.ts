// The credentials of a request with what they sign, as far as the header section shows it.

import type { KeyKind } from '../../accounts/keyring.ts';
import type { HttpHeaders } from '../../http/fields.ts';
import { parseDate } from '../../http/headers/date.ts';
import { hasContent, type IncomingRequest } from '../../http/message.ts';
import { splitTarget } from '../../http/target.ts';
import { describeTimeForm } from '../freshness.ts';
import { type Presented, sentence } from '../scheme.ts';
import { describeMalformed, digestForm } from '../signature-form.ts';
import {
  type CanonicalHeader,
  canonicalPath,
  canonicalQuery,
  canonicalValue,
  emptyHash,
  unsignedPayload,
} from './canonical-request.ts';
import { type Aws4Credentials, parseCredentials, signatureParameter } from './credentials.ts';
import type { AwsRefusal, Facts, Reason } from './errors/refusal.ts';
import type { Aws4Options } from './options.ts';
import { formatStamp, parseStamp } from './signing-key.ts';

/** The credentials of a request, and what they sign. */
export interface Aws4Presented extends Presented {
  readonly credentials: Aws4Credentials;
  readonly presigned: boolean;
  /** The time of the request as signed, and in ms. */
  readonly stamp: string;
  readonly time: number;
  readonly path: string;
  readonly query: string;
  readonly headers: readonly CanonicalHeader[];
  /** The payload hash, if the header section shows it; undefined if it must be computed from the content. */
  readonly payloadHash: string | undefined;
  readonly hasContent: boolean;
}

const kinds: readonly KeyKind[] = ['secret'];

/** Reads the credentials. Returns a refusal if they are malformed, or are not for this service. */
export function present(
  request: IncomingRequest,
  rest: string,
  options: Aws4Options,
  now: number,
): Aws4Presented | AwsRefusal {
  const { path, query } = splitTarget(request.target);
  const presigned = rest === '';
  const refuse = (reason: Reason, detail: string, facts: Partial<Facts> = {}): AwsRefusal => ({
    reason,
    detail,
    facts: { presigned, ...facts },
  });
  if (!presigned && query.includes(`${signatureParameter}=`))
    return refuse('malformed', `The signature is in Authorization and in ${signatureParameter}.`);
  const credentials = parseCredentials(rest, request.target, options.service);
  if (typeof credentials === 'string') return refuse('malformed', `${sentence(credentials)}.`);
  const fault = headerFault(request.headers, credentials, options) ?? scopeFault(credentials, options);
  const claimed = { accessKeyId: credentials.accessKeyId, signature: credentials.signature };
  if (fault !== undefined) return refuse(fault.reason, fault.detail, { ...claimed, ...fault.facts });
  const signedTime = readTime(request.headers, credentials, now);
  if (typeof signedTime === 'string') return refuse('malformed', signedTime, claimed);
  const payload = readPayloadHash(request, credentials, options);
  if ('reason' in payload) return { ...refuse(payload.reason, payload.detail, claimed), hint: payload.hint };
  const lifetime = credentials.presigned?.expires;
  return {
    request,
    user: credentials.accessKeyId,
    signatures: [Buffer.from(credentials.signature, 'hex').toString('base64')],
    kinds,
    needs: payload.payloadHash === undefined ? 'content' : undefined,
    nonce: undefined,
    credentials,
    presigned,
    stamp: signedTime.stamp,
    time: signedTime.time,
    sentTime: signedTime.stamp,
    expires: lifetime === undefined ? undefined : signedTime.time + lifetime * 1000,
    path: canonicalPath(path, options),
    query: canonicalQuery(query, presigned ? signatureParameter : undefined),
    headers: readSignedHeaders(request.headers, credentials.signedHeaders),
    payloadHash: payload.payloadHash,
    hasContent: payload.hasContent,
  };
}

type Fault = Pick<AwsRefusal, 'reason' | 'detail' | 'hint'> & { readonly facts?: Partial<Facts> };

const tokenHeader = 'x-amz-security-token';

/**
 * Returns a fault if a signed header is absent, or if a header is not signed that must be: `host` and all `x-amz-*`. Only Amazon
 * S3 requires that the session token is signed; for other services it may be added after signing.
 */
function headerFault(
  fields: HttpHeaders,
  { signedHeaders }: Aws4Credentials,
  { service }: Aws4Options,
): Fault | undefined {
  const absent = signedHeaders.find((name) => !fields.has(name));
  if (absent !== undefined) {
    const detail = `SignedHeaders contains ${absent}, which the request does not have.`;
    return { reason: 'malformed', detail };
  }
  const unsigned: string[] = [];
  for (let at = 0; at < fields.raw.length; at += 2) {
    const sent = fields.raw[at] ?? '';
    if (!isAmazonHeader(sent)) continue;
    const name = sent.toLowerCase();
    if (signedHeaders.includes(name) || (name === tokenHeader && service !== 's3')) continue;
    unsigned.push(name);
  }
  if (unsigned.length === 0) return undefined;
  const detail = `SignedHeaders must contain all X-Amz fields; ${unsigned.join(' and ')} is not signed.`;
  return { reason: 'headers-not-signed', detail, facts: { headers: unsigned } };
}

function isAmazonHeader(name: string): boolean {
  return (name.charCodeAt(0) | 0x20) === 0x78 && /^x-amz-/i.test(name);
}

function scopeFault({ scope }: Aws4Credentials, options: Aws4Options): Fault | undefined {
  const wrong = (['region', 'service'] as const).filter((part) => scope[part] !== options[part]);
  const [reason] = wrong;
  if (reason === undefined) return undefined;
  const named = wrong.map((part) => `the ${part} ${JSON.stringify(scope[part])}`);
  const expected = wrong.map((part) => JSON.stringify(options[part]));
  const detail = `The scope names ${named.join(' and ')}; ${expected.join(' and ')} ${wrong.length === 1 ? 'is' : 'are'} expected.`;
  return { reason, detail, facts: { scoped: scope[reason] } };
}

/** Returns the time of the request, or an error message. X-Amz-Date counts before Date. */
function readTime(
  fields: HttpHeaders,
  credentials: Aws4Credentials,
  now: number,
): { readonly stamp: string; readonly time: number } | string {
  const basic = credentials.presigned?.stamp ?? fields.get('x-amz-date');
  const date = basic ?? fields.get('date');
  if (date === undefined) return 'X-Amz-Date or Date is missing.';
  const parsed = parseStamp(date);
  const time = parsed ?? (basic === undefined ? parseDate(date, now) : undefined);
  if (time === undefined) {
    const form = describeTimeForm(date);
    return `X-Amz-Date must be a time in UTC like 20150830T123600Z${form === undefined ? '' : `; it is ${form}`}.`;
  }
  const stamp = parsed === undefined ? formatStamp(time) : date;
  if (!stamp.startsWith(credentials.scope.date))
    return `The date of the scope, ${credentials.scope.date}, is not the day of the request, ${stamp.slice(0, 8)}.`;
  return { stamp, time };
}

/** Returns the payload hash that the header section shows, or a fault. */
function readPayloadHash(
  request: IncomingRequest,
  credentials: Aws4Credentials,
  options: Aws4Options,
): Pick<Aws4Presented, 'payloadHash' | 'hasContent'> | Fault {
  const isSent = hasContent(request);
  const declared = readDeclaredHash(request.headers, credentials, options);
  if (declared === undefined) {
    if (options.service === 's3')
      return { reason: 'malformed', detail: 'X-Amz-Content-Sha256 is missing, which Amazon S3 requires.' };
    return { payloadHash: isSent ? undefined : emptyHash, hasContent: isSent };
  }
  if (declared.startsWith('STREAMING-')) {
    const detail = 'Content whose chunks are signed or unsigned one by one (STREAMING-…) is not supported.';
    const hint =
      'sign the whole content; in the AWS SDK, set requestChecksumCalculation to "WHEN_REQUIRED", and in the SDK for Java chunkedEncodingEnabled to false';
    return { reason: 'payload-streaming', detail, hint };
  }
  if (declared === unsignedPayload) {
    if (!isSent || options.unsignedPayload) return { payloadHash: declared, hasContent: isSent };
    return { reason: 'payload-unsigned', detail: 'The content must be signed; UNSIGNED-PAYLOAD is refused.' };
  }
  if (/^[0-9a-f]{64}$/.test(declared)) return { payloadHash: declared, hasContent: isSent };
  const detail = 'X-Amz-Content-Sha256 must be 64 hexadecimal digits in lower case, or UNSIGNED-PAYLOAD.';
  return { reason: 'malformed', detail, hint: describePayloadHash(declared) };
}

/** Returns the likely cause of a payload hash that is not 64 hexadecimal digits in lower case. */
function describePayloadHash(sent: string): string | undefined {
  if (/^unsigned[-_]?payload$/i.test(sent)) return `it must be written ${unsignedPayload}`;
  return /^[{[<]/.test(sent)
    ? 'it is the content itself'
    : describeMalformed(sent, digestForm('sha256', 'hex'));
}

/** A presigned URL of Amazon S3 does not sign the content, unless it says so. */
function readDeclaredHash(
  fields: HttpHeaders,
  credentials: Aws4Credentials,
  { service }: Aws4Options,
): string | undefined {
  const inField = fields.get('x-amz-content-sha256');
  const { presigned } = credentials;
  if (inField !== undefined || presigned === undefined) return inField;
  return presigned.payloadHash ?? (service === 's3' ? unsignedPayload : undefined);
}

/** Returns the signed headers with their canonical values. Several lines of a name are joined by commas. */
function readSignedHeaders(fields: HttpHeaders, names: readonly string[]): CanonicalHeader[] {
  return names.map((name) => [
    name,
    fields.repeated
      ? fields.getAll(name).map(canonicalValue).join(',')
      : canonicalValue(fields.get(name) ?? ''),
  ]);
}
