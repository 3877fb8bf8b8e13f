/** Names of this host, to which plain HTTP stays on it. */
const loopback: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Returns why a text cannot be an issuer: an `https` URL, or `http` of this host, without a query and a fragment (RFC 8414 §2). */
export function issuerUrlFault(text: string): string | undefined {
  const fault = jwksUrlFault(text);
  return fault ?? (/[?#]/.test(text) ? 'is not a URL without a query and a fragment' : undefined);
}

/** Returns why keys must not be fetched from a URL, on whose way others could replace them. */
export function jwksUrlFault(text: string): string | undefined {
  const expected = 'is not an https URL, or an http URL of this host';
  if (!/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return expected;
  const { protocol, hostname, username } = new URL(text);
  if (username !== '') return 'contains credentials';
  if (protocol === 'https:') return undefined;
  return protocol === 'http:' && loopback.includes(hostname) ? undefined : expected;
}
