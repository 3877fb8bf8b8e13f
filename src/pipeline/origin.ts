import type { IncomingRequest } from '../http/message.ts';
import { pathForClient } from './proxy.ts';

/** The origins of the server: scheme and authority such as `https://127.0.0.1:8443`, without a trailing slash. */
export interface Origins {
  /**
   * Returns the URL that the issuer and absolute links begin with: the public origin, else that of Host if it is ours, else the first
   * listener's; then the base path.
   */
  forLinks(request: IncomingRequest): string;
  /** Returns the origin that a client signed, without the base path: that of Host if it is ours or the public one, else as `forLinks`. */
  asAddressed(request: IncomingRequest): string;
  /** Adds the address of an HTTPS listener. The first one is the default. */
  listening(url: string): void;
}

/** Names of this host. With the port of a listener they are equivalent to its address. */
const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

/** The origin if nothing listens, and requests are passed to `handle`. */
const defaultOrigin = 'https://localhost';

/** Returns the https origin of a text, without a trailing slash; undefined if it is not an https origin alone. */
export function httpsOrigin(text: string): string | undefined {
  // The URL parser is too lenient: it accepts surrounding spaces, backslashes and an empty query.
  if (!/^https:\/\/[A-Za-z0-9.:[\]_-]+\/?$/i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).origin;
}

/** Returns the origin of a Host value; '' if it is malformed. */
function parseOrigin(host: string): string {
  const isName = /^[A-Za-z0-9.:[\]-]+$/.test(host) && URL.canParse(`https://${host}`);
  return isName ? new URL(`https://${host}`).origin : '';
}

/**
 * Creates the origins of a service. `publicUrl` is its address behind a proxy, and `aliases` are further origins by which clients
 * address it. Throws RangeError if `publicUrl` is not an https origin.
 */
export function createOrigins(publicUrl: string | undefined, aliases: readonly string[] = []): Origins {
  const published = publicUrl === undefined ? undefined : httpsOrigin(publicUrl);
  if (publicUrl !== undefined && published === undefined)
    throw new RangeError('publicUrl is not an https origin');
  let own: string | undefined;
  const ours = new Set<string>([defaultOrigin, ...aliases]);

  // Most requests have the same Host as the one before.
  let latest = { host: '', origin: '' };
  const readNamed = ({ headers: fields }: IncomingRequest): string | undefined => {
    const host = fields.get('host');
    if (host === undefined) return undefined;
    if (host !== latest.host) latest = { host, origin: parseOrigin(host) };
    const { origin } = latest;
    return origin === published || ours.has(origin) ? origin : undefined;
  };
  return {
    forLinks: (request) =>
      (published ?? readNamed(request) ?? own ?? defaultOrigin) + pathForClient(request, ''),
    asAddressed: (request) => readNamed(request) ?? published ?? own ?? defaultOrigin,
    listening(url) {
      const { origin, port } = new URL(url);
      // Once a port is known, localhost without that port is another server.
      ours.delete(defaultOrigin);
      own ??= origin;
      ours.add(origin);
      for (const name of loopbackNames) ours.add(new URL(`https://${name}:${port || '443'}`).origin);
    },
  };
}
