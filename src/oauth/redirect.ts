/**
 * A redirect URI with parameters added to its query, which is kept (RFC 6749 §3.1.2, RFC 5849 §2.2). `parameters` are encoded
 * already, with `&` between them; a fragment stays behind them.
 */
export function withParameters(uri: string, parameters: string): string {
  const [target = '', ...fragment] = uri.split('#');
  const separator = target.includes('?') ? (/[?&]$/.test(target) ? '' : '&') : '?';
  return [`${target}${separator}${parameters}`, ...fragment].join('#');
}
