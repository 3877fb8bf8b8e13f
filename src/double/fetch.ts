import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import {
  type Body,
  createRequest,
  gathered,
  neverHasContent,
  type Reply,
  type Request,
} from '../http/message.ts';
import { cutOff } from '../net/fault.ts';
import { reasonPhraseOf } from '../net/reason-phrase.ts';
import { contentSent, fieldsSent } from '../net/reply-bytes.ts';
import { arrivingWith } from './faults-in-process.ts';
import { type Hop, isRedirect, nextHop } from './redirect.ts';
import type { PresentContent } from './response.ts';

/** What `fetch` of a double takes beside the platform's own. */
export interface FetchInit extends RequestInit {
  /** That a request for a path alone comes as over TLS. A URL says it by itself. */
  readonly secure?: boolean;
}

/** A path, a URL of any host, or a Request of the platform. */
export type FetchInput = string | URL | globalThis.Request;

/**
 * The platform's `fetch`, answered in this process: no socket, no port, no waiting. A path goes to the double as over plain
 * HTTP; a URL may name any host, and with `https:` the request counts as having come over TLS. Redirects are followed as
 * `redirect` says, within the double: one that leads elsewhere is given as it came. No field is added but what content needs.
 */
export type Fetch = (input: FetchInput, init?: FetchInit) => Promise<Response>;

/** What answers in process. */
export interface FetchHouse {
  handle(request: Request): Promise<Reply>;
  /** Where the double listens: `http://127.0.0.1:41234`. */
  readonly url: string;
  /** The same over TLS; undefined where it listens to none. */
  readonly secureUrl: string | undefined;
}

/** A call as it is made a request of. */
export interface Outgoing {
  /** Absolute, without a fragment. */
  readonly url: string;
  readonly method: string;
  readonly fields: [string, string][];
  readonly content: Content;
  readonly signal: AbortSignal | null | undefined;
  /** `follow` when left out. */
  readonly redirect?: RequestInit['redirect'];
}

/** Completes a request that is about to be sent; what is redirected to another origin is not asked for. */
export type Complete = (outgoing: Outgoing) => Outgoing | Promise<Outgoing>;

/** What is sent: nothing, bytes or text of a known length, or a stream of neither. */
export type Content = undefined | string | Uint8Array | ReadableStream<Uint8Array>;

/** Says what is text whose Content-Type nobody gave. */
export type TypeOfText = (text: string) => string;

/** What the platform calls it. */
const plainText: TypeOfText = () => 'text/plain;charset=UTF-8';

/** Makes the `fetch` of a double. */
export function createFetch(house: FetchHouse): Fetch {
  const send = createSender(house);
  return async (input, init = {}) => send(await outgoingOf(input, init, house));
}

/** Makes what sends calls, and gives their replies. */
export function createSender(
  house: FetchHouse,
): (outgoing: Outgoing, complete?: Complete) => Promise<Response> {
  let responses: typeof import('./response.ts') | undefined;
  const here = hereOf(house);
  return async (first, complete) => {
    // The platform loads its fetch when it is first asked for, so that is not before a test does.
    responses ??= await import('./response.ts');
    let hop: Hop = { outgoing: first, redirects: 0, crossed: false };
    for (;;) {
      const outgoing = hop.crossed || complete === undefined ? hop.outgoing : await complete(hop.outgoing);
      const { signal } = outgoing;
      signal?.throwIfAborted();
      const answering = exchange(outgoing, house);
      const reply = await (signal == null ? answering : untilAborted(answering, signal));
      if (!isRedirect(reply.status)) return responseTo(hop, reply, responses);
      // It throws where nothing of the reply comes.
      const response = await responseTo(hop, reply, responses);
      const next = nextHop({ ...hop, outgoing }, reply, here);
      if (next === undefined) return response;
      await response.body?.cancel();
      hop = next;
    }
  };
}

/** Whether an origin is the double's. */
function hereOf({ url, secureUrl }: FetchHouse): (origin: string) => boolean {
  const own = [url, secureUrl].flatMap((each) => (each === undefined ? [] : [new URL(each)]));
  const names = ['127.0.0.1', 'localhost', '[::1]'];
  const origins = new Set(
    own.flatMap(({ protocol, port }) => names.map((name) => `${protocol}//${name}:${port}`)),
  );
  return (origin) => origins.has(origin);
}

function responseTo(
  { outgoing: { url, method, signal }, redirects, crossed }: Hop,
  reply: Reply,
  { PresentResponse, endedBy }: typeof import('./response.ts'),
): Response | Promise<Response> {
  const { status } = reply;
  const statusText = reasonPhraseOf(status);
  const seen = { url, redirected: redirects > 0, type: crossed ? 'cors' : 'basic' } as const;
  if (reply.fault !== undefined) {
    const { fields: headers, body } = arrivingWith(reply.fault, reply, method === 'HEAD');
    const response = new Response(body && endedBy(body, signal), { status, statusText, headers });
    // A Response that is made by hand has none of these, and clients resolve `Location` against its URL.
    return Object.defineProperties(response, propertiesOf(seen));
  }
  const made = (content: PresentContent): Response =>
    new PresentResponse(seen, { status, statusText, headers: pairsIn(fieldsSent(reply)) }, content, signal);
  const sent = contentReceived(reply, method === 'HEAD');
  return sent === null || !isPacked(reply) ? made(sent) : promisify(gunzip)(sent).then(made);
}

function propertiesOf(values: object): PropertyDescriptorMap {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
}

/** A call as the platform's fetch would read it. Throws TypeError on what that does not take. */
export function outgoingOf(
  input: FetchInput,
  init: FetchInit,
  house: FetchHouse,
  typeOfText = plainText,
): Outgoing | Promise<Outgoing> {
  return simple(input, init, house, typeOfText) ?? general(input, init, house, typeOfText);
}

/** The absolute URL of what is to be fetched, a path being one of the double's own. */
export function addressOf(
  input: FetchInput,
  secure: boolean,
  { url, secureUrl = 'https://localhost' }: FetchHouse,
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

/** A call out of the simplest parts, without a Request of the platform, which would cost more than the answer; undefined for others. */
function simple(
  input: FetchInput,
  init: FetchInit,
  house: FetchHouse,
  typeOfText: TypeOfText,
): Outgoing | undefined {
  const { method = 'GET', body, signal, redirect = 'follow' } = init;
  if (!redirectModes.has(redirect)) return undefined;
  if (typeof input === 'object' && 'url' in input) return undefined;
  if (!sixMethods.has(method)) return undefined;
  const bare = body === undefined || body === null;
  if (!bare && (method === 'GET' || method === 'HEAD')) return undefined;
  if (!bare && typeof body !== 'string' && !(body instanceof Uint8Array)) return undefined;
  const fields = fieldsIn(init.headers);
  const content = bare ? undefined : body;
  if (typeof content === 'string' && !has(fields, 'content-type'))
    fields.push(['content-type', typeOfText(content)]);
  return { url: addressOf(input, init.secure === true, house), method, fields, content, signal, redirect };
}

/** Any call that the platform takes, read by the platform itself. Throws TypeError on what it does not take. */
async function general(
  input: FetchInput,
  init: FetchInit,
  house: FetchHouse,
  typeOfText: TypeOfText,
): Promise<Outgoing> {
  const address = addressOf(input, init.secure === true, house);
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

function has(fields: readonly [string, string][], name: string): boolean {
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

async function exchange(outgoing: Outgoing, house: FetchHouse): Promise<Reply> {
  const { url, method, content } = outgoing;
  const hostAt = url.indexOf('//') + 2;
  const pathAt = url.indexOf('/', hostAt);
  const host: [string, string][] = has(outgoing.fields, 'host') ? [] : [['host', url.slice(hostAt, pathAt)]];
  const fields = [...host, ...outgoing.fields];
  const target = url.slice(pathAt);
  const parts = { method, target, fields, secure: url.startsWith('https:') };
  if (content instanceof ReadableStream) return streamed(parts, content, house);
  if (content === undefined && method !== 'POST' && method !== 'PUT')
    return house.handle(createRequest(parts));
  const known = content ?? '';
  if (!has(fields, 'content-length')) fields.push(['content-length', String(Buffer.byteLength(known))]);
  return house.handle(createRequest({ ...parts, content: known }));
}

/** Content whose length nobody knows: it is read as it comes. Where it breaks off, so does the request. */
async function streamed(
  parts: { method: string; target: string; fields: [string, string][]; secure: boolean },
  content: ReadableStream<Uint8Array>,
  house: FetchHouse,
): Promise<Reply> {
  let broken: { readonly reason: unknown } | undefined;
  const consume = async (sink: (chunk: Uint8Array) => void): Promise<void> => {
    const reader = content.getReader();
    for (;;) {
      const { done, value } = await reader.read().catch((reason) => {
        broken = { reason };
        throw cutOff();
      });
      if (done) return;
      sink(value);
    }
  };
  let held: Promise<Uint8Array> | undefined;
  const body: Body = {
    present: true,
    async consume(sink) {
      if (held === undefined) return consume(sink);
      const bytes = await held;
      if (bytes.length > 0) sink(bytes);
    },
    hold(limit) {
      held ??= gathered(limit, consume);
      return held;
    },
  };
  parts.fields.push(['transfer-encoding', 'chunked']);
  const reply = await house.handle({ ...createRequest(parts), body });
  if (broken !== undefined) throw broken.reason;
  return reply;
}

function pairsIn(flat: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) pairs.push([flat[at] ?? '', flat[at + 1] ?? '']);
  return pairs;
}

function isPacked({ fields }: Reply): boolean {
  return fields.some(([name, value]) => name === 'Content-Encoding' && value === 'gzip');
}

/** What of the content comes, before it is unpacked. */
function contentReceived(reply: Reply, head: boolean): string | Uint8Array | null {
  return contentSent(reply, head) ?? (head || neverHasContent(reply.status) ? null : '');
}

function untilAborted(answering: Promise<Reply>, signal: AbortSignal): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      answering.then((reply) => reply.abandoned?.()).catch(() => undefined);
      reject(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    answering.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
