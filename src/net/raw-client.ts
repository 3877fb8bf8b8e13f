import { Agent, request as requestPlainly } from 'node:http';
import { request as requestSecurely, Agent as SecureAgent } from 'node:https';

export type { Agent } from 'node:http';

/** The options of a client. */
export interface RawClientOptions {
  /** `http://…` or `https://…`; its path is ignored. */
  readonly origin: string | URL;
  /** Trusted certificates in PEM, instead of the default ones. */
  readonly ca?: string | undefined;
  /** Opens the connections. Default: an agent with a single persistent connection. */
  readonly agent?: Agent | undefined;
  /** Milliseconds within which a response must be complete. */
  readonly timeout: number;
}

/** A request that is sent as it is, without normalization. */
export interface RawRequest {
  readonly method: string;
  readonly target: string;
  /** The field lines; a name may occur twice. `Host` and `Content-Length` are added if they are missing. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Uint8Array | undefined;
}

/** Sends requests that `fetch` would reject or change. */
export interface RawClient {
  /** Sends a request and returns the status of the response. Rejects if there is none. */
  send(request: RawRequest): Promise<number>;
  /** Closes its own connection. */
  close(): void;
}

/** Creates a client, which connects on the first request. Throws TypeError if the origin is not a URL. */
export function openRawClient({ origin, ca, agent, timeout }: RawClientOptions): RawClient {
  const { protocol, hostname, host, port } = new URL(origin);
  const secure = protocol === 'https:';
  const own = { keepAlive: true, maxSockets: 1 };
  const used = agent ?? (secure ? new SecureAgent(own) : new Agent(own));
  const options = {
    // A URL has brackets around an IPv6 address, a socket address has none.
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    agent: used,
    ...(ca === undefined ? {} : { ca }),
  };
  return {
    send({ method, target, headers, body }) {
      const content = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
      const lines = complete(headers, host, method, content);
      const signal = AbortSignal.timeout(timeout);
      const parts = { ...options, method, path: target, headers: lines, signal };
      return new Promise((resolve, reject) => {
        const sent = secure ? requestSecurely(parts) : requestPlainly(parts);
        sent.once('error', reject);
        sent.once('response', (response) => {
          const status = response.statusCode ?? 0;
          // The content does not matter. It is read so that the connection can be used again.
          response.once('close', () => resolve(status));
          response.once('error', () => resolve(status));
          response.resume();
        });
        sent.end(content);
      });
    },
    close() {
      if (agent === undefined) used.destroy();
    },
  };
}

const withContent: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** Adds the required fields. Returns alternating names and values, which node:http sends unchanged. */
function complete(
  headers: RawRequest['headers'],
  host: string,
  method: string,
  content: Uint8Array | undefined,
): string[] {
  const has = (wanted: string): boolean => headers.some(([name]) => name.toLowerCase() === wanted);
  const lines = headers.flat();
  if (!has('host')) lines.unshift('Host', host);
  const sized = content !== undefined || withContent.has(method);
  if (sized && !has('content-length')) lines.push('Content-Length', String(content?.length ?? 0));
  return lines;
}
