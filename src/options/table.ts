import { defaultLifetimes, type Lifetimes } from '../oauth/lifetimes.ts';

/** In seconds. */
const day = 86_400;
const year = 31_536_000;
/** The largest number that a limit may be. */
const anyCount = 2_147_483_647;
/** The longest that a timer of Node's can wait, in whole seconds. */
const anyTimeout = 2_147_483;

interface Described {
  /** For a person, without a full stop; undefined when the option is not worth a line of the help. */
  readonly about?: string;
  /** Where the configuration file may have it as well, besides its own key. */
  readonly within?: readonly [string, string];
}

/** An option that is on or off, and off by default. */
export interface Toggle extends Described {
  readonly kind: 'toggle';
}

/** A whole number within bounds. */
export interface Whole extends Described {
  readonly kind: 'whole';
  readonly value: string;
  readonly least: number;
  readonly most: number;
  /** Undefined where the option is off unless it is set. */
  readonly fallback: number | undefined;
}

/** One of a few words. */
export interface Choice extends Described {
  readonly kind: 'choice';
  readonly words: readonly [string, ...string[]];
  readonly fallback: string | undefined;
}

/** Any text but the empty one. */
export interface Text extends Described {
  readonly kind: 'text';
  readonly value: string;
  readonly fallback: string | undefined;
}

export type OptionSpec = Toggle | Whole | Choice | Text;

/** How long something of OAuth lasts, in seconds. */
function lifetime(name: keyof Lifetimes, most: number, about: string) {
  const fallback = defaultLifetimes[name] / 1000;
  const within: readonly [string, string] = ['lifetimes', name];
  return { kind: 'whole', value: 'SECONDS', least: 1, most, fallback, within, about } as const;
}

/** Every option of the server by its key, in the order in which the help tells them. */
export const optionTable = {
  host: { kind: 'text', value: 'ADDRESS', fallback: '127.0.0.1', about: 'address to bind, exactly' },
  port: {
    kind: 'whole',
    value: 'PORT',
    least: 0,
    most: 65535,
    fallback: 8080,
    about: 'plain HTTP; 0 picks a free port',
  },
  noHttp: { kind: 'toggle', about: 'no plain HTTP' },
  tlsPort: {
    kind: 'whole',
    value: 'PORT',
    least: 0,
    most: 65535,
    fallback: 8443,
    about: 'HTTPS; 0 picks a free port',
  },
  noTls: { kind: 'toggle', about: 'no HTTPS' },
  tlsCert: {
    kind: 'text',
    value: 'FILE',
    fallback: undefined,
    about: 'certificate in PEM, with those above it; self-signed when left out',
  },
  tlsKey: { kind: 'text', value: 'FILE', fallback: undefined, about: "the certificate's private key in PEM" },
  data: {
    kind: 'text',
    value: 'DIR',
    fallback: './countersign-data',
    about: 'where everything durable lives, mode 0700',
  },
  memory: { kind: 'toggle', about: 'keep nothing: all is gone when the process ends' },
  keyFile: {
    kind: 'text',
    value: 'FILE',
    fallback: undefined,
    about: 'key that secrets at rest are encrypted with; or COUNTERSIGN_KEY',
  },
  config: { kind: 'text', value: 'FILE', fallback: undefined, about: 'configuration file, JSON' },
  durability: {
    kind: 'choice',
    words: ['fsync', 'os'],
    fallback: 'fsync',
    about: 'what is acknowledged survives a power loss, or the process only',
  },
  hmacSimple: {
    kind: 'choice',
    words: ['safe', 'all', 'off'],
    fallback: 'safe',
    about: 'which requests the simple form may sign: safe methods, all, none',
  },
  hmacRequireBodyDigest: {
    kind: 'toggle',
    within: ['hmac', 'requireBodyDigest'],
    about: 'refuse signed content whose digest is not signed too',
  },
  window: {
    kind: 'whole',
    value: 'SECONDS',
    least: 1,
    most: year,
    fallback: 600,
    about: "how far a Date may be from the server's clock",
  },
  maxNonces: {
    kind: 'whole',
    value: 'COUNT',
    least: 1,
    most: anyCount,
    fallback: 10_000_000,
    within: ['nonces', 'max'],
    about: 'most nonces remembered at a time; beyond, 503',
  },
  maxNoncesPerUser: {
    kind: 'whole',
    value: 'COUNT',
    least: 1,
    most: anyCount,
    fallback: undefined,
    within: ['nonces', 'maxPerUser'],
    about: 'most of them for one user; beyond, 429 (default: a tenth)',
  },
  maxAuthFailures: {
    kind: 'whole',
    value: 'COUNT',
    least: 0,
    most: anyCount,
    fallback: 100,
    about: 'failed authentications a minute per peer and user; 0: no limit',
  },
  trustProxy: {
    kind: 'text',
    value: 'CIDR[,CIDR]',
    fallback: undefined,
    about: 'peers whose X-Forwarded-Proto and Forwarded are believed',
  },
  publicUrl: {
    kind: 'text',
    value: 'URL',
    fallback: undefined,
    about: 'https origin in issuer and links behind a proxy',
  },
  codeLifetime: lifetime('code', 600, 'OAuth 2.0: an authorization code'), // RFC 6749 §4.1.2
  accessLifetime: lifetime('access', year, 'OAuth 2.0: an access token'),
  refreshLifetime: lifetime('refresh', year, 'OAuth 2.0: a refresh token, from one rotation to the next'),
  refreshTotalLifetime: lifetime('refreshTotal', year, 'OAuth 2.0: all refresh tokens of a grant together'),
  ticketLifetime: lifetime('ticket', day, 'a consent page'),
  requestTokenLifetime: lifetime('requestToken', day, 'OAuth 1.0a: a request token'),
  oauth1AccessLifetime: lifetime('oauth1Access', year, 'OAuth 1.0a: an access token'),
  oauth1Window: lifetime(
    'oauth1Window',
    year,
    'OAuth 1.0a: how far a timestamp may be off; at most --window',
  ),
  explain: { kind: 'toggle', about: 'refusals carry what the server checked, never a secret' },
  maxBody: {
    kind: 'whole',
    value: 'BYTES',
    least: 1,
    most: anyCount,
    fallback: 1_048_576,
    about: 'largest content of a request',
  },
  maxTarget: {
    kind: 'whole',
    value: 'BYTES',
    least: 1,
    most: anyCount,
    fallback: 8192,
    about: 'longest request target, path and query',
  },
  maxHeaders: {
    kind: 'whole',
    value: 'BYTES',
    least: 1,
    most: anyCount,
    fallback: 16_384,
    about: 'largest header section of a request',
  },
  maxXmlDepth: {
    kind: 'whole',
    value: 'COUNT',
    least: 1,
    most: anyCount,
    fallback: 32,
    about: 'deepest nesting of elements',
  },
  maxXmlAttributes: {
    kind: 'whole',
    value: 'COUNT',
    least: 0,
    most: anyCount,
    fallback: 64,
    about: 'most attributes of one element',
  },
  maxConnections: {
    kind: 'whole',
    value: 'COUNT',
    least: 1,
    most: anyCount,
    fallback: 1000,
    about: 'most connections at a time',
  },
  headerTimeout: {
    kind: 'whole',
    value: 'SECONDS',
    least: 1,
    most: anyTimeout,
    fallback: 10,
    about: 'time for the header section to arrive',
  },
  requestTimeout: {
    kind: 'whole',
    value: 'SECONDS',
    least: 1,
    most: anyTimeout,
    fallback: 60,
    about: 'time for the whole request to arrive',
  },
  controlPort: {
    kind: 'whole',
    value: 'PORT',
    least: 0,
    most: 65535,
    fallback: undefined,
    about: 'control interface for tests, on 127.0.0.1; 0 picks a free port',
  },
  log: {
    kind: 'choice',
    words: ['pretty', 'json', 'off'],
    fallback: undefined,
    about: 'a line for each request, to standard error; pretty on a terminal, else json',
  },
} as const satisfies Readonly<Record<string, OptionSpec>>;

/** An option's name in the configuration file and in `Options`: `hmacSimple`. */
export type OptionKey = keyof typeof optionTable;
type KeyOfKind<Kind> = {
  [Key in OptionKey]: (typeof optionTable)[Key] extends { kind: Kind } ? Key : never;
}[OptionKey];
export type ToggleKey = KeyOfKind<'toggle'>;
/** Whole numbers with a default. */
export type WholeKey = Exclude<KeyOfKind<'whole'>, WholeKeyWithoutDefault>;
/** Whole numbers that are undefined unless they are set. */
export type WholeKeyWithoutDefault = 'controlPort' | 'maxNoncesPerUser';
export type ChoiceKey = KeyOfKind<'choice'>;
export type TextKey = KeyOfKind<'text'>;
/** What a choice may be. */
export type Word<Key extends ChoiceKey> = (typeof optionTable)[Key]['words'][number];

/** The options' keys and what is known of each, in the order of the table. */
export const optionSpecs: ReadonlyMap<string, OptionSpec> = new Map(Object.entries(optionTable));

/** Variables that are no options: they are read where they are used. */
export const otherVariables: readonly string[] = [
  'COUNTERSIGN_SECRET',
  'COUNTERSIGN_KEY',
  'COUNTERSIGN_CONTROL_TOKEN',
];

/** `hmacSimple` as a flag: `--hmac-simple`. */
export function flagOf(key: string): string {
  return `--${parted(key, '-').toLowerCase()}`;
}

/** `hmacSimple` as an environment variable: `COUNTERSIGN_HMAC_SIMPLE`. */
export function variableOf(key: string): string {
  return `COUNTERSIGN_${parted(key, '_').toUpperCase()}`;
}

/** A key with a mark before each capital. */
function parted(key: string, mark: string): string {
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
