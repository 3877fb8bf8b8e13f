/** Returns the Authorization value of HTTP Basic (RFC 7617 §2), in UTF-8. */
export function basicHeader(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;
}
