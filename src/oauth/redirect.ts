import type { ActionResponse } from '../pipeline/resource.ts';

/** Parameters of a redirect. One that is undefined is left out. */
export type RedirectParameters = Readonly<Record<string, string | undefined>>;

/**
 * Redirects the browser to a registered URI, with parameters appended to its query (RFC 6749 §3.1.2, RFC 5849 §2.2). No registered URI has
 * a fragment.
 */
export function redirect(uri: string, parameters: RedirectParameters): ActionResponse {
  const pairs = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const added = pairs.length === 0 ? '' : separatorAfter(uri) + new URLSearchParams(pairs);
  // The URL of this page can contain the client's state (RFC 9700 §4.2.4).
  const headers = [
    ['Location', uri + added],
    ['Referrer-Policy', 'no-referrer'],
  ] as const;
  return { status: 303, noStore: true, headers };
}

function separatorAfter(uri: string): string {
  if (!uri.includes('?')) return '?';
  return /[?&]$/.test(uri) ? '' : '&';
}
