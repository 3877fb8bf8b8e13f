// The values of derived components (RFC 9421 §2.2).

import { removeDefaultPort } from '../../http/host.ts';
import { decodeText, encodeFormText } from '../../http/syntax/percent.ts';
import { addressedAuthority, authorityOf, findQuery, splitTarget } from '../../http/target.ts';
import type { RequestMessage } from './message.ts';

/** The derived components of a request without parameters of their own. */
const ofRequest = {
  '@method': ({ method }: RequestMessage) => method,
  '@target-uri': targetUri,
  '@authority': authority,
  '@scheme': (request: RequestMessage) => readScheme(request),
  '@request-target': ({ target }: RequestMessage) => target,
  '@path': path,
  '@query': query,
} as const;

/** The name of such a component. */
type RequestComponent = keyof typeof ofRequest;

/** The names of such components. */
export const requestComponents: readonly string[] = Object.keys(ofRequest);

/** Returns whether a name is that of a derived component of a request without parameters of its own. */
export function isRequestComponent(name: string): name is RequestComponent {
  return Object.hasOwn(ofRequest, name);
}

/** Returns the value of a derived component of a request. */
export function requestComponent(name: RequestComponent, request: RequestMessage): string {
  return ofRequest[name](request);
}

/** Returns the scheme in lower case (RFC 9421 §2.2.4). */
function readScheme({ target, secure }: RequestMessage): string {
  const { origin } = splitTarget(target);
  return origin === '' ? (secure ? 'https' : 'http') : origin.slice(0, origin.indexOf(':')).toLowerCase();
}

/** Returns the host in lower case, without the default port (RFC 9421 §2.2.3, RFC 9110 §4.2.3). */
function authority(request: RequestMessage): string {
  const host = addressedAuthority(request.target, request.fields);
  // Most hosts are normalized already.
  if (/^[a-z0-9.-]*$/.test(host)) return host;
  return removeDefaultPort(host.trim().toLowerCase(), readScheme(request) === 'https');
}

/** Returns the target URI (RFC 9421 §2.2.2, RFC 9110 §7.1). An absolute form is the target URI itself. */
function targetUri(request: RequestMessage): string {
  const { target } = request;
  if (authorityOf(target) !== undefined) return target;
  const path = target === '*' ? '' : target;
  return `${readScheme(request)}://${authority(request)}${path}`;
}

/** Returns the path as sent, `/` if it is empty (RFC 9421 §2.2.6). */
function path({ target }: RequestMessage): string {
  const sent = splitTarget(target).path;
  return sent.startsWith('/') ? sent : '/';
}

/** Returns the query as sent with its question mark, which stands alone if there is no query (RFC 9421 §2.2.7). */
function query({ target }: RequestMessage): string {
  return `?${findQuery(target)}`;
}

/**
 * Returns the encoded values of each parameter of the query by encoded name (RFC 9421 §2.2.8). The query is parsed as a form, in
 * which `+` is a space. None if it does not decode to UTF-8: all malformed values would be encoded as the same one.
 */
export function queryParameters(request: RequestMessage): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  if (decodeText(query(request)) === undefined) return values;
  for (const [name, value] of new URLSearchParams(query(request))) {
    const encoded = encodeFormText(name);
    const list = values.get(encoded);
    if (list === undefined) values.set(encoded, [encodeFormText(value)]);
    else list.push(encodeFormText(value));
  }
  return values;
}
