// Signs requests with AWS Signature Version 4.

import { toOctets } from '../../http/syntax/octets.ts';
import { encodeOctets } from '../../http/syntax/percent.ts';
import { splitTarget } from '../../http/target.ts';
import { encodeSecret, hmacSha256 } from '../hmac-sha256.ts';
import type { Aws4Overrides, Signature, UnsignedRequest } from '../signing.ts';
import {
  type Aws4Message,
  aws4Algorithm,
  type CanonicalHeader,
  canonicalPath,
  canonicalQuery,
  canonicalValue,
  formatCanonicalRequest,
  formatStringToSign,
  hashContent,
  messageParts,
  type PathRules,
} from './canonical-request.ts';
import { maxExpires, signatureParameter } from './credentials.ts';
import { deriveKey, formatStamp, prepareSecret, scopeEnd } from './signing-key.ts';

/** A request to sign. All fields are signed, of which `Host` is required. */
type Aws4Request = Omit<UnsignedRequest, 'url'>;

/** The options of a signature. */
export interface Aws4SignOptions extends PathRules, Aws4Overrides {
  readonly accessKeyId: string;
  readonly secret: string;
  readonly region: string;
  readonly service: string;
  /** The time (ms since 1970-01-01T00:00:00Z). */
  readonly time: number;
  readonly sessionToken?: string | undefined;
}

/** A signature with the texts that it covers. */
export interface Aws4Signature extends Signature {
  readonly canonicalRequest: string;
  readonly stringToSign: string;
}

const unsigned = 'UNSIGNED-PAYLOAD';

/** Returns the path rules of a service. */
export function selectPathRules(service: string): PathRules {
  const isS3 = service === 's3';
  return { normalizePath: !isS3, doubleEncode: !isS3, plusInPath: isS3 ? 'space' : 'plus' };
}

/**
 * Signs a request in header fields: `X-Amz-Date`, `X-Amz-Content-Sha256` and `Authorization`.
 * @throws RangeError if the secret is empty
 */
export function signAws4(request: Aws4Request, options: Aws4SignOptions): Aws4Signature {
  const { sessionToken, accessKeyId, unsignedPayload = false } = options;
  const stamp = formatStamp(options.time);
  const { payloadHash = unsignedPayload ? unsigned : hashContent(request.content ?? none) } = options;
  const added: [string, string][] = [
    ['X-Amz-Date', stamp],
    ['X-Amz-Content-Sha256', payloadHash],
  ];
  if (sessionToken !== undefined) added.push(['X-Amz-Security-Token', sessionToken]);
  const headers = canonicalHeaders([...request.fields, ...added], options.signedHeaders);
  const { path, query } = splitTarget(request.target);
  const message = buildMessage(options, {
    method: request.method,
    path: canonicalPath(path, options),
    query: canonicalQuery(query),
    headers,
    payloadHash,
    stamp,
  });
  const signed = computeSignature(message, options);
  const credential = `Credential=${toOctets(accessKeyId)}/${message.scope}`;
  const names = message.signedHeaders.join(';');
  const authorization = `${aws4Algorithm} ${credential}, SignedHeaders=${names}, Signature=${signed.signature}`;
  return { ...signed, fields: [...added, ['Authorization', authorization]], target: request.target };
}

/**
 * Presigns a URL. For Amazon S3 the content is not signed; for other services it is.
 *
 * @param expires The lifetime in seconds, from 1 to 604,800.
 */
export function presignAws4(request: Aws4Request, options: Aws4SignOptions, expires: number): Aws4Signature {
  if (!(Number.isInteger(expires) && expires >= 1 && expires <= maxExpires))
    throw new RangeError(`expires must be a number of seconds from 1 to ${maxExpires}`);
  const { sessionToken, accessKeyId, service } = options;
  const stamp = formatStamp(options.time);
  const headers = canonicalHeaders(request.fields, options.signedHeaders);
  const { unsignedPayload = service === 's3', algorithm = aws4Algorithm } = options;
  const parameters: [string, string][] = [
    ['X-Amz-Algorithm', algorithm],
    ['X-Amz-Credential', `${toOctets(accessKeyId)}/${buildScope(stamp, options)}`],
    ['X-Amz-Date', stamp],
    ['X-Amz-Expires', options.expires ?? String(expires)],
    ['X-Amz-SignedHeaders', headers.map(([name]) => name).join(';')],
  ];
  if (unsignedPayload && service !== 's3') parameters.push(['X-Amz-Content-Sha256', unsigned]);
  if (sessionToken !== undefined) parameters.push(['X-Amz-Security-Token', sessionToken]);
  const added = parameters.map(([name, value]) => `${name}=${encodeOctets(value)}`).join('&');
  const target = request.target + (request.target.includes('?') ? '&' : '?') + added;
  const { path, query } = splitTarget(target);
  const message = buildMessage(options, {
    method: request.method,
    path: canonicalPath(path, options),
    query: canonicalQuery(query),
    headers,
    payloadHash: unsignedPayload ? unsigned : hashContent(request.content ?? none),
    stamp,
  });
  const signed = computeSignature(message, options);
  return { ...signed, fields: [], target: `${target}&${signatureParameter}=${signed.signature}` };
}

const none = new Uint8Array(0);

function buildScope(stamp: string, { region, service, scope }: Aws4SignOptions): string {
  const own = { date: stamp.slice(0, 8), region, service, end: scopeEnd };
  const { date, end, ...names } = { ...own, ...scope };
  return `${date}/${names.region}/${names.service}/${end}`;
}

function buildMessage(
  options: Aws4SignOptions,
  parts: Omit<Aws4Message, 'signedHeaders' | 'scope'>,
): Aws4Message {
  const signedHeaders = parts.headers.map(([name]) => name);
  return { ...parts, signedHeaders, scope: buildScope(parts.stamp, options) };
}

/** Returns the headers sorted by name, or those of the given names. Several lines of a name are joined by commas. */
function canonicalHeaders(fields: Aws4Request['fields'], names?: readonly string[]): CanonicalHeader[] {
  const headers = new Map<string, string>();
  for (const [sent, value] of fields) {
    const name = sent.toLowerCase();
    const before = headers.get(name);
    const canonical = canonicalValue(value);
    headers.set(name, before === undefined ? canonical : `${before},${canonical}`);
  }
  if (names !== undefined) return names.map((name) => [name, headers.get(name) ?? '']);
  return [...headers].sort(([one], [other]) => (one < other ? -1 : 1));
}

function computeSignature(
  message: Aws4Message,
  { secret, region, service, scope, keyScope = scope }: Aws4SignOptions,
): Pick<Aws4Signature, 'parts' | 'canonicalRequest' | 'stringToSign'> & { readonly signature: string } {
  const own = { date: message.stamp.slice(0, 8), region, service };
  const key = deriveKey(prepareSecret(encodeSecret(secret)), { ...own, ...keyScope });
  const parts = messageParts(message);
  const text = formatStringToSign(parts);
  const signature = hmacSha256(key, text).toString('hex');
  return { parts, canonicalRequest: formatCanonicalRequest(parts), stringToSign: text, signature };
}
