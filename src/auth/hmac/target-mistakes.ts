// Targets that clients sign by mistake, and changes that proxies make to a target in transit.
import type { Request } from '../../http/message.ts';

/** A hint, and the value that may have been signed; undefined if the part may have been left out. */
export type Change = readonly [hint: string, changed: string | undefined];

/** Returns the targets that may have been signed, most likely first. */
export function targetMistakes(target: string, { fields }: Request): Change[] {
  const [path, query] = splitTarget(target);
  const host = fields.get('host') ?? '';
  const withoutHost = target.replace(/^https?:\/\/[^/?#]*/i, '');
  const changedEscapes = (change: (octet: string) => string): string =>
    target.replace(/%[0-9a-f]{2}/gi, change);
  const reencoded = 'the percent-encoding was changed in transit, or by the client after signing';
  const normalized = 'the path was normalized in transit, or by the client after signing';
  return [
    ['the query was left out', path],
    ...hostMistakes(target, host, 'the host was signed with the path'),
    ...proxyMistakes(target, fields),
    ['the host was sent in the target, but not signed', withoutHost],
    ['the host was sent in the target, but not signed', withoutHost === '' ? '/' : withoutHost],
    ['the target was percent-decoded before it was signed', decoded(target)],
    ['the target was percent-encoded again, or only after signing', encodeURI(target)],
    ['the whole target was percent-encoded before it was signed', encodeURIComponent(target)],
    [`${reencoded}: an unreserved character was escaped`, target.replaceAll('~', '%7E')],
    [`${reencoded}: an unreserved character was escaped`, target.replaceAll('~', '%7e')],
    [`${reencoded}: an unreserved character was not escaped`, changedEscapes(unreservedDecoded)],
    [`${reencoded}: escapes were in upper case`, changedEscapes((octet) => octet.toUpperCase())],
    [`${reencoded}: escapes were in lower case`, changedEscapes((octet) => octet.toLowerCase())],
    [`${reencoded}: a slash was escaped as %2F`, target.replace(/%2f/gi, '/')],
    [`${reencoded}: a space in the query was "+"`, path + query.replaceAll('%20', '+')],
    [`${reencoded}: a space in the query was "%20"`, path + query.replaceAll('+', '%20')],
    [`${reencoded}: "+" in the query was "%2B"`, path + query.replaceAll('+', '%2B')],
    [`${reencoded}: "%2B" in the query was "+"`, path + query.replace(/%2b/gi, '+')],
    [`${reencoded}: reserved characters were not escaped`, changedEscapes(delimiterDecoded)],
    [
      `${reencoded}: reserved characters were escaped`,
      path + query.replace(/[[\]{}|^`:@!$'()*,;/]/g, escaped),
    ],
    [`${reencoded}: reserved characters were escaped`, path.replace(/[:@!$&'()*+,;=]/g, escaped) + query],
    [`${normalized}: there was no trailing slash`, path.replace(/(?<=.)\/$/, '') + query],
    [`${normalized}: there was a trailing slash`, path.endsWith('/') ? target : `${path}/${query}`],
    [`${normalized}: dot segments were removed`, withoutDotSegments(path) + query],
    [`${normalized}: double slashes were merged`, path.replace(/\/{2,}/g, '/') + query],
    ['a "?" without a query was signed', query === '' ? `${target}?` : target],
    ['a "?" without a query was not signed', query === '?' ? path : target],
    ['the parameters of the query were sorted before they were signed', path + sorted(query)],
    ...otherOrders(query).map((other): Change => ['the query was signed in another order', path + other]),
    ['the target was signed in lower case', target.toLowerCase()],
    ['the target was signed without its leading slash', target.replace(/^\//, '')],
  ];
}

/** Returns the target with a host in front of it, as in an absolute URL. */
export function hostMistakes(target: string, host: string, hint: string): Change[] {
  const name = host.replace(/:[0-9]*$/, '');
  const withPorts = [...new Set([host, name, `${name}:80`, `${name}:443`])];
  return withPorts.flatMap((authority) => {
    const port = authority === host ? '' : `, with ${authority} instead of ${host}`;
    const forms = [`http://${authority}`, `https://${authority}`, `//${authority}`, authority];
    return forms.map((form): Change => [`${hint}${port}`, form + target]);
  });
}

/** The hint if a client signed the host that it addressed in front of a proxy. */
export const publicHostHint = 'the public host was signed with the path, in front of a proxy';

/** Fields in which a proxy sends the host that the client addressed. */
const hostFields = ['x-forwarded-host', 'x-original-host', 'x-forwarded-server'] as const;
/** Fields in which a proxy sends the target that the client addressed. */
const targetFields = ['x-original-uri', 'x-original-url', 'x-forwarded-uri', 'x-rewrite-url'] as const;
/** Prefixes that proxies often remove. */
const usualPrefixes = ['/api', '/v1', '/api/v1', '/rest'];

/** Returns the targets that the client may have addressed in front of a proxy. */
function proxyMistakes(target: string, fields: Request['fields']): Change[] {
  const forwarded = /(?:^|[;,\s])host="?([^";,\s]+)/i.exec(fields.get('forwarded') ?? '')?.[1];
  const hosts = [forwarded, ...hostFields.map((name) => fields.get(name))];
  const prefix = fields.get('x-forwarded-prefix');
  const removed = 'the path was signed with a prefix that a proxy removed';
  return [
    ...hosts
      .filter((host) => host !== undefined)
      .flatMap((host) => hostMistakes(target, host, publicHostHint)),
    ...targetFields.map((name): Change => ['the target was changed by a proxy', fields.get(name)]),
    ...(prefix === undefined ? [] : [`/${prefix.replace(/^\/|\/$/g, '')}`])
      .concat(usualPrefixes)
      .map((each): Change => [`${removed}: ${each}`, each + target]),
  ].filter(([, changed]) => changed !== undefined);
}

/** The largest number of parameters of which all orders are tried. */
const maxOrdered = 4;

/** Returns a query with its parameters in all other orders. */
function otherOrders(query: string): string[] {
  const parameters = query.slice(1).split('&');
  if (parameters.length < 2 || parameters.length > maxOrdered) return [];
  return permutations(parameters).map((order) => `?${order.join('&')}`);
}

/** Returns all orders of a few items. */
export function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, at) =>
    permutations(items.filter((_, index) => index !== at)).map((others) => [item, ...others]),
  );
}

/** Returns the path, and the query with its question mark. */
function splitTarget(target: string): [path: string, query: string] {
  const at = target.indexOf('?');
  return at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at)];
}

function decoded(target: string): string {
  return target.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** Percent-encodes a character of one octet. */
export function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

// RFC 3986 §2.3 and §2.2.
function unreservedDecoded(octet: string): string {
  const character = decoded(octet);
  return /[A-Za-z0-9._~-]/.test(character) ? character : octet;
}

function delimiterDecoded(octet: string): string {
  const character = decoded(octet);
  return /[!$&'()*+,;=:@[\]{}|^`]/.test(character) ? character : octet;
}

/** Removes dot segments (RFC 3986 §5.2.4). */
function withoutDotSegments(path: string): string {
  const output: string[] = [];
  const segments = path.split('/').slice(1);
  for (const segment of segments) {
    if (segment === '..') output.pop();
    else if (segment !== '.') output.push(segment);
  }
  const last = segments.at(-1);
  return `/${output.join('/')}${(last === '.' || last === '..') && output.length > 0 ? '/' : ''}`;
}

function sorted(query: string): string {
  return query === '' ? '' : `?${query.slice(1).split('&').sort().join('&')}`;
}
