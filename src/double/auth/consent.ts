import type { Fetch } from '../fetch/fetch.ts';

/** Who decides, and how. */
export interface Approval {
  readonly user: string;
  /** `allow` when left out. */
  readonly decision?: 'allow' | 'deny';
}

/**
 * Does what a user does in a browser: asks for the consent page at `url`, and answers it. Gives where the client's browser
 * is sent to, with the code or the verifier or the error. Rejects with an Error that says what the server said instead.
 */
export async function approveConsent(
  fetch: Fetch,
  url: string,
  authorization: string,
  decision: 'allow' | 'deny',
): Promise<string> {
  const headers = { Authorization: authorization, Accept: 'application/json' };
  const asking = { headers, secure: true, redirect: 'manual' } as const;
  const shown = await fetch(url, asking);
  if (shown.status === 303) return locationOf(shown);
  const { consent_ticket: ticket } = await questionIn(shown);
  const body = new URLSearchParams({ consent_ticket: ticket, decision });
  const endpoint = shown.url.replace(/[?#].*$/s, '');
  return locationOf(await fetch(endpoint, { ...asking, method: 'POST', body }));
}

async function questionIn(response: Response): Promise<{ readonly consent_ticket: string }> {
  const text = await response.text();
  const question: unknown = response.status === 200 ? JSON.parse(text) : undefined;
  if (typeof question === 'object' && question !== null && 'consent_ticket' in question) {
    const { consent_ticket: ticket } = question;
    if (typeof ticket === 'string') return { consent_ticket: ticket };
  }
  throw new Error(`no question was asked: the server answered ${response.status} ${text}`);
}

function locationOf(response: Response): string {
  const location = response.headers.get('location');
  if (location !== null) return location;
  throw new Error(`nothing was decided: the server answered ${response.status}`);
}
