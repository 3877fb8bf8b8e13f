// Mistakes in what a request addresses: target, path, query, URL and host. Proxies make some of them, in transit.

import { domainToUnicode } from 'node:url';
import { hostForms } from '../../http/host.ts';
import { toOctets } from '../../http/syntax/octets.ts';
import { findQuery, splitTarget } from '../../http/target.ts';
import { sortQuery } from '../../signature/declared/message.ts';
import type { PartKind } from '../../signature/message.ts';
import { listQueryObjects } from './content-parameters.ts';
import { escapedPathMistakes, escapedQueryMistakes, escapeMistakes } from './escapes.ts';
import { embedMistakes, type Facts, type Mistake } from './mistake.ts';

const normalized = 'the path was normalized in transit, or by the client after signing';

/** The mistakes in the form of a path. */
const pathForms: readonly Mistake[] = [
  [`${normalized}: there was no trailing slash`, (path) => path.replace(/(?<=.)\/$/, '')],
  [`${normalized}: there was a trailing slash`, (path) => (path.endsWith('/') ? undefined : `${path}/`)],
  [`${normalized}: dot segments were removed`, (path) => removeDotSegments(path)],
  [`${normalized}: double slashes were merged`, (path) => path.replace(/\/{2,}/g, '/')],
  ['{part} was signed without its leading slash', (path) => path.replace(/^\//, '')],
];

/** The mistakes in the order and form of the parameters of a query. */
const queryForms: readonly Mistake[] = [
  ['the parameters of the query were sorted before they were signed', (query) => sortQuery(query)],
  ['the query was signed in another order', (query) => otherOrders(query)],
  [
    'the parameters of the query were sorted without regard to letter case',
    (query) => query.split('&').sort(compareCaseless).join('&'),
  ],
  ['a parameter without a value was signed without its "="', (query) => query.replace(/=(?=&|$)/g, '')],
  [
    'a parameter without a value was signed with a "="',
    (query) => query.replace(/(^|&)([^=&]+)(?=&|$)/g, '$1$2='),
  ],
  ['names and values of the query were signed without "=" and "&"', (query) => query.replace(/[=&]/g, '')],
  [
    'a repeated parameter was reduced to one value before it was signed',
    (query) => [
      reduceRepeated(query.split('&')),
      reduceRepeated(query.split('&').reverse()).split('&').reverse().join('&'),
    ],
  ],
  [
    'a list in the query was signed in another form',
    (query) => [
      query.replace(/(^|&)([^=&[\]]+)=/g, '$1$2[]='),
      query.replace(/(?:\[\]|%5B%5D|\[\d+\]|%5B\d+%5D)(?==)/gi, ''),
    ],
  ],
  ['the parameters of the query were signed as JSON', (query) => listQueryObjects(query)],
  ['numbers in the query were signed in another notation', (query) => rewriteNumbers(query)],
  ['the query was escaped for HTML before it was signed', (query) => query.replaceAll('&', '&amp;')],
  ['empty parameters were left out of the query that was signed', (query) => removeEmpty(query)],
  ['the parameter {parameter} was left out, or added after signing', (query) => removeEach(query)],
];

/** Returns a query with its numbers as programs write them: JavaScript, Python, and without zeros at their ends. */
function rewriteNumbers(query: string): string[] {
  const notations: readonly ((digits: string) => string)[] = [
    (digits) => String(Number(digits)),
    (digits) =>
      Number(digits)
        .toExponential()
        .replace(/e([+-])(\d)$/, 'e$10$2'),
    (digits) => digits.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, ''),
    (digits) => (digits.includes('.') ? digits : `${digits}.0`),
  ];
  return notations.flatMap((write) => {
    const numbers = /(?<==)-?\d{1,15}(?:\.\d{1,15})?(?=&|$)/g;
    const fractions = /(?<==)-?\d{1,15}\.\d{1,15}(?=&|$)/g;
    return [query.replace(fractions, write), query.replace(numbers, write)];
  });
}

/** The largest number of parameters of which each one is left out. */
const maxLeftOut = 16;

function removeEach(query: string): string[] {
  const parameters = query.split('&');
  if (parameters.length < 2) return [];
  return parameters.slice(0, maxLeftOut).map((_, at) => parameters.toSpliced(at, 1).join('&'));
}

/** Returns the parameters without those whose name an earlier one has. */
function reduceRepeated(parameters: readonly string[]): string {
  const names = new Set<string>();
  return parameters
    .filter((parameter) => names.size < names.add(parameter.replace(/=.*$/s, '')).size)
    .join('&');
}

function removeEmpty(query: string): string {
  return query
    .split('&')
    .filter((parameter) => !parameter.endsWith('=') && parameter.includes('='))
    .join('&');
}

/** The mistakes in the host that is signed with a target or a path. */
const addedHosts: readonly Mistake[] = [
  [
    'the host was signed with the path',
    (target, { host }) => listOrigins(host).map((origin) => origin + target),
  ],
  [
    'the host was signed with the path, with {authority} instead of {host}',
    (target, { host }) =>
      otherPorts(host).flatMap((other) => listOrigins(other).map((origin) => origin + target)),
  ],
  [
    'the public host was signed with the path, in front of a proxy',
    (target, facts) =>
      listForwardedHosts(facts).flatMap((host) => listOrigins(host).map((origin) => origin + target)),
  ],
  ['the host was sent in the target, but not signed', (target) => removeOrigin(target)],
];

/** The mistakes of a proxy that changes the target, and does not change the signature. */
const rewrites: readonly Mistake[] = [
  [
    'the target was changed by a proxy',
    (_, { request }) => targetFields.flatMap((name) => request.headers.get(name) ?? []),
  ],
  [
    'the path was signed with a prefix that a proxy removed: {prefix}',
    (target, { request }) =>
      [toForwardedPrefix(request.headers.get('x-forwarded-prefix')), ...usualPrefixes].flatMap((prefix) =>
        prefix === undefined ? [] : [prefix + target],
      ),
  ],
  [
    'the prefix {prefix}, which the proxy removes, was not signed: sign the target as the client sends it',
    (target, { request }) =>
      request.basePath === undefined ? undefined : target.replace(request.basePath, ''),
  ],
  [
    'the first segments of the path, {leftOut}, were not signed: a base path or a stage?',
    (target) => removeSegments(target),
  ],
  [
    'the path was signed with the first label of the host in front, as a bucket in path style: {prefix}',
    (target, { host }) => {
      const [, label] = /^([a-z][a-z0-9-]*)\./i.exec(host) ?? [];
      return label === undefined ? undefined : `/${label}${target}`;
    },
  ],
];

/** The number of segments that are removed from the beginning of a path. */
const maxSegments = 3;

/** Returns a target without its first segment, without the first two, and so on. */
function removeSegments(target: string): string[] {
  const removed: string[] = [];
  let rest = target;
  while (removed.length < maxSegments) {
    const at = rest.indexOf('/', 1);
    if (!rest.startsWith('/') || at < 0 || rest.slice(0, at).includes('?')) break;
    rest = rest.slice(at);
    removed.push(rest);
  }
  return removed;
}

/** The mistakes in a path. */
export const pathMistakes: readonly Mistake[] = [
  ['the query was signed with the path', (_, { target }) => target],
  ...addedHosts,
  ...rewrites,
  ...escapeMistakes,
  ...escapedPathMistakes,
  ...pathForms,
  ['the path "/" was signed in place of the path sent', () => '/'],
  ['the path was left out', () => ''],
  ['{part} was signed in lower case', (path) => path.toLowerCase()],
];

/** The mistakes in a query without its question mark. */
export const queryMistakes: readonly Mistake[] = [
  ['the query was left out', () => ''],
  [
    'the parameters of the query were signed in another order',
    (query, { target }) => [
      ...[splitTarget(target).query].filter((sent) => sortQuery(sent) === sortQuery(query)),
      sortQuery(query),
    ],
  ],
  ['the query was signed as it was sent', (_, { target }) => splitTarget(target).query],
  ['the "?" was signed with the query', (query) => [`?${query}`, `?${sortQuery(query)}`]],
  ['the path was signed with the query', (_, { target }) => target],
  ...queryForms,
  ...escapeMistakes,
  ...escapedQueryMistakes,
];

/** The mistakes in a query with its question mark, which stands alone if there is no query. */
export const searchMistakes: readonly Mistake[] = [
  ['the query was signed without its question mark', (search) => search.slice(1)],
  ['the query was left out', () => ''],
  ['the path was signed with the query', (_, { target }) => target],
  ...embedMistakes(queryMistakes, (search) => ['?', search.slice(1), '']),
  [
    'the query was signed without its question mark, and the parameters in another order',
    (search) => sortQuery(search.slice(1)),
  ],
];

const fragmentSigned =
  'a fragment was signed; a client does not send it (RFC 9110 §4.2.5): {signed} was signed';

/** Returns a target or URL with fragments that pages often have. */
function addFragments(target: string): string[] {
  return ['#', '#/', '#!', '#top', '#fragment', '#frag', '#section', '#anchor'].map((each) => target + each);
}

/** The mistakes in a "?" without a query. */
const loneMarks: readonly Mistake[] = [
  ['a "?" without a query was signed', (target) => (target.includes('?') ? undefined : `${target}?`)],
  ['a "?" without a query was not signed', (target) => target.replace(/\?$/, '')],
];

/** The mistakes in a target. */
export const targetMistakes: readonly Mistake[] = [
  ['the query was left out', (target) => target.replace(/\?.*$/s, '')],
  ...addedHosts,
  ...rewrites,
  ...escapeMistakes,
  ...embedMistakes(escapedPathMistakes, splitPath),
  ...embedMistakes(escapedQueryMistakes, splitQuery),
  ...embedMistakes(pathForms, splitPath),
  ...loneMarks,
  ...embedMistakes(queryForms, splitQuery),
  ...embedMistakes(escapeMistakes, splitPath),
  ['{part} was signed in lower case', (target) => target.toLowerCase()],
  ['the query was signed without its question mark', (target) => target.replace('?', '')],
  ['the query was signed with a second question mark', (target) => target.replace('?', '??')],
  ['the path was left out', (target) => target.replace(/^[^?]*/, '')],
  [
    'the parameters of the query were signed as JSON after the path',
    (target) => listQueryObjects(findQuery(target)).map((json) => target.replace(/\?.*$/s, json)),
  ],
  [fragmentSigned, (target) => addFragments(target)],
];

/** Names of a machine for itself, and for the programs of its containers. */
const localHosts = [
  'localhost',
  '127.0.0.1',
  '[::1]',
  '0.0.0.0',
  'host.docker.internal',
  'gateway.docker.internal',
  'host.containers.internal',
  'localstack',
  'minio',
];

/** Ports on which programs listen by default. */
const usualPorts = [':80', ':443', ':3000', ':4566', ':5000', ':8000', ':8080', ':8443', ':9000'];

/** The mistakes in a host. */
export const hostMistakes: readonly Mistake[] = [
  ['the host was signed without its port', (host) => host.replace(/:\d*$/, '')],
  [
    'the host was signed with the default port',
    (host, { request }) => hostForms(host, request.connection.secure)[1],
  ],
  [
    'the host was signed with the default port of the other scheme',
    (host, { request }) => hostForms(host, !request.connection.secure)[1],
  ],
  [
    'the host was signed with another port than it was sent with',
    (host) => ['443', '80'].map((port) => host.replace(/:\d+$/, `:${port}`)),
  ],
  [
    'the host was signed in another letter case',
    (host, facts) => [host.toLowerCase(), facts.host, host.toUpperCase()],
  ],
  ['the scheme was signed with the host', (host) => [`https://${host}`, `http://${host}`]],
  ['the public host was signed, in front of a proxy', (_, facts) => listForwardedHosts(facts)],
  ['the host was signed as localhost', (host) => host.replace(/^127\.0\.0\.1/, 'localhost')],
  ['the host was signed as 127.0.0.1', (host) => host.replace(/^localhost/, '127.0.0.1')],
  ['the host was left out', () => ''],
  ['the host was signed in Unicode, and sent in ASCII (Punycode)', (host) => unicodeHost(host)],
  [
    'the host was signed with the first segment of the path in front, as a bucket in virtual-hosted style: {authority}',
    (host, { target }) => {
      const [, segment] = /^\/([a-z0-9][a-z0-9.-]*)(?:[/?]|$)/i.exec(target) ?? [];
      return segment === undefined ? undefined : `${segment}.${host}`;
    },
  ],
  [
    'the first label of the host was not signed: {authority} was',
    (host) => (/^[a-z][a-z0-9-]*\.[a-z]/i.test(host) ? host.slice(host.indexOf('.') + 1) : undefined),
  ],
  ['the host was signed with a dot at its end', (host) => host.replace(/(:\d+)?$/, '.$1')],
];

/** The mistakes in a host that are tried last, because they are many. */
export const furtherHostMistakes: readonly Mistake[] = [
  [
    'another name or port of this machine was signed as the host: {authority}',
    (host) => {
      const port = /:\d+$/.exec(host)?.[0] ?? '';
      return localHosts.flatMap((name) => [port, '', ...usualPorts].map((each) => name + each));
    },
  ],
];

/** The mistakes in a URL. */
export const urlMistakes: readonly Mistake[] = [
  ['https was signed, but the request arrived over http', (url) => url.replace(/^http:/, 'https:')],
  ['http was signed, but the request arrived over https', (url) => url.replace(/^https:/, 'http:')],
  [
    'the host was signed without its port',
    (url, facts) => replaceHost(url, facts, hostForms(facts.host, facts.request.connection.secure)[0]),
  ],
  [
    'the host was signed with the default port',
    (url, facts) => replaceHost(url, facts, hostForms(facts.host, facts.request.connection.secure)[1]),
  ],
  ['the host was signed in lower case', (url, facts) => replaceHost(url, facts, facts.host.toLowerCase())],
  [
    'the public host was signed, in front of a proxy',
    (url, facts) =>
      listForwardedHosts(facts).flatMap((host) => [
        replaceHost(url, facts, host),
        replaceHost(url, facts, host).replace(/^http:/, 'https:'),
      ]),
  ],
  ['the query was left out', (url) => url.replace(/\?.*$/s, '')],
  ['the path was left out', (url) => url.replace(/^(https?:\/\/[^/?]*).*$/s, '$1')],
  ['only the target was signed, without scheme and host', (url) => removeOrigin(url)],
  ['only the path was signed, without scheme and host', (url) => removeOrigin(url).replace(/\?.*$/s, '')],
  ['the scheme was left out', (url) => url.replace(/^https?:\/\//, '')],
  ...escapeMistakes,
  ...embedMistakes(rewrites, splitUrlTarget),
  ...embedMistakes(loneMarks, splitUrlTarget),
  ...embedMistakes(escapeMistakes, splitPath),
  ...embedMistakes(escapedPathMistakes, splitPath),
  ...embedMistakes(pathForms, splitPath),
  ...embedMistakes(queryForms, splitQuery),
  ...embedMistakes(escapedQueryMistakes, splitQuery),
  ['{part} was signed in lower case', (url) => url.toLowerCase()],
  ['{part} was signed in upper case', (url) => url.toUpperCase()],
  ...embedMistakes(hostMistakes, splitUrlHost),
  ['the query was signed without its question mark', (url) => url.replace('?', '')],
  ['the query was signed with a second question mark', (url) => url.replace('?', '??')],
  ['the path was left out', (url) => url.replace(/^(https?:\/\/[^/?]*)[^?]*/i, '$1')],
  [fragmentSigned, (url) => addFragments(url)],
];

/** The mistakes in a URL that are tried last. */
export const furtherUrlMistakes: readonly Mistake[] = embedMistakes(furtherHostMistakes, splitUrlHost);

function unicodeHost(host: string): string | undefined {
  if (!/xn--/i.test(host)) return undefined;
  const [name = '', port = ''] = /^(.*?)(:\d+)?$/s.exec(host)?.slice(1) ?? [];
  return toOctets(domainToUnicode(name) + port);
}

/** Returns the mistakes of a client that signs a host which only the configuration of the service shows, by kind of part. */
export function listPublicHostMistakes(
  hosts: readonly string[],
): Readonly<Partial<Record<PartKind, readonly Mistake[]>>> {
  const withPath: readonly Mistake[] = [
    [
      'the public host was signed with the path, in front of a proxy',
      (target) => hosts.flatMap((host) => listOrigins(host).map((origin) => origin + target)),
    ],
  ];
  const host: Mistake = ['the public host was signed, in front of a proxy: {signed}', () => hosts];
  return {
    target: withPath,
    path: withPath,
    host: [host],
    url: [
      [
        'the public host was signed, in front of a proxy: {authority}',
        (url) =>
          hosts.flatMap((each) =>
            ['http:', 'https:'].map((scheme) => url.replace(/^https?:\/\/[^/?]*/i, `${scheme}//${each}`)),
          ),
      ],
    ],
  };
}

/** Fields in which a proxy sends the host that the client addressed. */
const hostFields = ['x-forwarded-host', 'x-original-host', 'x-forwarded-server'];
/** Fields in which a proxy sends the target that the client addressed. */
const targetFields = ['x-original-uri', 'x-original-url', 'x-forwarded-uri', 'x-rewrite-url'];
/** Prefixes that proxies often remove, or that a client adds: versions and stages. */
const usualPrefixes = [
  '/api',
  '/v1',
  '/api/v1',
  '/rest',
  '/v2',
  '/api/v2',
  '/v3',
  '/prod',
  '/production',
  '/dev',
  '/stage',
  '/staging',
  '/test',
  '/sandbox',
  '/default',
  '/latest',
  '/webhooks',
];

function toForwardedPrefix(sent: string | undefined): string | undefined {
  return sent === undefined ? undefined : `/${sent.replace(/^\/|\/$/g, '')}`;
}

function listForwardedHosts({ request: { headers: fields } }: Facts): string[] {
  const forwarded = /(?:^|[;,\s])host="?([^";,\s]+)/i.exec(fields.get('forwarded') ?? '')?.[1];
  const pages = ['origin', 'referer'].map((name) => /^https?:\/\/([^/]+)/.exec(fields.get(name) ?? '')?.[1]);
  return [forwarded, ...hostFields.map((name) => fields.get(name)), ...pages].filter(
    (host) => host !== undefined,
  );
}

function listOrigins(host: string): string[] {
  return [`http://${host}`, `https://${host}`, `//${host}`, host];
}

function otherPorts(host: string): string[] {
  const name = host.replace(/:[0-9]*$/, '');
  return [name, `${name}:80`, `${name}:443`].filter((other) => other !== host);
}

function replaceHost(url: string, _: Facts, other: string): string {
  return url.replace(/^(https?:\/\/)[^/?#]*/i, (_all, scheme: string) => scheme + other);
}

function removeOrigin(url: string): string {
  return url.slice(splitTarget(url).origin.length) || '/';
}

function splitQuery(url: string): [before: string, piece: string, after: string] {
  const query = findQuery(url);
  return [url.slice(0, url.length - query.length), query, ''];
}

function splitUrlTarget(url: string): [before: string, piece: string, after: string] {
  const [origin, path, query] = splitPath(url);
  return [origin, path + query, ''];
}

function splitUrlHost(url: string): [before: string, piece: string, after: string] {
  const [, scheme = '', host = '', target = ''] = /^(https?:\/\/)?([^/?]*)(.*)$/is.exec(url) ?? [];
  return [scheme, host, target];
}

function splitPath(url: string): [before: string, piece: string, after: string] {
  const [, origin = '', path = '', query = ''] = /^(https?:\/\/[^/?]*)?([^?]*)(.*)$/is.exec(url) ?? [];
  return [origin, path, query];
}

/** The largest number of parameters of which all orders are tried. */
const maxOrdered = 4;

function otherOrders(query: string): string[] {
  const parameters = query.split('&');
  if (parameters.length < 2) return [];
  if (parameters.length > maxOrdered) return [parameters.toReversed().join('&')];
  return permutations(parameters).map((order) => order.join('&'));
}

/** Returns all orders of a few items. */
export function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, at) =>
    permutations(items.filter((_, index) => index !== at)).map((others) => [item, ...others]),
  );
}

function compareCaseless(one: string, other: string): number {
  return one.toLowerCase() < other.toLowerCase() ? -1 : 1;
}

/** Removes dot segments (RFC 3986 §5.2.4). */
function removeDotSegments(path: string): string {
  const output: string[] = [];
  const segments = path.split('/').slice(1);
  for (const segment of segments) {
    if (segment === '..') output.pop();
    else if (segment !== '.') output.push(segment);
  }
  const last = segments.at(-1);
  return `/${output.join('/')}${(last === '.' || last === '..') && output.length > 0 ? '/' : ''}`;
}
