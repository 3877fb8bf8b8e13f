import { randomBytes } from 'node:crypto';
import { isDate } from 'node:util/types';
import { type Clock, type DateLike, systemClock } from '../clock.ts';
import { type RequestInput, requestInputNames, toLines } from '../http/field-lines.ts';
import { createSign } from '../schemes/auth-scheme.ts';
import { filledText } from '../schemes/scheme-shapes.ts';
import type { Sign, Signature } from '../schemes/signing.ts';
import { type Members, membersOf, read } from '../shape/shape.ts';
import { type Credentials, credentialNames, readCredentials } from './credentials.ts';
import { toFetchTarget } from './fetch-target.ts';

/** The request to sign, and the credentials to sign it with. */
export type SignRequestOptions = RequestInput &
  Credentials & {
    /** The request target, byte for byte, if the client sends another one than `fetch`. */
    readonly target?: string | undefined;
    /** The time of the signature. Default: the time of `clock`. For the scheme `hmac`, text other than an ISO 8601 date is sent as it is. */
    readonly date?: DateLike | undefined;
    /** The nonce, if the scheme has one; for `hmac` 1 to 128 characters out of `A-Z a-z 0-9 . _ ~ -`. Default: 128 random bits. */
    readonly nonce?: string | undefined;
    /** The id of the message, if the scheme has one. Default: `msg_` and 128 random bits. */
    readonly id?: string | undefined;
    /** Default: the system's clock. */
    readonly clock?: Pick<Clock, 'now'> | undefined;
    /** Returns `size` random bytes. Default: `randomBytes` of node:crypto. */
    readonly random?: ((size: number) => Uint8Array) | undefined;
  };

/** A signed request: what to send of it besides the method and the body. */
export interface SignedRequest {
  /** The URL, with the signature if the scheme has it in the query. */
  readonly url: string;
  /** The header fields to add. */
  readonly headers: Record<string, string>;
  /** The body to send, if the scheme has its signature in it. Default: that of the request. */
  readonly body?: Uint8Array | undefined;
}

/**
 * Signs a request with any scheme, by default with HMAC-SHA256. The path and query of the URL are signed as this platform's `fetch`
 * sends them, and the body as the scheme requires.
 *
 * @returns the header fields to send; for HMAC-SHA256 `Authentication`, `Date` or `X-Date`, and `Content-Digest` if there is a body
 * @throws RangeError as `signUrl`, and if the scheme changes the query or the body
 * @example
 * const headers = signRequest({ url: 'http://127.0.0.1:8080/articles/1', user: 'johndoe', secret });
 * const response = await fetch('http://127.0.0.1:8080/articles/1', { headers });
 * @example
 * const headers = signRequest({ method: 'POST', url, body, secret, scheme: { preset: 'stripe' } });
 */
export function signRequest(options: SignRequestOptions): Record<string, string> {
  const { target, signature } = sign(options);
  if (signature.content !== undefined)
    throw new RangeError('the scheme changes the body; use signUrl, which returns the body');
  if (signature.target !== target)
    throw new RangeError('the scheme changes the query of the URL; use signUrl, which returns the URL');
  return Object.fromEntries(signature.fields);
}

/**
 * Signs a request as `signRequest` does, also with a scheme that has its signature in the query, such as a presigned URL of AWS.
 *
 * @throws RangeError on an unknown or invalid option, with the nearest known name, if credentials are missing, if they would be sent
 *   in clear text to another host, or if the request cannot be signed; TypeError if the URL is not absolute
 * @example
 * const { url } = signUrl({
 *   url: 'https://bucket.example/report.pdf',
 *   scheme: { type: 'aws4', region: 'eu-central-1', service: 's3', accessKeyId, secret, presign: 300 },
 * });
 */
export function signUrl(options: SignRequestOptions): SignedRequest {
  const { url, signature } = sign(options);
  return toSignedRequest(url, signature);
}

/** The names of the members beside the credentials. The type checks that the list is complete. */
const requestNames: Readonly<Record<Exclude<keyof SignRequestOptions, 'scheme'>, true>> = {
  ...requestInputNames,
  target: true,
  date: true,
  nonce: true,
  id: true,
  clock: true,
  random: true,
};

const names: readonly string[] = [...Object.keys(requestNames), ...credentialNames];

function sign(options: SignRequestOptions): {
  readonly url: URL;
  readonly target: string;
  readonly signature: Signature;
} {
  const members = read(membersOf(names), options, ['options']);
  const { method = 'GET', headers = {}, body, clock = systemClock, random = randomBytes } = options;
  if (!URL.canParse(String(options.url))) throw new TypeError('options.url must be an absolute URL');
  const url = new URL(options.url);
  const target = options.target ?? toFetchTarget(url);
  const content = body === undefined ? undefined : Buffer.from(body);
  const request = { method, url, target, fields: toLines(headers), content };
  return { url, target, signature: chooseSign(members)(request, { now: clock.now(), random }) };
}

/**
 * Returns the function that signs with credentials, and with the date, nonce and id beside them.
 * @throws RangeError as `readCredentials`, and on a date, nonce or id that the scheme does not have
 */
export function chooseSign(members: Members): Sign {
  const { scheme, identity, choices } = readCredentials(members, 'options');
  const { date, nonce, id } = members;
  const isLiteral = scheme.choices.includes('date') && typeof date === 'string' && !isIsoDate.test(date);
  const time = date === undefined || isLiteral ? undefined : readTime(date);
  const given = {
    date: isLiteral ? date : undefined,
    nonce: readOptional(nonce, 'nonce'),
    id: readOptional(id, 'id'),
  };
  const sign = createSign(scheme, identity, { ...given, ...choices });
  const { sentSecret } = scheme;
  return (request, { now, random }) => {
    if (sentSecret !== undefined && request.url.protocol !== 'https:' && !isLoopback(request.url))
      throw new RangeError(`${sentSecret} is sent over HTTPS only`);
    return sign(request, { now: time ?? now, random });
  };
}

const isIsoDate = /^\d{4}-\d\d-\d\dT/;

/** Returns whether requests stay on this host. */
function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.[\d.]+$/.test(hostname);
}

function readTime(date: unknown): number {
  const time = typeof date === 'string' ? Date.parse(date) : isDate(date) ? date.getTime() : date;
  if (typeof time === 'number' && Number.isFinite(time)) return time;
  throw new RangeError("options.date must be a Date, ms since 1970 or text such as '2026-03-01T12:00:00Z'");
}

function readOptional(value: unknown, name: string): string | undefined {
  return value === undefined ? undefined : read(filledText, value, [`options.${name}`]);
}

/** Returns a signed request, with the URL that is sent. */
export function toSignedRequest(url: URL, { target, fields, content }: Signature): SignedRequest {
  return {
    url: url.origin + target,
    headers: Object.fromEntries(fields),
    ...(content !== undefined && { body: content }),
  };
}
