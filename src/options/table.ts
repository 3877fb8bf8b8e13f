import { quotaShape } from '../auth/quota-policy.ts';
import { defaultLifetimes, type Lifetimes } from '../oauth/lifetimes.ts';
import { defaultCorsMaxAge, longestCorsMaxAge } from '../pipeline/cors-policy.ts';
import { documentFormats } from '../pipeline/resource.ts';
import { either, listOf, recursive, text } from '../shape/shape.ts';
import type { OptionSpec } from './spec.ts';

/** In seconds. */
const day = 86_400;
/** In seconds. */
const year = 31_536_000;
/** The maximum of a limit without a bound of its own. */
const maxCount = 2_147_483_647;
/** The maximum delay of a Node.js timer, in whole seconds. */
const maxTimeout = 2_147_483;

/** An address to bind: an IP address or a host name. */
export const addressForm = /^[A-Za-z0-9.:%_-]{1,255}$/;

export const nonEmptyText = text(undefined, { min: 1 });
export const texts = listOf(nonEmptyText);
/** Texts separated by commas, or an array of texts. */
export const textOrTexts = either(nonEmptyText, texts);

/** Returns the specification of a lifetime of OAuth, in seconds. */
function lifetime(name: keyof Lifetimes, max: number, about: string) {
  const fallback = defaultLifetimes[name] / 1000;
  const within: readonly [string, string] = ['lifetimes', name];
  return { kind: 'whole', value: 'SECONDS', min: 1, max, fallback, within, sets: within, about } as const;
}

/** All options of the server by key, in the order of `--help`. */
export const optionTable = {
  host: {
    kind: 'text',
    value: 'ADDRESS',
    fallback: '127.0.0.1',
    inFile: text(undefined, { form: addressForm }),
    about: 'address to bind',
  },
  port: {
    kind: 'whole',
    value: 'PORT',
    min: 0,
    max: 65535,
    fallback: 8080,
    about: 'port for plain HTTP; 0 selects a free port',
  },
  noHttp: { kind: 'toggle', about: 'disable plain HTTP' },
  tlsPort: {
    kind: 'whole',
    value: 'PORT',
    min: 0,
    max: 65535,
    fallback: 8443,
    about: 'port for HTTPS; 0 selects a free port',
  },
  noTls: { kind: 'toggle', about: 'disable HTTPS' },
  tls: {
    kind: 'choice',
    words: ['required', 'assumed'],
    fallback: 'required',
    about: 'assumed: credentials that require TLS work over plain HTTP',
  },
  tlsCert: {
    kind: 'text',
    value: 'FILE',
    fallback: undefined,
    about: 'PEM file with the certificate and its chain',
    byDefault: 'generated',
  },
  tlsKey: {
    kind: 'text',
    value: 'FILE',
    fallback: undefined,
    about: 'PEM file with the private key',
    byDefault: 'generated',
  },
  data: {
    kind: 'text',
    value: 'DIR',
    fallback: './countersign-data',
    about: 'data directory, mode 0700',
  },
  memory: { kind: 'toggle', about: 'store nothing on disk' },
  module: {
    kind: 'text',
    value: 'FILE',
    fallback: undefined,
    about: 'ES module with a store, resources and other parts of the server',
  },
  partner: {
    kind: 'text',
    value: 'FILE',
    fallback: undefined,
    about: 'OpenAPI document of a partner, in JSON or YAML, which the server stands in for',
  },
  strict: { kind: 'toggle', about: 'with --partner, a mistake in the document refuses the start' },
  validation: {
    kind: 'choice',
    words: ['on', 'warn', 'off'],
    fallback: 'on',
    about: 'with --partner: how requests and responses are compared with it',
  },
  keyFile: {
    kind: 'text',
    value: 'FILE',
    fallback: undefined,
    about: 'file with the key that encrypts stored secrets; or COUNTERSIGN_KEY',
  },
  config: { kind: 'text', value: 'FILE', fallback: undefined, about: 'JSON configuration file' },
  durability: {
    kind: 'choice',
    words: ['fsync', 'os'],
    fallback: 'fsync',
    about: 'with os, changes do not survive a power failure',
  },
  onMismatch: {
    kind: 'choice',
    words: ['refuse', 'warn'],
    fallback: 'refuse',
    about: 'with warn, start although stored values have other types',
  },
  hmacSimple: {
    sets: ['hmacSimple'],
    kind: 'choice',
    words: ['safe', 'all', 'off'],
    fallback: 'safe',
    about: 'methods that the simple form can sign',
  },
  hmacRequireBodyDigest: {
    sets: ['requireBodyDigest'],
    kind: 'toggle',
    within: ['hmac', 'requireBodyDigest'],
    about: 'reject signed requests whose content has no signed digest',
  },
  window: {
    sets: ['window'],
    kind: 'whole',
    value: 'SECONDS',
    min: 1,
    max: year,
    fallback: 600,
    about: 'maximum difference between a signed date and the clock',
  },
  maxNonces: {
    sets: ['maxNonces'],
    kind: 'whole',
    value: 'COUNT',
    min: 1,
    max: maxCount,
    fallback: 10_000_000,
    within: ['nonces', 'max'],
    about: 'maximum number of stored nonces, then 503',
  },
  maxNoncesPerUser: {
    sets: ['maxNoncesPerUser'],
    kind: 'whole',
    value: 'COUNT',
    min: 1,
    max: maxCount,
    fallback: undefined,
    within: ['nonces', 'maxPerUser'],
    about: 'maximum per user or consumer, then 429',
    byDefault: 'a tenth of --max-nonces',
  },
  idempotencyLifetime: {
    sets: ['idempotencyLifetime'],
    kind: 'whole',
    value: 'SECONDS',
    min: 1,
    max: year,
    fallback: 86_400,
    about: 'time in which a request with an Idempotency-Key can be repeated',
  },
  maxIdempotencyKeysPerUser: {
    sets: ['maxIdempotencyKeysPerUser'],
    kind: 'whole',
    value: 'COUNT',
    min: 1,
    max: maxCount,
    fallback: 10_000,
    about: 'maximum number of stored idempotency keys per user, then 429',
  },
  maxAuthFailures: {
    sets: ['maxAuthFailures'],
    kind: 'whole',
    value: 'COUNT',
    min: 0,
    max: maxCount,
    fallback: 100,
    about: 'failures per minute, per peer and per user, then 429; 0: no limit',
  },
  quota: {
    sets: ['quota'],
    kind: 'text',
    value: 'COUNT/TIME[,…]',
    inFile: recursive('quota', () => quotaShape),
    fallback: undefined,
    about: 'requests per user and per peer, such as 1000/1h, then 429',
    byDefault: 'no limit',
  },
  trustProxy: {
    sets: ['trustProxy'],
    kind: 'text',
    value: 'CIDR[,CIDR]',
    inFile: textOrTexts,
    fallback: undefined,
    about: 'networks of trusted proxies',
  },
  publicUrl: {
    sets: ['publicUrl'],
    kind: 'text',
    value: 'URL',
    fallback: undefined,
    about: 'https origin of the OAuth issuer and of links',
    byDefault: 'the HTTPS origin',
  },
  basePath: {
    sets: ['basePath'],
    kind: 'text',
    value: 'PATH',
    fallback: undefined,
    about: 'path prefix that a proxy removes, such as /api',
  },
  corsOrigin: {
    sets: ['cors', 'origins'],
    kind: 'list',
    value: 'ORIGIN',
    within: ['cors', 'origins'],
    about: 'origin whose pages may send requests in browsers, or * for all; repeatable',
  },
  corsCredentials: {
    sets: ['cors', 'credentials'],
    kind: 'toggle',
    within: ['cors', 'credentials'],
    about: 'permit these pages to send requests with credentials of the browser',
  },
  corsMaxAge: {
    sets: ['cors', 'maxAge'],
    kind: 'whole',
    value: 'SECONDS',
    min: 0,
    max: longestCorsMaxAge,
    fallback: defaultCorsMaxAge,
    within: ['cors', 'maxAge'],
    about: 'time for which browsers may cache what a preflight permits',
  },
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
  defaultFormat: {
    sets: ['defaultFormat'],
    kind: 'choice',
    words: documentFormats,
    fallback: 'xml',
    about: 'format of responses to clients that accept both',
  },
  strictQuery: {
    sets: ['strictQuery'],
    kind: 'toggle',
    about: 'reject unknown and repeated query parameters of lists',
  },
  openapi: {
    sets: ['openapi'],
    kind: 'toggle',
    about: 'GET /openapi.json returns the OpenAPI document of the server',
  },
  explain: {
    sets: ['explain'],
    kind: 'toggle',
    about: 'error responses explain what was checked; never a secret',
  },
  maxBody: {
    sets: ['limits', 'body'],
    kind: 'whole',
    value: 'BYTES',
    min: 1,
    max: maxCount,
    fallback: 1_048_576,
    about: 'maximum size of request content',
  },
  maxUnverifiedContent: {
    sets: ['limits', 'unverifiedContent'],
    kind: 'whole',
    value: 'BYTES',
    min: 1,
    max: maxCount,
    fallback: 67_108_864,
    about: 'maximum content of all unauthenticated requests',
  },
  maxTarget: {
    sets: ['limits', 'target'],
    kind: 'whole',
    value: 'BYTES',
    min: 1,
    max: maxCount,
    fallback: 8192,
    about: 'maximum length of a request target, path and query',
  },
  maxHeaders: {
    sets: ['limits', 'headers'],
    kind: 'whole',
    value: 'BYTES',
    min: 1,
    max: maxCount,
    fallback: 16_384,
    about: 'maximum size of a header section',
  },
  maxXmlDepth: {
    sets: ['limits', 'xmlDepth'],
    kind: 'whole',
    value: 'COUNT',
    min: 1,
    max: maxCount,
    fallback: 32,
    about: 'maximum nesting of XML elements',
  },
  maxXmlAttributes: {
    sets: ['limits', 'xmlAttributes'],
    kind: 'whole',
    value: 'COUNT',
    min: 0,
    max: maxCount,
    fallback: 64,
    about: 'maximum number of attributes of an XML element',
  },
  maxConnections: {
    sets: ['limits', 'connections'],
    kind: 'whole',
    value: 'COUNT',
    min: 1,
    max: maxCount,
    fallback: 1000,
    about: 'maximum number of open connections',
  },
  headerTimeout: {
    sets: ['limits', 'headerTimeout'],
    times: 1000,
    kind: 'whole',
    value: 'SECONDS',
    min: 1,
    max: maxTimeout,
    fallback: 10,
    about: 'time limit for receiving a header section',
  },
  requestTimeout: {
    sets: ['limits', 'requestTimeout'],
    times: 1000,
    kind: 'whole',
    value: 'SECONDS',
    min: 1,
    max: maxTimeout,
    fallback: 60,
    about: 'time limit for receiving a complete request',
  },
  healthPath: {
    sets: ['health', 'path'],
    kind: 'text',
    value: 'PATH',
    fallback: undefined,
    about: 'path of health checks; readiness checks have the path PATH/ready',
  },
  requestId: {
    sets: ['requestId'],
    kind: 'toggle',
    about: 'responses have the id of the request in X-Request-Id',
  },
  controlPort: {
    kind: 'whole',
    value: 'PORT',
    min: 0,
    max: 65535,
    fallback: undefined,
    about: 'port of the control interface on 127.0.0.1; 0 selects a free port',
  },
  untilStdinCloses: {
    kind: 'toggle',
    about: 'stop when standard input closes, as it does when the parent process ends',
  },
  log: {
    kind: 'choice',
    words: ['pretty', 'json', 'off'],
    fallback: undefined,
    about: 'request log on standard error',
    byDefault: 'pretty on a terminal, otherwise json',
  },
} as const satisfies Readonly<Record<string, OptionSpec>>;

/** The name of an option in the configuration file and in `Options`: `hmacSimple`. */
type OptionKey = keyof typeof optionTable;
type KeyOfKind<Kind> = {
  [Key in OptionKey]: (typeof optionTable)[Key] extends { kind: Kind } ? Key : never;
}[OptionKey];
export type ToggleKey = KeyOfKind<'toggle'>;
/** Whole numbers with a default. */
export type WholeKey = Exclude<KeyOfKind<'whole'>, WholeKeyWithoutDefault>;
/** Whole numbers without a fixed default. */
export type WholeKeyWithoutDefault = 'controlPort' | 'maxNoncesPerUser';
export type ChoiceKey = KeyOfKind<'choice'>;
export type TextKey = KeyOfKind<'text'>;
export type ListKey = KeyOfKind<'list'>;
/** A word of a choice. */
export type Word<Key extends ChoiceKey> = (typeof optionTable)[Key]['words'][number];

/** The specifications of all options by key, in the order of `optionTable`. */
export const optionSpecs: ReadonlyMap<string, OptionSpec> = new Map(Object.entries(optionTable));

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
