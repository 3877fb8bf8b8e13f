import { quotaShape, readQuota } from '../accounts/quota-policy.ts';
import { parseIpNetwork } from '../http/syntax/ip-address.ts';
import { defaultLifetimes, type Lifetimes } from '../oauth/lifetimes.ts';
import { defaultCorsMaxAge, longestCorsMaxAge } from '../pipeline/cors-policy.ts';
import { httpsOrigin } from '../pipeline/origin.ts';
import { isBasePath } from '../pipeline/proxy.ts';
import { documentFormats } from '../pipeline/resource.ts';
import type { ShapeFault, ShapePath } from '../shape/fault.ts';
import { convert, either, listOf, recursive, refine, type Shape } from '../shape/shape.ts';
import {
  choice,
  type Option,
  type OptionDetails,
  textOption,
  time,
  toggle,
  whole,
  written,
} from './option.ts';

/** In seconds. */
const day = 86_400;
/** In seconds. */
const year = 31_536_000;
/** The range of a limit without a bound of its own. */
const counts = [1, 2_147_483_647] as const;
const countsFrom0 = [0, 2_147_483_647] as const;
const ports = [0, 65_535] as const;
/** The range of a Node.js timer, in whole seconds. */
const timeouts = [1, 2_147_483] as const;

const anyText = textOption();
const address = textOption('an address such as 127.0.0.1, ::1 or localhost', (text) =>
  /^[A-Za-z0-9.:%_-]{1,255}$/.test(text),
);
const path = textOption('a path such as /api, without a slash at the end', isBasePath);
const origin = convert(
  textOption('an https origin such as https://api.example', (text) => httpsOrigin(text) !== undefined),
  (text) => httpsOrigin(text) ?? text,
);
const quota = convert(
  recursive('quota', () => quotaShape),
  (declared) => readQuota(declared, 'quota'),
);

/** Describes texts separated by commas, or an array of texts. */
function separated(expected: string): Shape<readonly string[]> {
  return convert(either(anyText, listOf(anyText, undefined, { expected })), (value) =>
    typeof value === 'string' ? value.split(',').map((text) => text.trim()) : value,
  );
}

const networks = refine(separated('a list of networks'), (texts, at) =>
  texts.flatMap((text) => {
    const fault = parseIpNetwork(text);
    return typeof fault === 'string' ? [explainPart(at, `${JSON.stringify(text)} ${fault}`)] : [];
  }),
);

/** Returns the fault of a part of a value, whose sentence names the part. */
export function explainPart(path: ShapePath, sentence: string): ShapeFault {
  return { path, kind: 'rule', says: (what) => `${what}: ${sentence}` };
}

/** Creates the option of a lifetime of OAuth. */
function lifetime(name: keyof Lifetimes, max: number, about: string): Option<number> {
  const within = ['lifetimes', name] as const;
  return time([1, max], defaultLifetimes[name] / 1000, about, { within, sets: within });
}

/** Creates the option of a file, without a default. */
function file(about: string, details: OptionDetails = {}): Option<string | undefined> {
  return written(anyText, 'FILE', undefined, about, details);
}

/** Creates the option of a limit of the service. */
function limit(
  name: string,
  value: 'BYTES' | 'COUNT',
  fallback: number,
  about: string,
  range: typeof counts | typeof countsFrom0 = counts,
): Option<number> {
  return whole(value, range, fallback, about, { sets: ['limits', name] });
}

/** All options of the server by key, in the order of `--help`. */
export const optionTable = {
  host: written(address, 'ADDRESS', '127.0.0.1', 'address to bind'),
  port: whole('PORT', ports, 8080, 'port for plain HTTP; 0 selects a free port'),
  noHttp: toggle('disable plain HTTP'),
  tlsPort: whole('PORT', ports, 8443, 'port for HTTPS; 0 selects a free port'),
  noTls: toggle('disable HTTPS'),
  tls: choice(
    ['required', 'assumed'],
    'required',
    'assumed: credentials that require TLS work over plain HTTP',
  ),
  tlsCert: file('PEM file with the certificate and its chain', { byDefault: 'generated' }),
  tlsKey: file('PEM file with the private key', { byDefault: 'generated' }),
  data: written(anyText, 'DIR', './countersign-data', 'data directory, mode 0700'),
  memory: toggle('store nothing on disk'),
  module: file('ES module with a store, resources and other parts of the server'),
  partner: file('OpenAPI document of a partner, in JSON or YAML, which the server stands in for'),
  strict: toggle('with --partner, a mistake in the document refuses the start'),
  validation: choice(
    ['on', 'warn', 'off'],
    'on',
    'with --partner: how requests and responses are compared with it',
  ),
  keyFile: file('file with the key that encrypts stored secrets; or COUNTERSIGN_KEY'),
  config: file('JSON configuration file'),
  durability: choice(['fsync', 'os'], 'fsync', 'with os, changes do not survive a power failure'),
  onMismatch: choice(
    ['refuse', 'warn'],
    'refuse',
    'with warn, start although stored values have other types',
  ),
  hmacSimple: choice(['safe', 'all', 'off'], 'safe', 'methods that the simple form can sign', {
    sets: ['hmacSimple'],
  }),
  hmacRequireBodyDigest: toggle('reject signed requests whose content has no signed digest', {
    sets: ['requireBodyDigest'],
    within: ['hmac', 'requireBodyDigest'],
  }),
  window: time([1, year], 600, 'maximum difference between a signed date and the clock', {
    sets: ['window'],
  }),
  maxNonces: whole('COUNT', counts, 10_000_000, 'maximum number of stored nonces, then 503', {
    sets: ['maxNonces'],
    within: ['nonces', 'max'],
  }),
  maxNoncesPerUser: whole('COUNT', counts, undefined, 'maximum per user or consumer, then 429', {
    sets: ['maxNoncesPerUser'],
    within: ['nonces', 'maxPerUser'],
    byDefault: 'a tenth of --max-nonces',
  }),
  idempotencyLifetime: time(
    [1, year],
    86_400,
    'time in which a request with an Idempotency-Key can be repeated',
    { sets: ['idempotencyLifetime'] },
  ),
  maxIdempotencyKeysPerUser: whole(
    'COUNT',
    counts,
    10_000,
    'maximum number of stored idempotency keys per user, then 429',
    { sets: ['maxIdempotencyKeysPerUser'] },
  ),
  maxAuthFailures: whole(
    'COUNT',
    countsFrom0,
    100,
    'failures per minute, per peer and per user, then 429; 0: no limit',
    { sets: ['maxAuthFailures'] },
  ),
  quota: written(
    quota,
    'COUNT/TIME[,…]',
    undefined,
    'requests per user and per peer, such as 1000/1h, then 429',
    { sets: ['quota'], byDefault: 'no limit' },
  ),
  trustProxy: written(networks, 'CIDR[,CIDR]', [], 'networks of trusted proxies', { sets: ['trustProxy'] }),
  publicUrl: written(origin, 'URL', undefined, 'https origin of the OAuth issuer and of links', {
    sets: ['publicUrl'],
    byDefault: 'the HTTPS origin',
  }),
  basePath: written(path, 'PATH', undefined, 'path prefix that a proxy removes, such as /api', {
    sets: ['basePath'],
  }),
  corsOrigin: {
    ...written(
      separated('a list of origins'),
      'ORIGIN',
      [],
      'origin whose pages may send requests in browsers, or * for all; repeatable',
      { sets: ['cors', 'origins'], within: ['cors', 'origins'] },
    ),
    repeatable: true,
  },
  corsCredentials: toggle('permit these pages to send requests with credentials of the browser', {
    sets: ['cors', 'credentials'],
    within: ['cors', 'credentials'],
  }),
  corsMaxAge: time(
    [0, longestCorsMaxAge],
    defaultCorsMaxAge,
    'time for which browsers may cache what a preflight permits',
    { sets: ['cors', 'maxAge'], within: ['cors', 'maxAge'] },
  ),
  codeLifetime: lifetime('code', 600, 'lifetime of an OAuth 2.0 authorization code'), // RFC 6749 §4.1.2
  accessLifetime: lifetime('access', year, 'lifetime of an OAuth 2.0 access token'),
  refreshLifetime: lifetime('refresh', year, 'lifetime of an OAuth 2.0 refresh token that is not used'),
  refreshTotalLifetime: lifetime(
    'refreshTotal',
    year,
    'lifetime of all refresh tokens of an OAuth 2.0 grant',
  ),
  ticketLifetime: lifetime('ticket', day, 'lifetime of a consent page'),
  requestTokenLifetime: lifetime('requestToken', day, 'lifetime of an OAuth 1.0a request token'),
  oauth1AccessLifetime: lifetime('oauth1Access', year, 'lifetime of an OAuth 1.0a access token'),
  oauth1Window: lifetime(
    'oauth1Window',
    year,
    'maximum difference of an OAuth 1.0a timestamp; at most --window',
  ),
  defaultFormat: choice(documentFormats, 'xml', 'format of responses to clients that accept both', {
    sets: ['defaultFormat'],
  }),
  strictQuery: toggle('reject unknown and repeated query parameters of lists', { sets: ['strictQuery'] }),
  openapi: toggle('GET /openapi.json returns the OpenAPI document of the server', { sets: ['openapi'] }),
  explain: toggle('error responses explain what was checked; never a secret', { sets: ['explain'] }),
  maxBody: limit('body', 'BYTES', 1_048_576, 'maximum size of request content'),
  maxUnverifiedContent: limit(
    'unverifiedContent',
    'BYTES',
    67_108_864,
    'maximum content of all unauthenticated requests',
  ),
  maxTarget: limit('target', 'BYTES', 8192, 'maximum length of a request target, path and query'),
  maxHeaders: limit('headers', 'BYTES', 16_384, 'maximum size of a header section'),
  maxXmlDepth: limit('xmlDepth', 'COUNT', 32, 'maximum nesting of XML elements'),
  maxXmlAttributes: limit(
    'xmlAttributes',
    'COUNT',
    64,
    'maximum number of attributes of an XML element',
    countsFrom0,
  ),
  maxConnections: limit('connections', 'COUNT', 1000, 'maximum number of open connections'),
  headerTimeout: time(timeouts, 10, 'time limit for receiving a header section', {
    sets: ['limits', 'headerTimeout'],
    times: 1000,
  }),
  requestTimeout: time(timeouts, 60, 'time limit for receiving a complete request', {
    sets: ['limits', 'requestTimeout'],
    times: 1000,
  }),
  healthPath: written(
    path,
    'PATH',
    undefined,
    'path of health checks; readiness checks have the path PATH/ready',
    { sets: ['health', 'path'] },
  ),
  requestId: toggle('responses have the id of the request in X-Request-Id', { sets: ['requestId'] }),
  controlPort: whole(
    'PORT',
    ports,
    undefined,
    'port of the control interface on 127.0.0.1; 0 selects a free port',
  ),
  untilStdinCloses: toggle('stop when standard input closes, as it does when the parent process ends'),
  log: choice(['pretty', 'json', 'off'], undefined, 'request log on standard error', {
    byDefault: 'pretty on a terminal, otherwise json',
  }),
} as const satisfies Readonly<Record<string, Option<unknown>>>;

/** The values of all options by key. */
export type OptionValues = {
  readonly [Key in keyof typeof optionTable]: (typeof optionTable)[Key] extends Option<infer Value>
    ? Value
    : never;
};

/** All options by key, in the order of `optionTable`. */
export const optionSpecs: ReadonlyMap<string, Option<unknown>> = new Map(Object.entries(optionTable));

/** Environment variables that are not options. */
export const otherVariables: readonly string[] = [
  'COUNTERSIGN_SECRET',
  'COUNTERSIGN_PRIVATE_KEY_FILE',
  'COUNTERSIGN_KEY',
  'COUNTERSIGN_CONTROL_TOKEN',
];

/** Returns the flag of an option: `--hmac-simple` for `hmacSimple`. */
export function formatFlag(key: string): string {
  return `--${separateWords(key, '-').toLowerCase()}`;
}

/** Returns the environment variable of an option: `COUNTERSIGN_HMAC_SIMPLE` for `hmacSimple`. */
export function formatVariable(key: string): string {
  return `COUNTERSIGN_${separateWords(key, '_').toUpperCase()}`;
}

/** Inserts a mark before each capital letter. */
function separateWords(key: string, mark: string): string {
  let words = '';
  let from = 0;
  for (let at = 0; at < key.length; at += 1) {
    const code = key.charCodeAt(at);
    if (code < 0x41 || code > 0x5a) continue;
    words += key.slice(from, at) + mark;
    from = at;
  }
  return words + key.slice(from);
}
