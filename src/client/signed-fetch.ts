import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import { anything, type Members, object, optional, read, type Shape } from '../shape/shape.ts';
import { type Credentials, credentialNames } from './credentials.ts';
import { toFetchTarget } from './fetch-target.ts';
import {
  fetchFailed,
  isRedirect,
  maxRedirects,
  type RedirectedRequest,
  redirectRequest,
  resolveRedirect,
} from './redirect.ts';
import { chooseSign, type SignedRequest, toSignedRequest } from './sign.ts';

/** The options of `fetch`, and the credentials to sign with. The body is text or bytes, so that it can be signed. */
export type SignedFetchInit = Omit<RequestInit, 'body'> &
  Credentials & {
    /** The content. Text is sent as UTF-8. */
    readonly body?: string | Uint8Array | undefined;
    /** Default: the system's clock. */
    readonly clock?: Pick<Clock, 'now'> | undefined;
  };

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
export async function signedFetch(url: string | URL, init: SignedFetchInit): Promise<Response> {
  const sign = createFetchSign(read(initShape, init, ['options']), init.clock ?? systemClock);
  const { body, redirect = 'follow', clock: _, ...others } = init;
  const first: Outgoing = {
    url: removeEmptyQuery(url),
    method: (init.method ?? 'GET').toUpperCase(),
    fields: [...new Headers(init.headers)],
    content: body,
  };
  const sent: RequestInit = { ...others };
  // A replaced fetch could log them.
  for (const name of credentialNames) Reflect.deleteProperty(sent, name);
  // fetch would send Authentication to any origin, so it must not follow redirects itself.
  if (redirect !== 'follow') return send(first, sign(first), { ...sent, redirect });
  return followRedirects(first, sign, { ...sent, redirect: 'manual' });
}

/** The names of the options of `fetch` that a misspelt one can mean. */
const initNames = [
  'method',
  'headers',
  'body',
  'redirect',
  'signal',
  'clock',
  'dispatcher',
  'duplex',
] as const;

/** The other names of the options of the platform's `fetch` (Fetch §5.4). */
const platformNames = [
  'credentials',
  'mode',
  'cache',
  'referrer',
  'referrerPolicy',
  'integrity',
  'keepalive',
  'priority',
  'window',
];

/** Describes the options. A misspelt one is refused; the platform ignores other unknown ones, too. */
const initShape: Shape<Members> = object(
  Object.fromEntries(
    [...initNames, ...platformNames, ...credentialNames].map((name) => [name, optional(anything)]),
  ),
  undefined,
  { ignoresOthers: true },
);

type Content = string | Uint8Array;

type FetchSign = (outgoing: Outgoing) => SignedRequest;

function createFetchSign(init: Members, clock: Pick<Clock, 'now'>): FetchSign {
  const credentials = Object.fromEntries(credentialNames.map((name) => [name, init[name]]));
  const sign = chooseSign(credentials);
  return ({ method, url: sent, fields, content: body }) => {
    const url = new URL(sent);
    const content = body === undefined ? undefined : Buffer.from(body);
    const request = { method, url, target: toFetchTarget(url), fields, content };
    return toSignedRequest(url, sign(request, { now: clock.now(), random: randomBytes }));
  };
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
    if (location === null) return redirects === 0 ? response : markRedirected(response, crossed);
    await response.body?.cancel();
    if (redirects === maxRedirects) throw fetchFailed(`more than ${maxRedirects} redirects`);
    const target = resolveRedirect(location, outgoing.url);
    crossed ||= target.origin !== new URL(outgoing.url).origin;
    const next = redirectRequest(outgoing, response.status, target);
    outgoing = { ...next, url: removeEmptyQuery(next.url) };
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
function markRedirected(response: Response, crossed: boolean): Response {
  const type = crossed ? { type: { value: 'cors' } } : {};
  return Object.defineProperties(response, { redirected: { value: true }, ...type });
}

/** Removes the fragment and the `?` of an empty query, which some releases of fetch send and others omit. */
function removeEmptyQuery(url: string | URL): string {
  const sent = new URL(url);
  sent.hash = '';
  if (sent.search === '') sent.search = '';
  return sent.href;
}
