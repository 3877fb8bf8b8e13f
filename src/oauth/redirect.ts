/**
 * Returns a redirect URI with parameters appended to its query (RFC 6749 §3.1.2, RFC 5849 §2.2). No registered URI has a
 * fragment.
 *
 * @param parameters Encoded parameters, separated by `&`.
 */
export function appendParameters(uri: string, parameters: string): string {
  const separator = uri.includes('?') ? (/[?&]$/.test(uri) ? '' : '&') : '?';
  return `${uri}${separator}${parameters}`;
}
