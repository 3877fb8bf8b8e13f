import { type Clock, systemClock } from '../clock.ts';
import {
  fetchFailed,
  isRedirect,
  maxRedirects,
  type RedirectedRequest,
  redirectRequest,
  redirectUrlOf,
} from './redirect.ts';
import type { SigningScheme } from './schemes/declarations.ts';
import { type SchemeSignCredentials, type SignedRequest, signRequest, signUrl } from './sign.ts';

/** The options of `fetch`, and the user's credentials for the scheme `hmac`. Content is a string or bytes, so that its digest can be signed. */
export interface SignedFetchInit extends Omit<RequestInit, 'body'> {
  readonly user: string;
  readonly secret: string;
  /** The content. A string is sent as UTF-8. */
  readonly body?: string | Uint8Array;
  /** Default: `full`. */
  readonly form?: 'full' | 'simple';
  /** Default: the system's clock. */
  readonly clock?: Pick<Clock, 'now'>;
  /** Another scheme; see `SchemeFetchInit`. Default: the scheme `hmac`. */
  readonly scheme?: undefined;
}

/** The options of `fetch`, and the scheme to sign with. */
export interface SchemeFetchInit extends Omit<RequestInit, 'body'>, SchemeSignCredentials {
  /** The content. A string is sent as UTF-8. */
  readonly body?: string | Uint8Array;
  readonly scheme: SigningScheme;
  /** Default: the system's clock. */
  readonly clock?: Pick<Clock, 'now'>;
}

/**
 * Sends a request with the global `fetch`, signed as `signRequest` does. The `?` of an empty query is not sent. A redirect
 * within the origin is followed with a new signature. A request that is redirected to another origin has no signature and no
 * other credentials (`Authentication`, `Authorization`, `Cookie`), nor have the requests to which that one is redirected.
 *
 * @throws RangeError as `signRequest` does; otherwise rejects as `fetch` does
 * @example
 * const response = await signedFetch('http://127.0.0.1:8080/articles', {
 *   method: 'POST',
 *   headers: { 'Content-Type': 'application/json' },
 *   body: JSON.stringify({ title: 'Ink', price: { value: '2.50', currency: 'EUR' } }),
 *   user: 'johndoe',
 *   secret,
 * });
 */
export async function signedFetch(
  url: string | URL,
  init: SignedFetchInit | SchemeFetchInit,
): Promise<Response> {
  const { body, redirect = 'follow', ...others } = withoutCredentials(init);
  const sign = createFetchSign(init);
  const first: Outgoing = {
    url: withoutEmptyQuery(url),
    method: (init.method ?? 'GET').toUpperCase(),
    fields: [...new Headers(init.headers)],
    content: body,
  };
  // fetch would send Authentication to any origin, so it must not follow redirects itself.
  if (redirect !== 'follow') return send(first, sign(first), { ...others, redirect });
  return followRedirects(first, sign, { ...others, redirect: 'manual' });
}

/** Returns the options of `fetch` alone, because a replaced `fetch` could log them. */
function withoutCredentials(init: SignedFetchInit | SchemeFetchInit): RequestInit & { body?: Content } {
  if (init.scheme === undefined) {
    const { user: _, secret: __, form: ___, clock: ____, scheme: _____, ...others } = init;
    return others;
  }
  const {
    user: _,
    secret: __,
    privateKey: ___,
    passphrase: ____,
    clock: _____,
    scheme: ______,
    ...others
  } = init;
  return others;
}

type Content = string | Uint8Array;

type FetchSign = (outgoing: Outgoing) => SignedRequest;

function createFetchSign(init: SignedFetchInit | SchemeFetchInit): FetchSign {
  const { clock = systemClock } = init;
  if (init.scheme === undefined) {
    const { user, secret, form = 'full' } = init;
    return ({ method, url, content }) => {
      const options = { method, url, user, secret, form, clock };
      return { url, headers: signRequest({ ...options, ...(content !== undefined && { body: content }) }) };
    };
  }
  const { scheme, user, secret, privateKey, passphrase } = init;
  return ({ method, url, fields, content }) =>
    signUrl({
      method,
      url,
      headers: fields,
      scheme,
      clock,
      ...(user !== undefined && { user }),
      ...(secret !== undefined && { secret }),
      ...(privateKey !== undefined && { privateKey }),
      ...(passphrase !== undefined && { passphrase }),
      ...(content !== undefined && { body: content }),
    });
}

/** A request with all its content. */
interface Outgoing extends RedirectedRequest {
  readonly content: Content | undefined;
}

async function followRedirects(first: Outgoing, sign: FetchSign, init: RequestInit): Promise<Response> {
  let outgoing = first;
  let crossed = false;
  for (let redirects = 0; ; redirects += 1) {
    const signed = crossed ? { url: outgoing.url, headers: {} } : sign(outgoing);
    const response = await send(outgoing, signed, init);
    const location = isRedirect(response.status) ? response.headers.get('location') : null;
    if (location === null) return redirects === 0 ? response : afterRedirects(response, crossed);
    await response.body?.cancel();
    if (redirects === maxRedirects) throw fetchFailed(`more than ${maxRedirects} redirects`);
    const target = redirectUrlOf(location, outgoing.url);
    crossed ||= target.origin !== new URL(outgoing.url).origin;
    const next = redirectRequest(outgoing, response.status, target);
    outgoing = { ...next, url: withoutEmptyQuery(next.url) };
  }
}

function send(outgoing: Outgoing, signed: SignedRequest, init: RequestInit): Promise<Response> {
  const { method } = outgoing;
  const content = signed.body ?? outgoing.content;
  const headers = new Headers(outgoing.fields);
  for (const [name, value] of Object.entries(signed.headers)) headers.set(name, value);
  // A Blob without a type, since fetch would set the Content-Type of a string.
  const body = content === undefined ? {} : { body: new Blob([content]) };
  return fetch(signed.url, { ...init, method, headers, ...body });
}

/** Sets the properties that fetch sets if it follows redirects itself. */
function afterRedirects(response: Response, crossed: boolean): Response {
  const type = crossed ? { type: { value: 'cors' } } : {};
  return Object.defineProperties(response, { redirected: { value: true }, ...type });
}

/** Removes the fragment and the `?` of an empty query, which some releases of fetch send and others omit. */
function withoutEmptyQuery(url: string | URL): string {
  const sent = new URL(url);
  sent.hash = '';
  if (sent.search === '') sent.search = '';
  return sent.href;
}
