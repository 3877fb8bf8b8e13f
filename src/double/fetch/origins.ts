import { type Addresses, unopenedOrigin } from '../../service/fetch/fetch-request.ts';
import { describeKind } from '../../shape/fault.ts';

/**
 * Returns the origins of a double: its addresses, also under the other names of the loopback interface, and `others`, which are
 * URLs.
 */
export function listOwnOrigins(addresses: Addresses, others: readonly string[]): ReadonlySet<string> {
  const names = ['127.0.0.1', 'localhost', '[::1]'];
  const { url, secureUrl = unopenedOrigin } = addresses;
  const own = [url, secureUrl].flatMap((each) => {
    const { protocol, host, port } = new URL(each);
    const suffix = port === '' ? '' : `:${port}`;
    return [host, ...names.map((name) => name + suffix)].map((each) => `${protocol}//${each}`);
  });
  return new Set([...own, ...others.map((each) => new URL(each).origin)]);
}

/** Throws RangeError unless the value is undefined or a list of HTTP(S) origins. */
export function checkAliases(aliases: unknown): void {
  if (aliases === undefined) return;
  if (!Array.isArray(aliases))
    throw new RangeError(
      `aliases must be a list of origins such as ['http://example.com'], is ${describeKind(aliases)}`,
    );
  for (const alias of aliases) checkAlias(alias);
}

function checkAlias(alias: unknown): void {
  if (typeof alias !== 'string')
    throw new RangeError(`an alias must be an origin such as http://example.com, is ${describeKind(alias)}`);
  const url = URL.canParse(alias) ? new URL(alias) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) {
    if (url.origin === alias) return;
    throw new RangeError(`${JSON.stringify(alias)} is not an origin; did you mean "${url.origin}"?`);
  }
  throw new RangeError(`${JSON.stringify(alias)} is not an origin such as http://example.com`);
}
