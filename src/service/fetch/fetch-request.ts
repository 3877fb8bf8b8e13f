import { describeKind } from '../../shape/fault.ts';
import { anything, object, optional, read, text } from '../../shape/shape.ts';

/** The addresses on which a service listens. */
export interface Addresses {
  /** The origin over plain HTTP, such as `http://127.0.0.1:41234`. */
  readonly url: string;
  /** The origin over HTTPS. Undefined if HTTPS is disabled. */
  readonly secureUrl: string | undefined;
}

/** The origin of paths that are requested over TLS if HTTPS is disabled. */
export const unopenedOrigin = 'https://localhost';

/** The options of the `fetch` of a service or a double: those of the platform's, and these. */
export interface FetchInit extends RequestInit {
  /** Whether a request for a path counts as received over TLS. Ignored for a URL, which has a scheme. Default: false. */
  readonly secure?: boolean | undefined;
  /** The address from which the request counts as sent. Default: `127.0.0.1`. */
  readonly peer?: string | undefined;
}

/** A path, a URL or a Request of the platform. */
export type FetchInput = string | URL | globalThis.Request;

/** The addresses of a service, and what may be requested. */
export interface FetchAddresses extends Addresses {
  /** The origins that may be requested. Undefined if any may. */
  readonly origins: ReadonlySet<string> | undefined;
}

/** The request that a call of `fetch` describes. */
export interface FetchRequest {
  /** The absolute URL, without a fragment. */
  readonly url: string;
  readonly method: string;
  readonly fields: [string, string][];
  readonly content: Content;
  readonly signal: AbortSignal | null | undefined;
  /** The address of the sender. Default: `127.0.0.1`. */
  readonly peer?: string | undefined;
  /** Default: `follow`. */
  readonly redirect?: RequestInit['redirect'];
}

/** The content: none, text or bytes of a known length, or a stream of unknown length. */
export type Content = undefined | string | Uint8Array | ReadableStream<Uint8Array>;

/** Returns the Content-Type of a text for which the caller set none. */
type TypeOfText = (text: string) => string;

/** The type that the platform's fetch sets for text. */
const plainText: TypeOfText = () => 'text/plain;charset=UTF-8';

/**
 * Reads a call as the platform's fetch does. Throws TypeError if the platform does, and RangeError if the URL is that of another
 * server.
 */
export function readFetchRequest(
  input: FetchInput,
  init: FetchInit,
  addresses: FetchAddresses,
  typeOfText = plainText,
): FetchRequest | Promise<FetchRequest> {
  checkFetchInit(init);
  return simple(input, init, addresses, typeOfText) ?? general(input, init, addresses, typeOfText);
}

const initNames: readonly (keyof FetchInit | 'cache' | 'priority')[] = [
  ...(['method', 'headers', 'body', 'secure', 'redirect', 'signal', 'duplex', 'dispatcher'] as const),
  ...(['credentials', 'mode', 'cache', 'referrer', 'referrerPolicy', 'integrity'] as const),
  ...(['keepalive', 'priority', 'window'] as const),
];

/** The options of `fetch`: those of the platform's, and two. A misspelt one, such as `secrue`, is refused; others are ignored. */
const initShape = object(
  { ...Object.fromEntries(initNames.map((name) => [name, optional(anything)])), peer: optional(text()) },
  undefined,
  { expected: "an object such as { method: 'PUT' }", ignoresOthers: true },
);

/** Throws RangeError unless `init` is an object, or if it has a misspelt option: `secrue`. */
export function checkFetchInit(init: unknown): void {
  read(initShape, init, { optionsOf: 'fetch' });
}

/**
 * Returns the absolute URL of `input`, without a fragment. A path is one of the double's. Throws RangeError if the URL is that of
 * another server.
 */
export function readAddress(input: FetchInput, secure: boolean, addresses: FetchAddresses): string {
  const text = isRequest(input) ? input.url : textOfUrl(input);
  const origin = originOfPaths(addresses, secure);
  if (plainPath.test(text)) return origin + text;
  const { href } = new URL(text, origin);
  if (addresses.origins !== undefined) checkOrigin(href, addresses.origins, addresses);
  return href.replace(/#.*$/s, '');
}

/** Returns a path or URL as text. Throws RangeError for other values, which the platform would convert to a path. */
function textOfUrl(input: unknown): string {
  if (typeof input === 'string') return input;
  if (typeof input === 'object' && input !== null && 'href' in input) return String(input.href);
  throw new RangeError(`the URL of a request must be a path, a URL or a Request, is ${describeKind(input)}`);
}

/** Paths that `URL` does not change: they have no dot segments and nothing to encode. */
const plainPath = /^\/(?!\/|.*\/(?:\.|%2e))[A-Za-z0-9._~!$&()*+,;=:@%/?-]*$/i;

const sixMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS']);

const redirectModes: ReadonlySet<string> = new Set(['follow', 'manual', 'error']);

/**
 * Reads a call without creating a Request of the platform, which costs more than the response. Undefined if that is not
 * possible.
 */
function simple(
  input: FetchInput,
  init: FetchInit,
  addresses: FetchAddresses,
  typeOfText: TypeOfText,
): FetchRequest | undefined {
  const { method = 'GET', body, signal, redirect = 'follow' } = init;
  if (!redirectModes.has(redirect)) return undefined;
  if (isRequest(input)) return undefined;
  if (!sixMethods.has(method)) return undefined;
  const bare = body === undefined || body === null;
  if (!bare && (method === 'GET' || method === 'HEAD')) return undefined;
  if (!bare && typeof body !== 'string' && !(body instanceof Uint8Array)) return undefined;
  const fields = fieldsIn(init.headers);
  const content = bare ? undefined : body;
  if (typeof content === 'string' && !hasField(fields, 'content-type'))
    fields.push(['content-type', typeOfText(content)]);
  return {
    url: readAddress(input, init.secure === true, addresses),
    method,
    fields,
    content,
    signal,
    redirect,
    peer: init.peer,
  };
}

/** Reads any call by means of the platform. Throws TypeError if the platform does. */
async function general(
  input: FetchInput,
  init: FetchInit,
  addresses: FetchAddresses,
  typeOfText: TypeOfText,
): Promise<FetchRequest> {
  const address = readAddress(input, init.secure === true, addresses);
  const made = new globalThis.Request(isRequest(input) ? input : address, init);
  const { method, headers, signal, redirect } = made;
  const given = init.body;
  if (typeof given === 'string' && headers.get('content-type') === plainText(given))
    headers.set('content-type', typeOfText(given));
  const content = await readContent(made);
  return {
    url: made.url.replace(/#.*$/s, ''),
    method,
    fields: [...headers],
    content,
    signal,
    redirect,
    peer: init.peer,
  };
}

/** Returns the content of a Request. It is a stream only if the Request was created from one, so that its length is unknown. */
async function readContent(request: globalThis.Request): Promise<Content> {
  const { body } = request;
  if (body === null) return undefined;
  const copy = copyWithKnownLength(request);
  return copy === undefined ? body : new Uint8Array(await copy.arrayBuffer());
}

/** Copies a Request with its content. Undefined if that is a stream: then the constructor throws for this mode (Fetch §5.4). */
function copyWithKnownLength(request: globalThis.Request): globalThis.Request | undefined {
  try {
    return new globalThis.Request(request, { method: 'POST', mode: 'no-cors' });
  } catch {
    return undefined;
  }
}

function isRequest(input: FetchInput): input is globalThis.Request {
  return typeof input === 'object' && input !== null && 'url' in input;
}

/** Returns whether there is a field of this name, which must be in lower case. */
export function hasField(fields: readonly [string, string][], name: string): boolean {
  return fields.some(([each]) => each.toLowerCase() === name);
}

/** Names and values that need no normalization by the platform's Headers. */
const plainName = /^[A-Za-z][A-Za-z0-9-]*$/;
const plainValue = /^[!-~]+(?: +[!-~]+)*$/;

function fieldsIn(headers: RequestInit['headers']): [string, string][] {
  if (headers === undefined) return [];
  if (Object.getPrototypeOf(headers) !== Object.prototype) return [...new Headers(headers)];
  const names = new Set<string>();
  const fields: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string' || !plainName.test(name) || !plainValue.test(value))
      return [...new Headers(headers)];
    names.add(name.toLowerCase());
    fields.push([name, value]);
  }
  return names.size === fields.length ? fields : [...new Headers(headers)];
}

/** Returns the origin of paths, over TLS or not. */
function originOfPaths({ url, secureUrl = unopenedOrigin }: Addresses, secure: boolean): string {
  return secure ? secureUrl : url;
}

/** Throws RangeError if the origin of an absolute URL is not one of `origins`. */
function checkOrigin(url: string, origins: ReadonlySet<string>, { url: plain, secureUrl }: Addresses): void {
  const { origin } = new URL(url);
  if (origins.has(origin)) return;
  const own = secureUrl === undefined ? plain : `${plain} and ${secureUrl}`;
  throw new RangeError(
    `${origin} is not an origin of this double, which are ${own}; add it to the option aliases, or send the request with the platform's fetch`,
  );
}
