import type { KeyObject } from 'node:crypto';
import { randomBytes } from 'node:crypto';
import { readMembers } from '../auth/option-values.ts';
import { type Clock, systemClock } from '../clock.ts';
import { type HeadersInput, linesOf } from '../http/field-lines.ts';
import type { UnsignedRequest } from '../signature/signing.ts';
import { fetchTargetOf } from './fetch-target.ts';
import type { SigningScheme } from './schemes/declarations.ts';
import { parsePrivateKey } from './schemes/private-key.ts';
import { readSigningDeclaration } from './schemes/read-declaration.ts';
import { createSign, type Sign } from './schemes/signer.ts';

/** The request to sign, and what to sign it with. */
export interface SignOptions {
  /** `GET`, `PUT`, …; case-sensitive. */
  readonly method: string;
  /** An absolute URL. Its path and query are signed as this platform's `fetch` sends them. */
  readonly url: string | URL;
  /** The request target, byte for byte, if the client sends another one than `fetch`. */
  readonly target?: string;
  readonly user: string;
  readonly secret: string;
  /** `full` has a date and a nonce, so it can be used once; `simple` has neither and can be replayed. Default: `full`. */
  readonly form?: 'full' | 'simple';
  /** The value of the date field. Default: the time of `clock`. */
  readonly date?: string;
  /** The field for the date: `X-Date` if the client cannot set `Date`, as in a browser. Default: `Date`. */
  readonly dateField?: 'Date' | 'X-Date';
  /** 1 to 128 characters out of `A-Z a-z 0-9 . _ ~ -`. Default: 128 random bits. */
  readonly nonce?: string;
  /** The content as sent. Its digest is signed and returned as Content-Digest (RFC 9530). A string is sent as UTF-8. */
  readonly body?: string | Uint8Array;
  /** Default: the system's clock. */
  readonly clock?: Pick<Clock, 'now'>;
  /** Returns `size` random bytes. Default: `randomBytes` of node:crypto. */
  readonly random?: (size: number) => Uint8Array;
  /** Another scheme; see `SchemeSignOptions`. Default: the scheme `hmac`. */
  readonly scheme?: undefined;
}

/** The credentials of a declared scheme or an API key. */
export interface SchemeSignCredentials {
  /** The user, or the id of a key. Required if the scheme sends it in a field. */
  readonly user?: string;
  readonly secret?: string;
  /**
   * The private key of a scheme that has one, or an Ed25519 key in place of the secret, for `standard-webhooks`: PEM (PKCS #8), or a
   * key of node:crypto.
   */
  readonly privateKey?: string | KeyObject;
  /** The passphrase of the key, if the scheme sends one. */
  readonly passphrase?: string;
}

/** The request to sign, and the scheme to sign it with. */
export interface SchemeSignOptions extends SchemeSignCredentials {
  readonly method: string;
  /** An absolute URL. Its path and query are signed as this platform's `fetch` sends them. */
  readonly url: string | URL;
  /** The request target, byte for byte, if the client sends another one than `fetch`. */
  readonly target?: string;
  /** The header fields that the request has already. Schemes sign some of them. */
  readonly headers?: HeadersInput;
  /** The content as sent. A string is sent as UTF-8. */
  readonly body?: string | Uint8Array;
  readonly scheme: SigningScheme;
  /** The nonce, if the scheme has one. Default: 128 random bits. */
  readonly nonce?: string;
  /** The id of the message, if the scheme has one. Default: `msg_` and 128 random bits. */
  readonly id?: string;
  /** Default: the system's clock. */
  readonly clock?: Pick<Clock, 'now'>;
  /** Returns `size` random bytes. Default: `randomBytes` of node:crypto. */
  readonly random?: (size: number) => Uint8Array;
}

/** A signed request: what to send of it besides the method and the content. */
export interface SignedRequest {
  /** The URL, with the signature if the scheme has it in the query. */
  readonly url: string;
  /** The header fields to add. */
  readonly headers: Record<string, string>;
  /** The content to send, if the scheme has its signature in it. Default: that of the request. */
  readonly body?: Uint8Array;
}

/**
 * Signs a request: with HMAC-SHA256, or with the scheme of another service if `scheme` is present.
 *
 * @returns the header fields to send; for HMAC-SHA256 `Authentication`, `Date` or `X-Date`, and `Content-Digest` if there is
 *   content
 * @throws RangeError on an empty secret, a user or nonce that cannot be sent, or a target that the simple form cannot sign; with
 *   `scheme` like `signUrl`, and if the scheme changes the query
 * @example
 * const headers = signRequest({ method: 'GET', url: 'http://127.0.0.1:8080/articles/1', user: 'johndoe', secret });
 * const response = await fetch('http://127.0.0.1:8080/articles/1', { headers });
 * @example
 * const headers = signRequest({ method: 'POST', url, content, secret, scheme: { preset: 'stripe' } });
 */
export function signRequest(options: SignOptions | SchemeSignOptions): Record<string, string> {
  if (options.scheme === undefined) return signByHmac(options);
  const { url, headers, body: content } = signUrl(options);
  if (content !== undefined)
    throw new RangeError('the scheme changes the content; use signUrl, which returns the content');
  const target = options.target ?? fetchTargetOf(options.url);
  if (url === new URL(options.url).origin + target) return headers;
  throw new RangeError('the scheme changes the query of the URL; use signUrl, which returns the URL');
}

/**
 * Signs a request with any scheme, also one that has its signature in the query, such as a presigned URL of AWS.
 *
 * @throws RangeError on an unknown or invalid option, with the nearest known name, or if the request cannot be signed
 * @example
 * const { url } = signUrl({
 *   method: 'GET',
 *   url: 'https://bucket.example/report.pdf',
 *   scheme: { type: 'aws4', region: 'eu-central-1', service: 's3', accessKeyId, secret, presign: 300 },
 * });
 */
export function signUrl(options: SchemeSignOptions): SignedRequest {
  readMembers(options, 'options', names);
  const url = new URL(options.url);
  return signBy(chooseSign(options, url), options, url, linesOf(options.headers ?? {}));
}

const names: readonly (keyof SchemeSignOptions)[] = [
  'method',
  'url',
  'target',
  'headers',
  'body',
  'scheme',
  'user',
  'secret',
  'privateKey',
  'passphrase',
  'nonce',
  'id',
  'clock',
  'random',
];

function signByHmac(options: SignOptions): Record<string, string> {
  const { user, secret, form, dateField, date, nonce } = options;
  const scheme = { kind: 'hmac', name: 'hmac', options: { form, dateField } } as const;
  const choices = form === 'simple' ? {} : { date, nonce };
  const sign = createSign(scheme, { user, secret }, choices);
  return signBy(sign, options, new URL(options.url), []).headers;
}

function signBy(
  sign: Sign,
  {
    method,
    target,
    body: content,
    clock = systemClock,
    random = randomBytes,
  }: SignOptions | SchemeSignOptions,
  url: URL,
  fields: UnsignedRequest['fields'],
): SignedRequest {
  const bytes = content === undefined ? undefined : Buffer.from(content);
  const request = { method, url, target: target ?? fetchTargetOf(url), fields, content: bytes };
  const signed = sign(request, { now: clock.now(), random });
  return {
    url: url.origin + signed.target,
    headers: Object.fromEntries(signed.fields),
    ...(signed.content !== undefined && { body: signed.content }),
  };
}

function chooseSign({ scheme: declared, ...options }: SchemeSignOptions, url: URL): Sign {
  const { user, secret, passphrase, nonce, id } = options;
  const { scheme, identity, choices } = readSigningDeclaration(declared, user);
  const isKeyInside = scheme.kind === 'aws4' || scheme.kind === 'message-signatures';
  for (const name of ['user', 'secret', 'privateKey', 'passphrase'] as const)
    if (isKeyInside && options[name] !== undefined)
      throw new RangeError(`options.${name}: the scheme ${scheme.name} has its own credentials`);
  if (scheme.kind === 'api-key' && url.protocol !== 'https:' && !isLoopback(url))
    throw new RangeError('an API key is sent over HTTPS only');
  const privateKey =
    options.privateKey === undefined ? undefined : parsePrivateKey(options.privateKey, 'options.privateKey');
  const credentials = { user, secret, passphrase, privateKey, ...identity };
  return createSign(scheme, credentials, { nonce, id, ...choices });
}

/** Returns whether requests stay on this host. */
function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.[\d.]+$/.test(hostname);
}
