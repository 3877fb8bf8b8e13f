import type { Duration } from '../../duration.ts';
import { formType } from '../../http/headers/media-type.ts';
import type { Agent, OpenRawClient, RawClient, RawRequest, RawResponse } from '../../net/raw-client.ts';
import type { HeaderLine } from '../attempt.ts';
import { readTimeout } from '../target.ts';
import type { Waivers } from '../weaknesses.ts';

/** The options of the connections and of the verdict. */
export interface ConnectionOptions {
  /** Certificates in PEM to trust over HTTPS. Default: those that Node.js trusts. */
  readonly ca?: string | undefined;
  /** Opens the connections, for example through a proxy. */
  readonly agent?: Agent | undefined;
  /** The timeout of each response: ms, or text such as `5s`. Default: 10 s. */
  readonly timeout?: Duration | undefined;
  /** Weaknesses that do not count, by id, each with the reason: `{ 'redirect-uri': 'until the new version' }`. */
  readonly waive?: Waivers | undefined;
}

/** A request for a URL. */
export interface UrlRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string | URL;
  readonly headers?: readonly HeaderLine[];
  /** The parameters of a form. */
  readonly form?: URLSearchParams;
}

/** Sends requests over new connections. */
export interface Sender {
  send(request: UrlRequest): Promise<RawResponse>;
  /** Sends a request several times at once. */
  sendTogether(requests: readonly UrlRequest[]): Promise<readonly (RawResponse | undefined)[]>;
}

/** Creates a sender. */
export function createSender({ ca, agent, timeout: given }: ConnectionOptions): Sender {
  const timeout = readTimeout(given, 'the options of the attack');
  let openClient: OpenRawClient | undefined;
  const withClient = async <T>(url: string | URL, use: (client: RawClient) => Promise<T>): Promise<T> => {
    // Loaded on first use, since it requires node:https and most tests do not attack.
    const { createRawClients } = await import('../../net/raw-client.ts');
    openClient ??= createRawClients({ agent, timeout });
    const client = openClient(url, ca);
    try {
      return await use(client);
    } finally {
      client.close();
    }
  };
  return {
    send: (request) => withClient(request.url, (client) => client.send(toRawRequest(request))),
    async sendTogether(requests) {
      const [first] = requests;
      if (first === undefined) return [];
      return withClient(first.url, (client) => client.sendTogether(requests.map(toRawRequest)));
    },
  };
}

function toRawRequest({ method, url, headers = [], form }: UrlRequest): RawRequest {
  const { pathname, search } = new URL(url);
  const request = { method, target: pathname + search };
  const accept: HeaderLine = ['Accept', 'application/json'];
  if (form === undefined) return { ...request, headers: [accept, ...headers] };
  const type: HeaderLine = ['Content-Type', formType];
  return { ...request, headers: [accept, type, ...headers], body: form.toString() };
}
