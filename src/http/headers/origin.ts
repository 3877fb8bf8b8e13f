// The grammar of Origin (Fetch §3.2): a serialized origin, or `null`.

/** Scheme, host and port of a serialized origin. What the expressions leave open is checked below. */
const form = /^([a-z][a-z0-9+.-]*):\/\/(\[[0-9a-f:]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?$/;

// Browsers accept an underscore, although the grammar does not.
const domainLabel = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/;

/** The ports that serialization omits (URL §4.2). */
const defaultPorts: Readonly<Record<string, string>> = {
  ftp: '21',
  http: '80',
  https: '443',
  ws: '80',
  wss: '443',
};

/** Names and addresses of this host. */
const loopbackHost = /^(?:localhost|[^/:]+\.localhost|127\.[0-9.]+|\[::1\])(?=[:/]|$)/i;

/**
 * Returns whether a text is the serialization of an origin, as browsers send it: lower case, punycode, canonical addresses, no
 * default port, no path. `null` is one.
 */
export function isSerializedOrigin(text: string): boolean {
  if (text === 'null') return true;
  const [, scheme = '', host = '', port] = form.exec(text) ?? [];
  return host !== '' && isSerializedHost(host) && isSerializedPort(port, scheme);
}

/** Returns whether the parser of URLs leaves a host as it is. It serializes addresses and internationalized names. */
function isSerializedHost(host: string): boolean {
  if (!host.startsWith('[') && !host.split('.').every((label) => domainLabel.test(label))) return false;
  return URL.canParse(`http://${host}`) && new URL(`http://${host}`).hostname === host;
}

function isSerializedPort(port: string | undefined, scheme: string): boolean {
  if (port === undefined) return true;
  return String(Number(port)) === port && Number(port) <= 65_535 && port !== defaultPorts[scheme];
}

/** Returns what is wrong with a text that must be a serialized origin, and what to write; undefined if it is one. */
export function originFault(text: string): string | undefined {
  if (isSerializedOrigin(text)) return undefined;
  if (text.includes('*')) return 'has a wildcard; write each origin, or * alone for all of them';
  if (text.toLowerCase() === 'null') return 'is not in lower case; write null';
  const meant = guessOrigin(text);
  return meant === undefined
    ? 'is not an origin such as https://app.example'
    : `${reasonFor(text, meant)}; write ${meant}`;
}

/** Returns the origin that a text probably means. */
function guessOrigin(text: string): string | undefined {
  const trimmed = text.trim();
  const isHost = !trimmed.includes('://');
  // RFC 6761 §6.3: localhost usually has no certificate.
  const url = isHost ? `${loopbackHost.test(trimmed) ? 'http' : 'https'}://${trimmed}` : trimmed;
  if ((isHost && !/^[^/?#@\s]+[/?#]?/.test(trimmed)) || !URL.canParse(url)) return undefined;
  const { protocol, host } = new URL(url);
  const origin = `${protocol}//${host.toLowerCase()}`;
  return isSerializedOrigin(origin) ? origin : undefined;
}

function reasonFor(text: string, meant: string): string {
  if (text.trim() !== text) return 'has a space';
  if (!text.includes('://')) return 'has no scheme';
  if (text.toLowerCase() === `${meant}/`) return 'has a trailing slash';
  const [authority = ''] = text.slice(text.indexOf('://') + 3).split(/[/?#]/);
  if (authority.includes('@')) return 'has a user name';
  if (text.toLowerCase() === meant) return 'is not in lower case';
  if (authority !== text.slice(text.indexOf('://') + 3)) return 'has a path or a query';
  if (/:[0-9]*$/.test(authority) && !/:[0-9]+$/.test(meant)) return 'has the default port';
  return 'is not serialized as browsers send it';
}
