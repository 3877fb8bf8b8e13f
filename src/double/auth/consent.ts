import type { Fetch } from '../../service/fetch/fetch.ts';
import { DoubleError } from '../error.ts';

/** A user's decision on the consent page. */
export interface Approval {
  /** The name of the user, who signs in with the password. */
  readonly user: string;
  /** The decision. Default: `allow`. */
  readonly decision?: 'allow' | 'deny';
}

/**
 * Requests the consent page at `url` and submits the decision, as a user's browser does. Resolves to the URL to which the
 * server redirects the browser, with the code, the verifier or the error. With the callback `oob`, the server shows the
 * verifier on a page instead; then resolves to `oob:?` and the parameters of that page. Rejects with DoubleError (`unavailable`), which contains
 * the server's response, if there is no consent page.
 */
export async function approveConsent(
  fetch: Fetch,
  url: string,
  authorization: string,
  decision: 'allow' | 'deny',
): Promise<string> {
  const headers = { Authorization: authorization, Accept: 'application/json' };
  const common = { headers, secure: true, redirect: 'manual' } as const;
  const page = await fetch(url, common);
  if (page.status === 303) return readLocation(page);
  const ticket = await ticketIn(page);
  const body = new URLSearchParams({ consent_ticket: ticket, decision });
  const endpoint = page.url.replace(/[?#].*$/s, '');
  const answer = await fetch(endpoint, { ...common, method: 'POST', body });
  return answer.status === 200 ? `oob:?${await readShownParameters(answer)}` : readLocation(answer);
}

/** Returns the members of the page after a decision without a redirect (RFC 5849 §2.2) as the parameters of a callback. */
async function readShownParameters(page: Response): Promise<URLSearchParams> {
  const content: unknown = await page.json();
  const members = Object.entries(typeof content === 'object' && content !== null ? content : {});
  return new URLSearchParams(members.map(([name, value]): [string, string] => [name, String(value)]));
}

async function ticketIn(response: Response): Promise<string> {
  const text = await response.text();
  const content: unknown = response.status === 200 ? JSON.parse(text) : undefined;
  if (typeof content === 'object' && content !== null && 'consent_ticket' in content) {
    const { consent_ticket: ticket } = content;
    if (typeof ticket === 'string') return ticket;
  }
  throw new DoubleError('unavailable', `the server sent no consent page, but ${response.status} ${text}`);
}

function readLocation(response: Response): string {
  const location = response.headers.get('location');
  if (location !== null) return location;
  throw new DoubleError('unavailable', `the server sent no redirect, but ${response.status}`);
}
