import { promisify } from 'node:util';
import { targetSentByFetch } from '../../client/fetch-target.ts';
import {
  fetchFailed,
  isRedirect,
  maxRedirects,
  redirectRequest,
  resolveRedirect,
} from '../../client/redirect.ts';
import { isCompressed, linesInTurn } from '../../http/field-lines.ts';
import {
  type Body,
  createRequest,
  type Response as HttpResponse,
  type IncomingRequest,
  neverHasContent,
  readAll,
} from '../../http/message.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import { cutOff } from '../../net/parse-error.ts';
import { contentSent, fieldsSent, findReasonPhrase } from '../../net/response-encoder.ts';
import {
  type FetchAddresses,
  type FetchInit,
  type FetchInput,
  type FetchRequest,
  hasField,
  readFetchRequest,
} from './fetch-request.ts';

/**
 * Sends a request to a service in this process, without a socket. Its interface is that of the platform's `fetch`. A path is requested
 * as over plain HTTP, and as over TLS with `secure`. A URL has the Host of the request, and with `https:` it counts as received over
 * TLS; that of a double must have one of its origins, otherwise the call rejects with RangeError. Redirects within the service are
 * followed as `redirect` specifies; one to another server is returned. No fields are added except those that content requires.
 */
export type Fetch = (input: FetchInput, init?: FetchInit) => Promise<Response>;

/** A server that responds in this process. */
export interface InProcessServer extends FetchAddresses {
  respond(request: IncomingRequest): Promise<HttpResponse>;
  /** Whether redirects to any origin are followed, if any origin may be requested. Default: false. */
  readonly followsAll?: boolean;
  /** Keeps the process alive for the delays of the server while `response` is pending. Returns `response`. Default: not needed. */
  awaited?<T>(response: Promise<T>): Promise<T>;
  /** Returns what arrives of a response with a fault. Throws what the platform's fetch throws. Default: faults are ignored. */
  present?(reply: HttpResponse, isHead: boolean): PresentedResponse;
  /** Adds a member to each response. Default: none. */
  mark?(response: Response, reply: HttpResponse): Response;
}

/** A response as the platform's fetch presents it. */
export interface PresentedResponse {
  readonly fields: [name: string, value: string][];
  /** A stream fails where the connection would break. Null if the response has no content. */
  readonly body: Uint8Array | ReadableStream<Uint8Array> | null;
}

/** Signs a request before it is sent. Not called after a redirect to another origin. */
export type Complete = (outgoing: FetchRequest) => FetchRequest | Promise<FetchRequest>;

/** Creates the `fetch` of a service. */
export function createFetch(server: InProcessServer): Fetch {
  const send = createSender(server);
  return async (input, init = {}) => send(await readFetchRequest(input, init, server));
}

/** Creates the function that sends requests and follows redirects. */
export function createSender(
  server: InProcessServer,
): (outgoing: FetchRequest, complete?: Complete) => Promise<Response> {
  const isOwn = (origin: string): boolean => server.origins?.has(origin) ?? server.followsAll === true;
  return async (first, complete) => {
    let hop: Hop = { outgoing: first, redirects: 0, crossed: false };
    for (;;) {
      const outgoing = hop.crossed || complete === undefined ? hop.outgoing : await complete(hop.outgoing);
      const { signal } = outgoing;
      signal?.throwIfAborted();
      const responding = exchange(outgoing, server);
      const pending = signal == null ? responding : untilAborted(responding, signal);
      const reply = await (server.awaited?.(pending) ?? pending);
      if (!isRedirect(reply.status)) return responseTo(hop, reply, server);
      // Throws if no response arrives.
      const response = await responseTo(hop, reply, server);
      const next = nextHop(hop, reply, isOwn);
      if (next === undefined) return response;
      await response.body?.cancel();
      hop = next;
    }
  };
}

async function responseTo(
  { outgoing: { url, method, signal }, redirects, crossed }: Hop,
  reply: HttpResponse,
  { present, mark }: InProcessServer,
): Promise<Response> {
  const { status, fault } = reply;
  const isHead = method === 'HEAD';
  const { fields, body } =
    fault === undefined || present === undefined ? await presentWhole(reply, isHead) : present(reply, isHead);
  const head = { status, statusText: findReasonPhrase(status), headers: fields };
  const metadata = { url, redirected: redirects > 0, type: crossed ? 'cors' : 'basic' } as const;
  const response = withMetadata(new Response(abortable(body, signal), head), metadata);
  return mark?.(response, reply) ?? response;
}

/** Returns what arrives of a response without a fault. */
function presentWhole(reply: HttpResponse, isHead: boolean): MaybePromise<PresentedResponse> {
  const fields = linesInTurn(fieldsSent(reply));
  const sent = contentReceived(reply, isHead);
  return sent !== null && isCompressed(reply)
    ? decompressed(sent).then((body) => ({ fields, body }))
    : { fields, body: sent };
}

/** Decompresses gzip. */
async function decompressed(content: Uint8Array): Promise<Buffer> {
  const { gunzip } = process.getBuiltinModule('node:zlib');
  return promisify(gunzip)(content);
}

async function exchange(outgoing: FetchRequest, server: InProcessServer): Promise<HttpResponse> {
  const { url, method, content, peer } = outgoing;
  const hostAt = url.indexOf('//') + 2;
  const pathAt = url.indexOf('/', hostAt);
  const host: [string, string][] = hasField(outgoing.fields, 'host')
    ? []
    : [['host', url.slice(hostAt, pathAt)]];
  const fields = [...host, ...outgoing.fields];
  const target = targetSentByFetch(url.slice(pathAt));
  const parts = {
    method,
    target,
    headers: fields,
    secure: url.startsWith('https:'),
    peer,
  };
  if (content instanceof ReadableStream) return streamed(parts, content, server);
  if (content === undefined && method !== 'POST' && method !== 'PUT')
    return server.respond(createRequest(parts));
  const body = content ?? '';
  if (!hasField(fields, 'content-length')) fields.push(['content-length', String(Buffer.byteLength(body))]);
  return server.respond(createRequest({ ...parts, body }));
}

/** Sends content of unknown length, which the server reads as a stream. Rejects with the stream's error if it fails. */
async function streamed(
  parts: {
    method: string;
    target: string;
    headers: [string, string][];
    secure: boolean;
    peer: string | undefined;
  },
  content: ReadableStream<Uint8Array>,
  server: InProcessServer,
): Promise<HttpResponse> {
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
      held ??= readAll(limit, consume);
      return held;
    },
  };
  parts.headers.push(['transfer-encoding', 'chunked']);
  const reply = await server.respond({ ...createRequest(parts), body });
  if (broken !== undefined) throw broken.reason;
  return reply;
}

/** Returns the content that arrives, still compressed. Null if the response has none. */
function contentReceived(reply: HttpResponse, head: boolean): Uint8Array | null {
  if (head || neverHasContent(reply.status)) return null;
  const content = contentSent(reply, head) ?? '';
  // The platform adds a media type to a response made of text.
  return typeof content === 'string' ? Buffer.from(content) : content;
}

function untilAborted(responding: Promise<HttpResponse>, signal: AbortSignal): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      responding.then((reply) => reply.onAbandoned?.()).catch(() => undefined);
      reject(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    responding.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** A request in a sequence of redirects. */
interface Hop {
  readonly outgoing: FetchRequest;
  /** The number of redirects before it. */
  readonly redirects: number;
  /** Whether one of these redirects led to another origin. */
  readonly crossed: boolean;
}

/**
 * Returns the request to which a redirect leads, as the platform's fetch creates it, but without `Authentication` if it leads
 * to another origin. Undefined if the response is to be returned to the caller; so is a redirect to an origin that is not the
 * double's (`isOwn`), since no other server is in this process. Throws the same TypeErrors as the platform's fetch.
 */
function nextHop(
  hop: Hop,
  { status, headers: fields }: Pick<HttpResponse, 'status' | 'headers'>,
  isOwn: (origin: string) => boolean,
): Hop | undefined {
  const { outgoing } = hop;
  if (outgoing.redirect === 'manual') return undefined;
  if (outgoing.redirect === 'error') throw fetchFailed('unexpected redirect');
  const [, location] = fields.find(([name]) => name.toLowerCase() === 'location') ?? [];
  if (location === undefined) return undefined;
  const { origin } = new URL(outgoing.url);
  const to = resolveRedirect(location, outgoing.url);
  if (hop.redirects === maxRedirects) throw fetchFailed(`more than ${maxRedirects} redirects`);
  const crosses = to.origin !== origin;
  if (crosses && !isOwn(to.origin)) return undefined;
  return {
    outgoing: redirectRequest(outgoing, status, to),
    redirects: hop.redirects + 1,
    crossed: hop.crossed || crosses,
  };
}

/** The properties of a Response that its constructor cannot set. */
interface ResponseMetadata {
  /** Clients resolve `Location` against it. */
  readonly url: string;
  /** Whether a redirect led to it. */
  readonly redirected: boolean;
  /** `cors` if a redirect led to another origin. */
  readonly type: 'basic' | 'cors';
}

/** Returns a response of the platform with these properties, which its clones have, too. */
function withMetadata(response: Response, metadata: ResponseMetadata): Response {
  const { url, redirected, type } = metadata;
  return Object.defineProperties(response, {
    url: { value: url },
    redirected: { value: redirected },
    type: { value: type },
    clone: { value: () => withMetadata(Response.prototype.clone.call(response), metadata) },
  });
}

/** Returns content as a stream, which fails once `signal` is aborted; as bytes if there is no signal. */
function abortable(
  content: Uint8Array | ReadableStream<Uint8Array> | null,
  signal: AbortSignal | null | undefined,
): Uint8Array | ReadableStream<Uint8Array> | null {
  if (signal == null || content === null) return content;
  const stream: ReadableStream<Uint8Array> =
    content instanceof Uint8Array ? new Blob([content]).stream() : content;
  const reader = stream.getReader();
  let removeListener = (): void => {};
  return new ReadableStream(
    {
      start(controller) {
        const abort = (): void => {
          controller.error(signal.reason);
          reader.cancel(signal.reason).catch(() => undefined);
        };
        signal.addEventListener('abort', abort, { once: true });
        removeListener = () => signal.removeEventListener('abort', abort);
        if (signal.aborted) abort();
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (signal.aborted) return;
        if (!done) return controller.enqueue(value);
        removeListener();
        controller.close();
      },
      cancel(reason) {
        removeListener();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
