import { Agent, request as requestPlainly } from 'node:http';
import { request as requestSecurely, Agent as SecureAgent } from 'node:https';

export type { Agent } from 'node:http';

/** Where a client connects to. */
export interface RawClientOptions {
  /** `http://…` or `https://…`; its path does not count. */
  readonly origin: string | URL;
  /** Certificates in PEM to trust in the place of the usual ones. */
  readonly ca?: string | undefined;
  /** What opens connections; without one the client keeps to a single connection for as long as the server lets it. */
  readonly agent?: Agent | undefined;
  /** Milliseconds in which a reply must be whole. */
  readonly timeout: number;
}

/** A request of which nothing is tidied: target and lines go out as they stand here. */
export interface RawRequest {
  readonly method: string;
  readonly target: string;
  /** A name may stand there twice. `Host` and `Content-Length` are added where they are not there. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Uint8Array | undefined;
}

/** Sends requests that `fetch` would not send, or would change. */
export interface RawClient {
  /** Sends one and gives the status of its reply. Rejects where none comes. */
  send(request: RawRequest): Promise<number>;
  /** Lets its own connection go. */
  close(): void;
}

/** Makes a client; it connects with the first request. Throws TypeError for an origin that is no URL. */
export function openRawClient({ origin, ca, agent, timeout }: RawClientOptions): RawClient {
  const { protocol, hostname, host, port } = new URL(origin);
  const secure = protocol === 'https:';
  const own = { keepAlive: true, maxSockets: 1 };
  const used = agent ?? (secure ? new SecureAgent(own) : new Agent(own));
  const options = {
    // A URL has brackets around an IPv6 address, a socket has none.
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    agent: used,
    ...(ca === undefined ? {} : { ca }),
  };
  return {
    send({ method, target, headers, body }) {
      const content = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
      const lines = completed(headers, host, method, content);
      const signal = AbortSignal.timeout(timeout);
      const parts = { ...options, method, path: target, headers: lines, signal };
      return new Promise((resolve, reject) => {
        const sent = secure ? requestSecurely(parts) : requestPlainly(parts);
        sent.once('error', reject);
        sent.once('response', (response) => {
          const status = response.statusCode ?? 0;
          // The status is known, whatever becomes of the content; it is read so that the connection can go on.
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

/** Names and values one after the other, as node:http takes lines that it is to leave alone. */
function completed(
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
