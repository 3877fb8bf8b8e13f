// Mistakes in a path, a target and a URL. Proxies make some of them, in transit.
import { findQuery } from '../../http/target.ts';
import { escapedPathMistakes, escapedQueryMistakes, escapeMistakes, inLowerCase } from './escapes.ts';
import { addedHosts, furtherHostMistakes, hostMistakes, listForwardedHosts, removeOrigin } from './host.ts';
import { embedMistakes, type Facts, type Mistake } from './mistake.ts';
import { queryEncodings, queryForms, queryObjects } from './parameters.ts';
import { furtherQueryMistakes } from './query.ts';

const normalized = 'the path was normalized in transit, or by the client after signing';

/** The mistakes in the form of a path. */
const pathForms: readonly Mistake[] = [
  [`${normalized}: there was no trailing slash`, (path) => path.replace(/(?<=.)\/$/, '')],
  [`${normalized}: there was a trailing slash`, (path) => (path.endsWith('/') ? undefined : `${path}/`)],
  [`${normalized}: dot segments were removed`, (path) => removeDotSegments(path)],
  [`${normalized}: double slashes were merged`, (path) => path.replace(/\/{2,}/g, '/')],
  [
    'the path was signed with a second slash at its beginning: does the base URL end with a slash?',
    (path) => (path.startsWith('/') ? `/${path}` : undefined),
  ],
  ['{part} was signed without its leading slash', (path) => path.replace(/^\//, '')],
  [
    'the parameters of the segments of the path were left out: all after ";"',
    (path) => path.replace(/;[^/]*/g, ''),
  ],
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

/** The mistakes in a "?" without a query. */
const loneMarks: readonly Mistake[] = [
  ['a "?" without a query was signed', (target) => (target.includes('?') ? undefined : `${target}?`)],
  ['a "?" without a query was not signed', (target) => target.replace(/\?$/, '')],
];

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
  ...loneMarks,
  inLowerCase,
];

/** A client appends the parameters to a target that has them already. */
const queryTwice: Mistake = [
  'the query was signed twice',
  (text) => {
    const at = text.indexOf('?');
    return at < 0 ? undefined : ['?', '&'].map((mark) => `${text}${mark}${text.slice(at + 1)}`);
  },
];

const fragmentSigned =
  'a fragment was signed; a client does not send it (RFC 9110 §4.2.5): {signed} was signed';

/** Returns a target or URL with fragments that pages often have. */
function addFragments(target: string): string[] {
  return ['#', '#/', '#!', '#top', '#fragment', '#frag', '#section', '#anchor'].map((each) => target + each);
}

/** The mistakes in a target. */
export const targetMistakes: readonly Mistake[] = [
  ['the query was left out', (target) => target.replace(/\?.*$/s, '')],
  ...addedHosts,
  ...rewrites,
  ...escapeMistakes,
  ...embedMistakes(escapedPathMistakes, splitPath),
  ...embedMistakes(escapedQueryMistakes, splitQuery),
  ...embedMistakes(queryEncodings, splitQuery),
  ...embedMistakes(pathForms, splitPath),
  ...loneMarks,
  ...embedMistakes(queryForms, splitQuery),
  ...embedMistakes(escapeMistakes, splitPath),
  inLowerCase,
  ['the query was signed without its question mark', (target) => target.replace('?', '')],
  ['the query was signed with a second question mark', (target) => target.replace('?', '??')],
  queryTwice,
  ['the path was left out', (target) => target.replace(/^[^?]*/, '')],
  ...embedMistakes(queryObjects, (target) => [target.replace(/\?.*$/s, ''), findQuery(target), '']),
  [fragmentSigned, (target) => addFragments(target)],
];

/** The mistakes in a host that are tried first in a URL: those in its port. */
const usualHosts = 2;

/** The mistakes in a URL. */
export const urlMistakes: readonly Mistake[] = [
  ['https was signed, but the request arrived over http', (url) => url.replace(/^http:/, 'https:')],
  ['http was signed, but the request arrived over https', (url) => url.replace(/^https:/, 'http:')],
  ...embedMistakes(hostMistakes.slice(0, usualHosts), splitUrlHost),
  [
    'the public host was signed, in front of a proxy',
    (url, facts) =>
      listForwardedHosts(facts).flatMap((host) => {
        const addressed = url.replace(/^(https?:\/\/)[^/?#]*/i, (_, scheme: string) => scheme + host);
        return [addressed, addressed.replace(/^http:/, 'https:')];
      }),
  ],
  ['the query was left out', (url) => url.replace(/\?.*$/s, '')],
  queryTwice,
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
  ...embedMistakes(queryEncodings, splitQuery),
  inLowerCase,
  ['{part} was signed in upper case', (url) => url.toUpperCase()],
  ...embedMistakes(hostMistakes.slice(usualHosts), splitUrlHost),
  ['the query was signed without its question mark', (url) => url.replace('?', '')],
  ['the query was signed with a second question mark', (url) => url.replace('?', '??')],
  ['the path was left out', (url) => url.replace(/^(https?:\/\/[^/?]*)[^?]*/i, '$1')],
  [fragmentSigned, (url) => addFragments(url)],
];

/** The mistakes in a path that are tried last, because they are many. */
export const furtherPathMistakes: readonly Mistake[] = [
  [
    'the path was signed with a prefix that did not arrive, {front}: the base path of a gateway, a proxy or another service?',
    addPrefixes,
  ],
];

/** The mistakes in a target that are tried last. */
export const furtherTargetMistakes: readonly Mistake[] = [
  ...embedMistakes(furtherQueryMistakes, splitLongerQuery),
  ...furtherPathMistakes,
];

/** The mistakes in the origin of a URL that are tried together with one in the target. */
const originMistakes: readonly (readonly [hint: string, change: (origin: string) => string])[] = [
  ['https was signed, but the request arrived over http', (origin) => origin.replace(/^http:/, 'https:')],
  ['http was signed, but the request arrived over https', (origin) => origin.replace(/^https:/, 'http:')],
  ['only the target was signed, without scheme and host', () => ''],
  ['the scheme was left out', (origin) => origin.replace(/^https?:\/\//, '')],
  ['the host was signed without its port', (origin) => origin.replace(/:\d+$/, '')],
];

/** The mistakes in a target whose hints do not compare it with the URL. */
const alsoInTarget: readonly Mistake[] = targetMistakes
  .filter((mistake) => !addedHosts.includes(mistake))
  .map(([hint, values]): Mistake => [hint.replace(': {instead}', ''), values])
  .filter(([hint]) => !/\{(?!part\})/.test(hint));

/** The mistakes in a URL that are tried last. */
export const furtherUrlMistakes: readonly Mistake[] = [
  ...originMistakes.flatMap(([hint, change]) =>
    embedMistakes(alsoInTarget, (url) => {
      const [origin, target] = splitUrlTarget(url);
      return [change(origin), target, ''];
    }).map(([also, values]): Mistake => [`${hint}; and ${also}`, values]),
  ),
  ...embedMistakes(furtherHostMistakes, splitUrlHost),
  ...embedMistakes(furtherTargetMistakes, splitUrlTarget),
];

/** Segments of base paths. */
const baseSegments =
  `api rest v1 v2 v3 v4 v5 v6 v1.0 v2.0 1.0 2.0 latest beta alpha prod production live dev develop development stage
  staging stg test testing qa uat preprod sandbox mock demo local internal external public private open openapi partner partners
  client clients customer customers gateway api-gateway apigw gw edge proxy ingress bff backend frontend app apps web www site portal
  mobile admin service services svc server core platform base root common shared main hub cloud mesh functions function lambda fn
  default execute integration integrations connect connector hooks hook webhook webhooks callback callbacks events event notify
  notifications auth oauth identity account accounts user users tenant tenants org orgs team teams project projects workspace company
  payment payments pay billing checkout invoice invoices order orders shop store catalog catalogue product products inventory stock
  warehouse wms erp crm pos erp-api shipping logistics delivery search report reports data files media storage cms content blog news
  articles graphql rpc json xml soap odata wp-json eu us de uk en int ext pub other upstream downstream origin`.split(
    /\s+/,
  );

/** Yields targets with a base path that did not arrive, before the path and in place of its first segments. */
function* addPrefixes(target: string, facts: Facts): Generator<string> {
  const rests = [target, ...removeSegments(target).slice(0, 2)];
  const others = ['', '/api', '/v1', '/api/v1'];
  for (const word of new Set([...listSegments(target, facts), ...baseSegments]))
    for (const other of others)
      for (const prefix of other === '' ? [`/${word}`] : [`/${word}${other}`, `${other}/${word}`])
        for (const rest of other === '' ? rests : [target]) yield prefix + rest;
}

/** The number of words of a request that are tried as a prefix. */
const maxWords = 32;

/** Returns the words of a request that may be the base path of one of its hops: labels of its hosts, and segments of its paths and fields. */
function listSegments(target: string, facts: Facts): readonly string[] {
  const { headers } = facts.request;
  const hosts = [facts.host, ...listForwardedHosts(facts)].flatMap((host) => host.split(/[.:]/));
  const values = headers.raw.filter((value, at) => at % 2 === 1 && /^(?:https?:\/)?\/[!-~]+$/.test(value));
  const segments = values.flatMap((value) => value.slice(0, 256).split(/[?#]/, 1)[0]?.split('/') ?? []);
  const own = target.split(/[?]/, 1)[0]?.split('/') ?? [];
  const related = own.flatMap((each) => [
    each,
    `${each}-service`,
    `${each}-api`,
    `${each}s`,
    each.slice(0, -1),
  ]);
  return [...hosts, ...segments, ...related]
    .map((word) => word.toLowerCase())
    .filter((word) => /^[a-z][\w.-]{0,63}$/.test(word))
    .slice(0, maxWords);
}

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

/** A text in three pieces, of which the mistakes are in the second one. */
type Split = readonly [before: string, piece: string, after: string];

function splitQuery(url: string): Split {
  const query = findQuery(url);
  return [url.slice(0, url.length - query.length), query, ''];
}

function splitLongerQuery(url: string): Split {
  return url.includes('?') ? splitQuery(url) : [`${url}?`, '', ''];
}

function splitUrlTarget(url: string): Split {
  const [origin, path, query] = splitPath(url);
  return [origin, path + query, ''];
}

function splitUrlHost(url: string): Split {
  const [, scheme = '', host = '', target = ''] = /^(https?:\/\/)?([^/?]*)(.*)$/is.exec(url) ?? [];
  return [scheme, host, target];
}

function splitPath(url: string): Split {
  const [, origin = '', path = '', query = ''] = /^(https?:\/\/[^/?]*)?([^?]*)(.*)$/is.exec(url) ?? [];
  return [origin, path, query];
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
