import type { SignedRequest } from '../../client/sign.ts';
import { type RequestInput, toLines } from '../../http/field-lines.ts';
import { type Complete, createSender, type Fetch, type InProcessServer } from '../../service/fetch/fetch.ts';
import {
  type Content,
  checkFetchInit,
  readAddress,
  readFetchRequest,
} from '../../service/fetch/fetch-request.ts';
import { anything, object, optional, read, type ShapesOf, text } from '../../shape/shape.ts';
import type { AsOptions, ConfiguredSchemeOptions } from './as-options.ts';
import { createSigning, type SigningParts } from './signing.ts';

/** A client that signs its requests as a user. */
export interface SigningClient {
  /** The name of the user. */
  readonly user: string;
  /**
   * Sends a signed request, as the double's `fetch`. A redirect to another origin gets no credentials. Text without a
   * Content-Type that begins like XML or JSON is sent with that type.
   * @example await double.as('johndoe').fetch('/articles/1', { method: 'PUT', body: '<article>…</article>' });
   */
  readonly fetch: Fetch;
  /**
   * Returns the header fields that sign a request, for another client to send. The URL may be a path of the double, or have any
   * origin, such as that of a proxy. Its path and query are signed as the platform's `fetch` sends them.
   * @param request `method` (default: `GET`), `url`, `body`, and the `headers` that the request has already: some schemes sign them
   * @throws RangeError (as a rejection) also if the scheme changes the query; `signUrl` returns the URL
   * @example const headers = await double.as('johndoe').signRequest({ method: 'PUT', url: '/articles/1', body: '<article>…</article>' });
   */
  signRequest(request: RequestInput): Promise<Record<string, string>>;
  /**
   * Returns the absolute URL and the header fields of a signed request, as `signRequest` does, also if the scheme changes the query.
   * @example const { url } = await double.as('johndoe', { scheme: 'aws4', presign: 300 }).signUrl({ url: '/report' });
   */
  signUrl(request: RequestInput): Promise<SignedRequest>;
}

/** The parts of a double that a signing client requires. */
interface ClientParts extends SigningParts {
  readonly server: InProcessServer;
}

/** Creates a signing client. Throws RangeError if there is no such user and `options` contain no credentials. */
export function createSigner(
  user: string,
  options: AsOptions | ConfiguredSchemeOptions,
  parts: ClientParts,
): SigningClient {
  const { server } = parts;
  const { sign, secure } = createSigning(user, options, parts);
  const send = createSender(server);
  // A request that another client sends may have any origin.
  const resolve = (url: string | URL): string => readAddress(url, secure, { ...server, origins: undefined });
  const signUrl: SigningClient['signUrl'] = async (request) => {
    read(requestShape, request, 'the request to sign');
    const { method = 'GET', url, headers = {}, body: content } = request;
    return sign({ method, url: resolve(url), content, fields: toLines(headers) });
  };
  const addSignature: Complete = async (outgoing) => {
    const { method, url, fields } = outgoing;
    const content = await readWhole(outgoing.content);
    const signed = await sign({ method, url, content, fields });
    const signature = Object.entries(signed.headers);
    const names = new Set(signature.map(([name]) => name.toLowerCase()));
    const unsigned = fields.filter(([name]) => !names.has(name.toLowerCase()));
    const whole = { ...outgoing, url: signed.url, fields: [...unsigned, ...signature] };
    return signed.body === undefined ? whole : { ...whole, content: signed.body };
  };
  return {
    user,
    async fetch(input, init = {}) {
      checkFetchInit(init);
      const outgoing = await readFetchRequest(input, { secure, ...init }, server, typeOfText);
      return send({ ...outgoing, content: await readWhole(outgoing.content) }, addSignature);
    },
    async signRequest(request) {
      const signed = await signUrl(request);
      if (signed.url === resolve(request.url)) return signed.headers;
      throw new RangeError('the scheme changes the query of the URL; use signUrl, which returns the URL');
    },
    signUrl,
  };
}

const requestShape = object(
  {
    method: optional(text()),
    url: anything,
    headers: optional(anything),
    body: optional(anything),
  } satisfies ShapesOf<RequestInput>,
  undefined,
  { expected: "an object such as { url: '/articles' }" },
);

/** Guesses the type of text without a Content-Type. The platform would send all of it as plain text. */
function typeOfText(text: string): string {
  const [first] = text.trimStart();
  if (first === '<') return 'application/xml';
  return first === '{' || first === '[' ? 'application/json' : 'text/plain;charset=UTF-8';
}

/** Returns the whole content, since a stream cannot be signed. */
async function readWhole(content: Content): Promise<string | Uint8Array | undefined> {
  return content instanceof ReadableStream
    ? new Uint8Array(await new Response(content).arrayBuffer())
    : content;
}
