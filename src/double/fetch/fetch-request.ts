/** What `fetch` of a double takes beside the platform's own. */
export interface FetchInit extends RequestInit {
  /** That a request for a path alone comes as over TLS. A URL says it by itself. */
  readonly secure?: boolean;
}

/** A path, a URL of any host, or a Request of the platform. */
export type FetchInput = string | URL | globalThis.Request;

/** Where a service listens. */
export interface Addresses {
  /** `http://127.0.0.1:41234` */
  readonly url: string;
  /** The same over TLS; undefined where it listens to none. */
  readonly secureUrl: string | undefined;
}

/** A call of `fetch`, read: what the request is made of. */
export interface FetchRequest {
  /** Absolute, without a fragment. */
  readonly url: string;
  readonly method: string;
  readonly fields: [string, string][];
  readonly content: Content;
  readonly signal: AbortSignal | null | undefined;
  /** `follow` when left out. */
  readonly redirect?: RequestInit['redirect'];
}

/** The content: none, text or bytes of a known length, or a stream of unknown length. */
export type Content = undefined | string | Uint8Array | ReadableStream<Uint8Array>;

/** Gives the Content-Type of text for which the caller gave none. */
export type TypeOfText = (text: string) => string;

/** As the platform's fetch types text. */
const plainText: TypeOfText = () => 'text/plain;charset=UTF-8';

/** A call as the platform's fetch would read it. Throws TypeError on what that does not take. */
export function fetchRequestOf(
  input: FetchInput,
  init: FetchInit,
  addresses: Addresses,
  typeOfText = plainText,
): FetchRequest | Promise<FetchRequest> {
  return simple(input, init, addresses, typeOfText) ?? general(input, init, addresses, typeOfText);
}

/** The absolute URL of what is to be fetched, a path being one of the double's own. */
export function addressOf(
  input: FetchInput,
  secure: boolean,
  { url, secureUrl = 'https://localhost' }: Addresses,
): string {
  if (typeof input === 'object' && 'url' in input) return input.url;
  const text = String(input);
  const origin = secure ? secureUrl : url;
  if (plainPath.test(text)) return origin + text;
  return new URL(text, origin).href.replace(/#.*$/s, '');
}

/** What `URL` leaves as it is: no dot segments, nothing that it would encode. */
const plainPath = /^\/(?!\/|.*\/(?:\.|%2e))[A-Za-z0-9._~!$&()*+,;=:@%/?-]*$/i;

const sixMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS']);

const redirectModes: ReadonlySet<string> = new Set(['follow', 'manual', 'error']);

/** Reads a call of simple parts without a Request of the platform, which costs more than the answer; undefined for any other. */
function simple(
  input: FetchInput,
  init: FetchInit,
  addresses: Addresses,
  typeOfText: TypeOfText,
): FetchRequest | undefined {
  const { method = 'GET', body, signal, redirect = 'follow' } = init;
  if (!redirectModes.has(redirect)) return undefined;
  if (typeof input === 'object' && 'url' in input) return undefined;
  if (!sixMethods.has(method)) return undefined;
  const bare = body === undefined || body === null;
  if (!bare && (method === 'GET' || method === 'HEAD')) return undefined;
  if (!bare && typeof body !== 'string' && !(body instanceof Uint8Array)) return undefined;
  const fields = fieldsIn(init.headers);
  const content = bare ? undefined : body;
  if (typeof content === 'string' && !hasField(fields, 'content-type'))
    fields.push(['content-type', typeOfText(content)]);
  return {
    url: addressOf(input, init.secure === true, addresses),
    method,
    fields,
    content,
    signal,
    redirect,
  };
}

/** Any call that the platform takes, read by the platform itself. Throws TypeError on what it does not take. */
async function general(
  input: FetchInput,
  init: FetchInit,
  addresses: Addresses,
  typeOfText: TypeOfText,
): Promise<FetchRequest> {
  const address = addressOf(input, init.secure === true, addresses);
  const made = new globalThis.Request(isRequest(input) ? input : address, init);
  const { method, headers, signal, redirect } = made;
  const given = init.body;
  if (typeof given === 'string' && headers.get('content-type') === plainText(given))
    headers.set('content-type', typeOfText(given));
  const content = await contentOf(made);
  return { url: made.url.replace(/#.*$/s, ''), method, fields: [...headers], content, signal, redirect };
}

/** The content of a Request: as a stream only where it was made of one, for then nobody knows its length. */
async function contentOf(request: globalThis.Request): Promise<Content> {
  const { body } = request;
  if (body === null) return undefined;
  const known = copyOfKnown(request);
  return known === undefined ? body : new Uint8Array(await known.arrayBuffer());
}

/** The Request anew, with its content, unless that is a stream: the platform tells by making none of this mode (Fetch §5.4). */
function copyOfKnown(request: globalThis.Request): globalThis.Request | undefined {
  try {
    return new globalThis.Request(request, { method: 'POST', mode: 'no-cors' });
  } catch {
    return undefined;
  }
}

function isRequest(input: FetchInput): input is globalThis.Request {
  return typeof input === 'object' && 'url' in input;
}

/** Whether there is a field of this name, in lower case. */
export function hasField(fields: readonly [string, string][], name: string): boolean {
  return fields.some(([each]) => each.toLowerCase() === name);
}

/** Names and values that are taken as they are; all others go through the platform's Headers. */
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
