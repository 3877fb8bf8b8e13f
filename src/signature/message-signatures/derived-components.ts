// The values of derived components (RFC 9421 §2.2).
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
export type RequestComponent = keyof typeof ofRequest;

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

const slash = 0x2f;
const absoluteForm = /^(https?):\/\/([^/?#]*)/i;

function isOriginForm(target: string): boolean {
  return target.charCodeAt(0) === slash;
}

/** Returns the scheme in lower case (RFC 9421 §2.2.4). */
function readScheme({ target, secure }: RequestMessage): string {
  const sent = isOriginForm(target) ? undefined : absoluteForm.exec(target)?.[1];
  return sent?.toLowerCase() ?? (secure ? 'https' : 'http');
}

/** Returns the host in lower case, without the default port (RFC 9421 §2.2.3, RFC 9110 §4.2.3). */
function authority(request: RequestMessage): string {
  const { target, fields } = request;
  const sent = isOriginForm(target) ? undefined : absoluteForm.exec(target)?.[2];
  const host = sent ?? fields.get('host') ?? '';
  // Most hosts are normalized already.
  return /^[a-z0-9.-]*$/.test(host) ? host : normalizeHost(host, readScheme(request));
}

function normalizeHost(host: string, scheme: string): string {
  return host
    .trim()
    .toLowerCase()
    .replace(scheme === 'https' ? /:(?:443)?$/ : /:(?:80)?$/, '');
}

/** Returns the target URI (RFC 9421 §2.2.2, RFC 9110 §7.1). An absolute form is the target URI itself. */
function targetUri(request: RequestMessage): string {
  const { target } = request;
  if (absoluteForm.test(target)) return target;
  const path = target === '*' ? '' : target;
  return `${readScheme(request)}://${authority(request)}${path}`;
}

/** Returns the part of the target from the path on. */
function pathAndQuery(target: string): string {
  if (isOriginForm(target)) return target;
  const prefix = absoluteForm.exec(target)?.[0];
  return prefix === undefined ? '' : target.slice(prefix.length);
}

/** Returns the path as sent, `/` if it is empty (RFC 9421 §2.2.6). */
function path({ target }: RequestMessage): string {
  const sent = pathAndQuery(target);
  const end = sent.indexOf('?');
  const before = end < 0 ? sent : sent.slice(0, end);
  return before === '' ? '/' : before;
}

/** Returns the query as sent with its question mark, which stands alone if there is no query (RFC 9421 §2.2.7). */
function query({ target }: RequestMessage): string {
  const start = target.indexOf('?');
  return start < 0 ? '?' : target.slice(start);
}

/**
 * Returns the encoded values of each parameter of the query by encoded name (RFC 9421 §2.2.8). The query is parsed as a form, in
 * which `+` is a space. None if it does not decode to UTF-8: all malformed values would be encoded as the same one.
 */
export function queryParameters(request: RequestMessage): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  if (!isDecodable(query(request))) return values;
  for (const [name, value] of new URLSearchParams(query(request))) {
    const encoded = encodeFormComponent(name);
    const list = values.get(encoded);
    if (list === undefined) values.set(encoded, [encodeFormComponent(value)]);
    else list.push(encodeFormComponent(value));
  }
  return values;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Percent-encodes like a form, but a space as `%20`: all but letters, digits and `*-._`. */
export function encodeFormComponent(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()~]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
