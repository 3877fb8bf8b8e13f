import type { Response } from '../../http/message.ts';
import type { FetchRequest } from './fetch-request.ts';

/** Returns whether a status is that of a redirect (RFC 9110 §15.4; 300 and 304 are not). */
export function isRedirect(status: number): boolean {
  return redirects.has(status);
}

/** The maximum number of redirects that are followed (Fetch §4.5, HTTP-redirect fetch). */
const maxRedirects = 20;

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Fields that describe content. They are removed together with it (Fetch §4.5). */
const contentFields: ReadonlySet<string> = new Set([
  ...['content-encoding', 'content-language', 'content-location', 'content-type', 'content-length'],
]);

/** Fields that are not sent to another origin. */
const originFields: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie', 'host']);

/** A request in a sequence of redirects. */
export interface Hop {
  readonly outgoing: FetchRequest;
  /** The number of redirects before it. */
  readonly redirects: number;
  /** Whether one of these redirects led to another origin. */
  readonly crossed: boolean;
}

/**
 * Returns the request to which a redirect leads, as the platform's fetch creates it. Undefined if the response is to be
 * returned to the caller; so is a redirect to an origin that is not the double's (`isOwn`), since no other server is in
 * this process. Throws the same TypeErrors as the platform's fetch.
 */
export function nextHop(
  hop: Hop,
  { status, fields }: Pick<Response, 'status' | 'fields'>,
  isOwn: (origin: string) => boolean,
): Hop | undefined {
  const { outgoing } = hop;
  if (outgoing.redirect === 'manual') return undefined;
  if (outgoing.redirect === 'error') throw failed('unexpected redirect');
  const [, location] = fields.find(([name]) => name.toLowerCase() === 'location') ?? [];
  if (location === undefined) return undefined;
  const [from, to] = [new URL(outgoing.url), targetOf(location, outgoing.url)];
  if (hop.redirects === maxRedirects) throw failed(`more than ${maxRedirects} redirects`);
  if (to.origin !== from.origin && !isOwn(to.origin)) return undefined;
  to.hash = '';
  const crosses = to.origin !== from.origin;
  return {
    outgoing: { ...redirected(outgoing, status, crosses), url: to.href },
    redirects: hop.redirects + 1,
    crossed: hop.crossed || crosses,
  };
}

function targetOf(location: string, base: string): URL {
  if (!URL.canParse(location, base)) throw failed('the Location of a redirect is not a URL');
  const target = new URL(location, base);
  if (!/^https?:$/.test(target.protocol)) throw failed('the Location of a redirect is not an HTTP(S) URL');
  if (target.username !== '' || target.password !== '')
    throw failed('the Location of a redirect contains credentials');
  return target;
}

/**
 * Returns the request after a redirect: without content if the method becomes GET, and without `originFields` if the
 * redirect crosses origins.
 */
function redirected(outgoing: FetchRequest, status: number, crosses: boolean): FetchRequest {
  const { method, content } = outgoing;
  if (status !== 303 && content instanceof ReadableStream)
    throw failed('streamed content cannot be sent again after a redirect');
  const remaining = crosses ? without(outgoing, originFields) : outgoing;
  const becomesGet =
    status === 303 ? method !== 'GET' && method !== 'HEAD' : status < 303 && method === 'POST';
  return becomesGet ? { ...without(remaining, contentFields), method: 'GET', content: undefined } : remaining;
}

function without(outgoing: FetchRequest, names: ReadonlySet<string>): FetchRequest {
  return { ...outgoing, fields: outgoing.fields.filter(([name]) => !names.has(name.toLowerCase())) };
}

function failed(why: string): TypeError {
  return new TypeError('fetch failed', { cause: new Error(why) });
}
