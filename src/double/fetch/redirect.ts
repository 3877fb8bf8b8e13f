import type { Response } from '../../http/message.ts';
import type { FetchRequest } from './fetch-request.ts';

/** Whether a status asks for another request (RFC 9110 §15.4; 300 and 304 do not). */
export function isRedirect(status: number): boolean {
  return redirects.has(status);
}

/** Redirects that are followed at most (Fetch §4.5, HTTP-redirect fetch). */
const mostRedirects = 20;

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Fields that describe content, which are dropped with it (Fetch §4.5). */
const ofContent: ReadonlySet<string> = new Set([
  ...['content-encoding', 'content-language', 'content-location', 'content-type', 'content-length'],
]);

/** Fields that are not sent on to another origin. */
const ofOrigin: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie', 'host']);

/** A request on its way. */
export interface Hop {
  readonly outgoing: FetchRequest;
  /** How many redirects led to it. */
  readonly redirects: number;
  /** Whether another origin lay on the way. */
  readonly crossed: boolean;
}

/**
 * The request that a redirect in reply to `hop` leads to, as the platform's fetch makes it; undefined where the reply is the
 * answer. One that leads to an origin that is not `here` is the answer, too: nobody else is in this process. Throws the
 * TypeError that the platform's fetch throws.
 */
export function nextHop(
  hop: Hop,
  { status, fields }: Pick<Response, 'status' | 'fields'>,
  here: (origin: string) => boolean,
): Hop | undefined {
  const { outgoing } = hop;
  if (outgoing.redirect === 'manual') return undefined;
  if (outgoing.redirect === 'error') throw failed('a redirect came, which was to be an error');
  const [, location] = fields.find(([name]) => name.toLowerCase() === 'location') ?? [];
  if (location === undefined) return undefined;
  const [from, to] = [new URL(outgoing.url), targetOf(location, outgoing.url)];
  if (hop.redirects === mostRedirects) throw failed(`more than ${mostRedirects} redirects came`);
  if (to.origin !== from.origin && !here(to.origin)) return undefined;
  to.hash = '';
  const crosses = to.origin !== from.origin;
  return {
    outgoing: { ...redirected(outgoing, status, crosses), url: to.href },
    redirects: hop.redirects + 1,
    crossed: hop.crossed || crosses,
  };
}

function targetOf(location: string, base: string): URL {
  if (!URL.canParse(location, base)) throw failed('a redirect came whose Location is no URL');
  const target = new URL(location, base);
  if (!/^https?:$/.test(target.protocol))
    throw failed('a redirect came that leads to something else than HTTP');
  if (target.username !== '' || target.password !== '')
    throw failed('a redirect came whose Location has credentials');
  return target;
}

/** The request after a redirect: without its content where the method becomes GET, and without `ofOrigin` on another origin. */
function redirected(outgoing: FetchRequest, status: number, crosses: boolean): FetchRequest {
  const { method, content } = outgoing;
  if (status !== 303 && content instanceof ReadableStream)
    throw failed('a redirect came for content that cannot be sent again');
  const kept = crosses ? without(outgoing, ofOrigin) : outgoing;
  const asksOnly = status === 303 ? method !== 'GET' && method !== 'HEAD' : status < 303 && method === 'POST';
  return asksOnly ? { ...without(kept, ofContent), method: 'GET', content: undefined } : kept;
}

function without(outgoing: FetchRequest, names: ReadonlySet<string>): FetchRequest {
  return { ...outgoing, fields: outgoing.fields.filter(([name]) => !names.has(name.toLowerCase())) };
}

function failed(why: string): TypeError {
  return new TypeError('fetch failed', { cause: new Error(why) });
}
