// Signs requests with AWS Signature Version 4.

import { encodeSecret, hmacSha256 } from '../../hmac-sha256.ts';
import { toOctets } from '../../http/syntax/octets.ts';
import { encodeOctets } from '../../http/syntax/percent.ts';
import { splitTarget } from '../../http/target.ts';
import type { NamedPart } from '../message.ts';
import type { Aws4Overrides, Signature, UnsignedRequest } from '../signing.ts';
import {
  type Aws4Message,
  aws4Algorithm,
  type CanonicalHeader,
  canonicalPath,
  canonicalQuery,
  canonicalValue,
  formatStringToSign,
  hashContent,
  joinPairs,
  messageParts,
  type PathRules,
  unsignedPayload,
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

/**
 * Signs a request in header fields: `X-Amz-Date`, `X-Amz-Content-Sha256` and `Authorization`.
 * @throws RangeError if the secret is empty
 */
export function signAws4(request: Aws4Request, options: Aws4SignOptions): Signature {
  const { sessionToken, unsignedPayload: isUnsigned = false } = options;
  const stamp = formatStamp(options.time);
  const { payloadHash = hashPayload(request, isUnsigned) } = options;
  const added: [string, string][] = [
    ['X-Amz-Date', stamp],
    ['X-Amz-Content-Sha256', payloadHash],
  ];
  if (sessionToken !== undefined) added.push(['X-Amz-Security-Token', sessionToken]);
  const headers = canonicalHeaders([...request.fields, ...added], options.signedHeaders);
  const { signature, parts } = computeSignature(request, options, { headers, payloadHash, stamp });
  const names = headers.map(([name]) => name).join(';');
  const authorization = `${aws4Algorithm} Credential=${formatCredential(stamp, options)}, SignedHeaders=${names}, Signature=${signature}`;
  return { fields: [...added, ['Authorization', authorization]], target: request.target, parts };
}

/**
 * Presigns a URL. For Amazon S3 the content is not signed; for other services it is.
 *
 * @param expires The lifetime in seconds, from 1 to 604,800.
 */
export function presignAws4(request: Aws4Request, options: Aws4SignOptions, expires: number): Signature {
  if (!(Number.isInteger(expires) && expires >= 1 && expires <= maxExpires))
    throw new RangeError(`expires must be a number of seconds from 1 to ${maxExpires}`);
  const { sessionToken, service } = options;
  const stamp = formatStamp(options.time);
  const headers = canonicalHeaders(request.fields, options.signedHeaders);
  const { unsignedPayload: isUnsigned = service === 's3', algorithm = aws4Algorithm } = options;
  const payloadHash = hashPayload(request, isUnsigned);
  const parameters: [string, string][] = [
    ['X-Amz-Algorithm', algorithm],
    ['X-Amz-Credential', formatCredential(stamp, options)],
    ['X-Amz-Date', stamp],
    ['X-Amz-Expires', options.expires ?? String(expires)],
    ['X-Amz-SignedHeaders', headers.map(([name]) => name).join(';')],
  ];
  if (isUnsigned && service !== 's3') parameters.push(['X-Amz-Content-Sha256', payloadHash]);
  if (sessionToken !== undefined) parameters.push(['X-Amz-Security-Token', sessionToken]);
  const added = joinPairs(parameters.map(([name, value]) => [name, encodeOctets(value)]));
  const target = request.target + (request.target.includes('?') ? '&' : '?') + added;
  const { signature, parts } = computeSignature({ ...request, target }, options, {
    headers,
    payloadHash,
    stamp,
  });
  return { fields: [], target: `${target}&${signatureParameter}=${signature}`, parts };
}

function hashPayload({ content = new Uint8Array(0) }: Aws4Request, isUnsigned: boolean): string {
  return isUnsigned ? unsignedPayload : hashContent(content);
}

function formatCredential(stamp: string, options: Aws4SignOptions): string {
  return `${toOctets(options.accessKeyId)}/${buildScope(stamp, options)}`;
}

function buildScope(stamp: string, { region, service, scope }: Aws4SignOptions): string {
  const own = { date: stamp.slice(0, 8), region, service, end: scopeEnd };
  const { date, end, ...names } = { ...own, ...scope };
  return `${date}/${names.region}/${names.service}/${end}`;
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

/** Returns the signature, and the parts of the canonical request, with the string to sign in place of its own parts. */
function computeSignature(
  { method, target }: Aws4Request,
  options: Aws4SignOptions,
  signed: Pick<Aws4Message, 'headers' | 'payloadHash' | 'stamp'>,
): { readonly signature: string; readonly parts: readonly NamedPart[] } {
  const { secret, region, service, scope, keyScope = scope } = options;
  const { path, query } = splitTarget(target);
  const own = { date: signed.stamp.slice(0, 8), region, service };
  const key = deriveKey(prepareSecret(encodeSecret(secret)), { ...own, ...keyScope });
  const parts = messageParts({
    ...signed,
    method,
    path: canonicalPath(path, options),
    query: canonicalQuery(query),
    signedHeaders: signed.headers.map(([name]) => name),
    scope: buildScope(signed.stamp, options),
  });
  const text = formatStringToSign(parts);
  const canonical = parts.filter(({ name }) => name !== 'timestamp' && name !== 'scope');
  return {
    signature: hmacSha256(key, text).toString('hex'),
    parts: [...canonical, { name: 'string to sign', value: text }],
  };
}
