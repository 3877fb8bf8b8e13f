import { fetchFailed, maxRedirects, redirectRequest, resolveRedirect } from '../../client/redirect.ts';
import type { Response } from '../../http/message.ts';
import type { FetchRequest } from './fetch-request.ts';

/** A request in a sequence of redirects. */
export interface Hop {
  readonly outgoing: FetchRequest;
  /** The number of redirects before it. */
  readonly redirects: number;
  /** Whether one of these redirects led to another origin. */
  readonly crossed: boolean;
}

/**
 * Returns the request to which a redirect leads, as the platform's fetch creates it, but without `Authentication` if it leads
 * to another origin. Undefined if the response is to be returned to the caller; so is a redirect to an origin that is not the
 * double's (`isOwn`), since no other server is in this process. Throws the same TypeErrors as the platform's fetch.
 */
export function nextHop(
  hop: Hop,
  { status, headers: fields }: Pick<Response, 'status' | 'headers'>,
  isOwn: (origin: string) => boolean,
): Hop | undefined {
  const { outgoing } = hop;
  if (outgoing.redirect === 'manual') return undefined;
  if (outgoing.redirect === 'error') throw fetchFailed('unexpected redirect');
  const [, location] = fields.find(([name]) => name.toLowerCase() === 'location') ?? [];
  if (location === undefined) return undefined;
  const { origin } = new URL(outgoing.url);
  const to = resolveRedirect(location, outgoing.url);
  if (hop.redirects === maxRedirects) throw fetchFailed(`more than ${maxRedirects} redirects`);
  const crosses = to.origin !== origin;
  if (crosses && !isOwn(to.origin)) return undefined;
  return {
    outgoing: redirectRequest(outgoing, status, to),
    redirects: hop.redirects + 1,
    crossed: hop.crossed || crosses,
  };
}
