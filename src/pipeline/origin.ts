import type { Request } from '../http/message.ts';

/** Where the server says that it is: an origin such as `https://127.0.0.1:8443`, without a slash at its end. */
export interface Origins {
  /** The origin in issuer and links: the public one, else that which the request's Host names if it is ours, else our own. */
  forLinks(request: Request): string;
  /** The origin that a client signed for: that which Host names if it is ours or the public one, else as above. */
  asAddressed(request: Request): string;
  /** Tells that HTTPS is listened to at this address. The first one is our own. */
  listening(url: string): void;
}

/** Names of this host itself. With the port that is listened to they are as good as its address. */
const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

/** What stands for our own where nothing is listened to: requests are handed in then. */
const unaddressed = 'https://localhost';

/** The origin that this text names, without a slash at its end; undefined where it is none of https or more than that. */
export function httpsOrigin(text: string): string | undefined {
  // The URL parser passes over too much: spaces around, backslashes, an empty query.
  if (!/^https:\/\/[A-Za-z0-9.:[\]_-]+\/?$/i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).origin;
}

/** The origin that the value of Host names; '' where it names none. */
function originOf(host: string): string {
  const isName = /^[A-Za-z0-9.:[\]-]+$/.test(host) && URL.canParse(`https://${host}`);
  return isName ? new URL(`https://${host}`).origin : '';
}

/** Makes the origins of a service; `publicUrl` is how clients address it through a proxy. Throws RangeError where that is no https origin. */
export function createOrigins(publicUrl: string | undefined): Origins {
  const published = publicUrl === undefined ? undefined : httpsOrigin(publicUrl);
  if (publicUrl !== undefined && published === undefined)
    throw new RangeError('publicUrl is not an https origin');
  let own: string | undefined;
  const ours = new Set<string>([unaddressed]);

  // Most requests are for the host of the one before.
  let latest = { host: '', origin: '' };
  const named = ({ fields }: Request): string | undefined => {
    const host = fields.get('host');
    if (host === undefined) return undefined;
    if (host !== latest.host) latest = { host, origin: originOf(host) };
    const { origin } = latest;
    return origin === published || ours.has(origin) ? origin : undefined;
  };
  return {
    forLinks: (request) => published ?? named(request) ?? own ?? unaddressed,
    asAddressed: (request) => named(request) ?? published ?? own ?? unaddressed,
    listening(url) {
      const { origin, port } = new URL(url);
      // Without the port that is listened to, localhost is another server.
      ours.delete(unaddressed);
      own ??= origin;
      ours.add(origin);
      for (const name of loopbackNames) ours.add(new URL(`https://${name}:${port || '443'}`).origin);
    },
  };
}
