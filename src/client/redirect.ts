/** A request that a redirect can change. */
export interface RedirectedRequest {
  readonly url: string;
  readonly method: string;
  readonly fields: [string, string][];
  readonly content: undefined | string | Uint8Array | ReadableStream<Uint8Array>;
}

/** The maximum number of redirects that are followed (Fetch §4.4, HTTP-redirect fetch). */
export const maxRedirects = 20;

const statuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Fields that describe content. They are removed together with it (Fetch §4.4). */
const contentFields: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-language',
  'content-location',
  'content-type',
  'content-length',
]);

/**
 * Fields that are not sent to another origin. Fetch §4.4 removes Authorization only; `Authentication` contains credentials
 * as well.
 */
const originFields: ReadonlySet<string> = new Set([
  'authorization',
  'authentication',
  'proxy-authorization',
  'cookie',
  'host',
]);

/** Returns whether a status is that of a redirect (RFC 9110 §15.4; 300 and 304 are not). */
export function isRedirect(status: number): boolean {
  return statuses.has(status);
}

/** Returns the URL to which a redirect leads. Throws the same TypeErrors as the platform's fetch. */
export function resolveRedirect(location: string, base: string): URL {
  if (!URL.canParse(location, base)) throw fetchFailed('the Location of a redirect is not a URL');
  const target = new URL(location, base);
  if (!/^https?:$/.test(target.protocol))
    throw fetchFailed('the Location of a redirect is not an HTTP(S) URL');
  if (target.username !== '' || target.password !== '')
    throw fetchFailed('the Location of a redirect contains credentials');
  return target;
}

/**
 * Returns the request after a redirect with `status` to `to`: without content if the method becomes GET, and without
 * credentials if the redirect leads to another origin. Throws TypeError if its content is a stream, which was consumed.
 */
export function redirectRequest<Request extends RedirectedRequest>(
  request: Request,
  status: number,
  to: URL,
): Request {
  const { method, content } = request;
  if (status !== 303 && content instanceof ReadableStream)
    throw fetchFailed('streamed content cannot be sent again after a redirect');
  const url = to.href.replace(/#.*$/s, '');
  const crosses = to.origin !== new URL(request.url).origin;
  const remaining = { ...(crosses ? removeFields(request, originFields) : request), url };
  const becomesGet =
    status === 303 ? method !== 'GET' && method !== 'HEAD' : status < 303 && method === 'POST';
  return becomesGet
    ? { ...removeFields(remaining, contentFields), method: 'GET', content: undefined }
    : remaining;
}

function removeFields<Request extends RedirectedRequest>(
  request: Request,
  names: ReadonlySet<string>,
): Request {
  return { ...request, fields: request.fields.filter(([name]) => !names.has(name.toLowerCase())) };
}

/** Returns the error with which the platform's fetch rejects. */
export function fetchFailed(why: string): TypeError {
  return new TypeError('fetch failed', { cause: new Error(why) });
}
