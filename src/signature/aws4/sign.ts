// Signs requests with AWS Signature Version 4.
import { createHmac } from 'node:crypto';
import { keyOf } from '../hmac-sha256.ts';
import { encodeOctets, octetsOf } from '../oauth1-parameters.ts';
import {
  aws4Algorithm,
  type CanonicalRequest,
  canonicalPath,
  canonicalQuery,
  canonicalText,
  canonicalValue,
  hashContent,
  type PathRules,
  signedHeadersOf,
  splitTarget,
  stringToSign,
} from './canonical-request.ts';
import { maxExpires, signatureParameter } from './credentials.ts';
import { formatStamp } from './date.ts';
import { deriveKey, type Scope, scopeText } from './signing-key.ts';

/** A request to sign. */
export interface Aws4Request {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  /** The field lines to sign. `Host` is required. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly content?: Uint8Array | undefined;
}

/** The options of a signature. */
export interface Aws4SignOptions extends PathRules {
  readonly accessKeyId: string;
  readonly secret: string;
  readonly region: string;
  readonly service: string;
  /** The time (ms since 1970-01-01T00:00:00Z). */
  readonly time: number;
  readonly sessionToken?: string | undefined;
  /** Whether the content is not signed. Default: false. */
  readonly unsignedPayload?: boolean;
}

/** A signature with the texts that it covers. */
export interface Aws4Signature {
  /** The field lines to add to the request; none for a presigned URL. */
  readonly fields: readonly [name: string, value: string][];
  /** The target to send: that of the request, or a presigned one. */
  readonly target: string;
  /** The parts of the canonical request. */
  readonly canonical: CanonicalRequest;
  readonly canonicalRequest: string;
  readonly stringToSign: string;
}

const unsigned = 'UNSIGNED-PAYLOAD';

/** Returns the path rules of a service. */
export function pathRulesOf(service: string): PathRules {
  const isS3 = service === 's3';
  return { normalizePath: !isS3, doubleEncode: !isS3 };
}

/**
 * Signs a request in header fields: `X-Amz-Date`, `X-Amz-Content-Sha256` and `Authorization`.
 * @throws RangeError if the secret is empty
 */
export function signAws4(request: Aws4Request, options: Aws4SignOptions): Aws4Signature {
  const stamp = formatStamp(options.time);
  const scope = scopeOf(stamp, options);
  const payloadHash = options.unsignedPayload === true ? unsigned : hashContent(request.content ?? none);
  const added: [string, string][] = [
    ['X-Amz-Date', stamp],
    ['X-Amz-Content-Sha256', payloadHash],
  ];
  if (options.sessionToken !== undefined) added.push(['X-Amz-Security-Token', options.sessionToken]);
  const { path, query } = splitTarget(request.target);
  const canonical: CanonicalRequest = {
    method: request.method,
    path: canonicalPath(path, options),
    query: canonicalQuery(query),
    headers: canonicalHeaders([...request.fields, ...added]),
    payloadHash,
  };
  const signed = signatureOf(canonical, stamp, scope, options.secret);
  const credential = `Credential=${octetsOf(options.accessKeyId)}/${scopeText(scope)}`;
  const authorization = `${aws4Algorithm} ${credential}, SignedHeaders=${signedHeadersOf(canonical)}, Signature=${signed.signature}`;
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
  const stamp = formatStamp(options.time);
  const scope = scopeOf(stamp, options);
  const headers = canonicalHeaders(request.fields);
  const { unsignedPayload = options.service === 's3' } = options;
  const parameters: [string, string][] = [
    ['X-Amz-Algorithm', aws4Algorithm],
    ['X-Amz-Credential', `${octetsOf(options.accessKeyId)}/${scopeText(scope)}`],
    ['X-Amz-Date', stamp],
    ['X-Amz-Expires', String(expires)],
    ['X-Amz-SignedHeaders', headers.map(([name]) => name).join(';')],
  ];
  if (unsignedPayload && options.service !== 's3') parameters.push(['X-Amz-Content-Sha256', unsigned]);
  if (options.sessionToken !== undefined) parameters.push(['X-Amz-Security-Token', options.sessionToken]);
  const added = parameters.map(([name, value]) => `${name}=${encodeOctets(value)}`).join('&');
  const target = request.target + (request.target.includes('?') ? '&' : '?') + added;
  const { path, query } = splitTarget(target);
  const canonical: CanonicalRequest = {
    method: request.method,
    path: canonicalPath(path, options),
    query: canonicalQuery(query),
    headers,
    payloadHash: unsignedPayload ? unsigned : hashContent(request.content ?? none),
  };
  const signed = signatureOf(canonical, stamp, scope, options.secret);
  return { ...signed, fields: [], target: `${target}&${signatureParameter}=${signed.signature}` };
}

const none = new Uint8Array(0);

function scopeOf(stamp: string, { region, service }: Aws4SignOptions): Scope {
  return { date: stamp.slice(0, 8), region, service };
}

/** Returns the headers sorted by name. Several lines of a name are joined by commas. */
function canonicalHeaders(fields: Aws4Request['fields']): [name: string, value: string][] {
  const headers = new Map<string, string>();
  for (const [sent, value] of fields) {
    const name = sent.toLowerCase();
    const before = headers.get(name);
    const canonical = canonicalValue(value);
    headers.set(name, before === undefined ? canonical : `${before},${canonical}`);
  }
  return [...headers].sort(([one], [other]) => (one < other ? -1 : 1));
}

function signatureOf(
  canonical: CanonicalRequest,
  stamp: string,
  scope: Scope,
  secret: string,
): Pick<Aws4Signature, 'canonical' | 'canonicalRequest' | 'stringToSign'> & { readonly signature: string } {
  const canonicalRequest = canonicalText(canonical);
  const text = stringToSign(stamp, scopeText(scope), canonicalRequest);
  const key = keyOf(secret).derive((bytes) => deriveKey(bytes, scope));
  const signature = createHmac('sha256', key).update(text, 'latin1').digest('hex');
  return { canonical, canonicalRequest, stringToSign: text, signature };
}
