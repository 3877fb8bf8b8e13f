import type { KeyObject } from 'node:crypto';
import { randomBytes } from 'node:crypto';
import { readMembers } from '../auth/option-values.ts';
import { type Clock, systemClock } from '../clock.ts';
import { fetchTargetOf } from './fetch-target.ts';
import { createSchemeSigner } from './schemes/create-signer.ts';
import type { SchemeSigning } from './schemes/declarations.ts';
import { parsePrivateKey } from './schemes/private-key.ts';
import { readSigningDeclaration } from './schemes/read-declaration.ts';
import type { SchemeSigner, UnsignedRequest } from './schemes/scheme-signer.ts';

/** Header fields, by name or as a list of lines. `Headers` is one. */
export type HeaderFields =
  | Readonly<Record<string, string>>
  | Iterable<readonly [name: string, value: string]>;

/** The credentials of a declared scheme or an API key. */
export interface DeclaredCredentials {
  /** The user, or the id of a key. Required if the scheme sends it in a field. */
  readonly user?: string;
  readonly secret?: string;
  /** An Ed25519 key in place of the secret, for `standard-webhooks`: PEM (PKCS #8), or a key of node:crypto. */
  readonly privateKey?: string | KeyObject;
}

/** The request to sign, and the scheme to sign it with. */
export interface SchemeSignOptions extends DeclaredCredentials {
  readonly method: string;
  /** An absolute URL. Its path and query are signed as this platform's `fetch` sends them. */
  readonly url: string | URL;
  /** The request target, byte for byte, if the client sends another one than `fetch`. */
  readonly target?: string;
  /** The header fields that the request has already. Schemes sign some of them. */
  readonly headers?: HeaderFields;
  /** The content as sent. A string is sent as UTF-8. */
  readonly content?: string | Uint8Array;
  readonly scheme: SchemeSigning;
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
export interface SignedUrl {
  /** The URL, with the signature if the scheme has it in the query. */
  readonly url: string;
  /** The header fields to add. */
  readonly headers: Record<string, string>;
}

const names: readonly string[] = [
  ...['method', 'url', 'target', 'headers', 'content', 'scheme', 'user', 'secret', 'privateKey'],
  ...['nonce', 'id', 'clock', 'random'],
];

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
export function signUrl(options: SchemeSignOptions): SignedUrl {
  readMembers(options, 'options', names);
  const { method, headers = {}, content, clock = systemClock, random = randomBytes } = options;
  const url = new URL(options.url);
  const request: UnsignedRequest = {
    ...{ method, url, target: options.target ?? fetchTargetOf(url), fields: fieldLines(headers) },
    content: content === undefined ? undefined : Buffer.from(content),
  };
  const signed = signerOf(options, url)(request, { now: clock.now(), random });
  return { url: url.origin + signed.target, headers: Object.fromEntries(signed.fields) };
}

/**
 * Returns the header fields that sign a request.
 * @throws RangeError like `signUrl`, and if the scheme changes the query
 */
export function signatureHeaders(options: SchemeSignOptions): Record<string, string> {
  const { url, headers } = signUrl(options);
  const target = options.target ?? fetchTargetOf(options.url);
  if (url === new URL(options.url).origin + target) return headers;
  throw new RangeError('the scheme changes the query of the URL; use signUrl, which returns the URL');
}

function signerOf({ scheme: declared, ...options }: SchemeSignOptions, url: URL): SchemeSigner {
  const { user, secret, privateKey: source, nonce, id } = options;
  const { scheme, credentials, choices } = readSigningDeclaration(declared, user);
  const isKeyInside = scheme.kind === 'aws4' || scheme.kind === 'message-signatures';
  for (const name of ['user', 'secret', 'privateKey'] as const)
    if (isKeyInside && options[name] !== undefined)
      throw new RangeError(`options.${name}: the scheme ${scheme.name} has its own credentials`);
  if (scheme.kind === 'api-key' && url.protocol !== 'https:' && !isLoopback(url))
    throw new RangeError('an API key is sent over HTTPS only');
  const privateKey = source === undefined ? undefined : parsePrivateKey(source, 'options.privateKey');
  const given = { user, secret, privateKey };
  return createSchemeSigner(scheme, { ...given, ...credentials }, { nonce, id, ...choices });
}

/** Returns whether requests stay on this host. */
function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.[\d.]+$/.test(hostname);
}

/** Returns fields as lines. */
export function fieldLines(fields: HeaderFields): (readonly [name: string, value: string])[] {
  return isLines(fields) ? Array.from(fields) : Object.entries(fields);
}

function isLines(fields: HeaderFields): fields is Iterable<readonly [string, string]> {
  return Symbol.iterator in fields;
}
