import type { Connection, IncomingRequest } from '../http/message.ts';
import { pathForClient } from './proxy.ts';

/** The origins of the server: scheme and authority such as `https://127.0.0.1:8443`, without a trailing slash. */
export interface Origins {
  /**
   * Returns the URL that the issuer and absolute links begin with: the public origin, else that of Host if it is ours, else the first
   * listener's; then the base path.
   */
  forLinks(request: IncomingRequest): string;
  /** Returns the URL of this service for clients of a connection, without regard to Host: the public origin, or that of a listener. */
  own(connection: Connection): string;
  /**
   * Returns the origin that a client signed, without the base path: that of Host if it is ours or the public one, else that of the first
   * listener. Its scheme is that of the connection.
   */
  asAddressed(request: IncomingRequest): string;
  /** Adds the address of a listener. The first one of each scheme is the default. */
  listening(url: string): void;
}

/** Names of this host. With the port of a listener they are equivalent to its address. */
const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

/** The origins if nothing listens, and requests are passed to `handle`. */
const defaultOrigin = { 'https:': 'https://localhost', 'http:': 'http://localhost' };

type Protocol = keyof typeof defaultOrigin;

/** Returns the https origin of a text, without a trailing slash; undefined if it is not an https origin alone. */
export function httpsOrigin(text: string): string | undefined {
  // The URL parser is too lenient: it accepts surrounding spaces, backslashes and an empty query.
  if (!/^https:\/\/[A-Za-z0-9.:[\]_-]+\/?$/i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).origin;
}

/** Returns the origin of a Host value; '' if it is malformed. */
function parseOrigin(host: string, protocol: Protocol): string {
  const isName = /^[A-Za-z0-9.:[\]-]+$/.test(host) && URL.canParse(`${protocol}//${host}`);
  return isName ? new URL(`${protocol}//${host}`).origin : '';
}

/**
 * Creates the origins of a service. `publicUrl` is its address behind a proxy, and `aliases` are further origins by which clients
 * address it. Throws RangeError if `publicUrl` is not an https origin.
 */
export function createOrigins(publicUrl: string | undefined, aliases: readonly string[] = []): Origins {
  const published = publicUrl === undefined ? undefined : httpsOrigin(publicUrl);
  if (publicUrl !== undefined && published === undefined)
    throw new RangeError('publicUrl is not an https origin');
  // Without TLS, the public host is addressed at the usual port, or at that of an alias.
  const plainPublished = published && `http://${new URL(published).hostname}`;
  const publishedFor = { 'https:': published, 'http:': plainPublished };
  const own: { [Each in Protocol]?: string } = {};
  const ours = new Set<string>([...Object.values(defaultOrigin), ...aliases]);

  // Most requests have the same Host as the one before.
  let latest: { host: string; protocol: Protocol; origin: string } = {
    host: '',
    protocol: 'https:',
    origin: '',
  };
  const readNamed = ({ headers: fields }: IncomingRequest, protocol: Protocol): string | undefined => {
    const host = fields.get('host');
    if (host === undefined) return undefined;
    if (host !== latest.host || protocol !== latest.protocol)
      latest = { host, protocol, origin: parseOrigin(host, protocol) };
    const { origin } = latest;
    return origin === publishedFor[protocol] || ours.has(origin) ? origin : undefined;
  };
  // A double that assumes TLS over plain HTTP is addressed by http.
  const protocolOf = ({ secure, assumesTls = false }: Connection): Protocol =>
    assumesTls && !secure ? 'http:' : 'https:';
  const ownOrigin = (protocol: Protocol): string => published ?? own[protocol] ?? defaultOrigin[protocol];
  return {
    forLinks(request) {
      const protocol = protocolOf(request.connection);
      return (published ?? readNamed(request, protocol) ?? ownOrigin(protocol)) + pathForClient(request, '');
    },
    own: (connection) => ownOrigin(protocolOf(connection)),
    asAddressed(request) {
      const protocol = request.connection.secure ? 'https:' : 'http:';
      const named = readNamed(request, protocol);
      return named ?? publishedFor[protocol] ?? own[protocol] ?? defaultOrigin[protocol];
    },
    listening(url) {
      const { origin, port } = new URL(url);
      const protocol = origin.startsWith('https:') ? 'https:' : 'http:';
      // Once a port is known, localhost without that port is another server.
      ours.delete(defaultOrigin[protocol]);
      own[protocol] ??= origin;
      ours.add(origin);
      const suffix = port === '' ? '' : `:${port}`;
      for (const name of loopbackNames) ours.add(`${protocol}//${name}${suffix}`);
    },
  };
}
