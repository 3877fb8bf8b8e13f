/**
 * A redirect URI with parameters added to its query, which is kept (RFC 6749 §3.1.2, RFC 5849 §2.2). `parameters` are encoded
 * already, with `&` between them. No URI with a fragment is registered.
 */
export function withParameters(uri: string, parameters: string): string {
  const separator = uri.includes('?') ? (/[?&]$/.test(uri) ? '' : '&') : '?';
  return `${uri}${separator}${parameters}`;
}
