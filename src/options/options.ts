import { requireTls } from '../accounts/registered.ts';
import { readSchemes } from '../auth/configured-schemes.ts';
import type { QuotaPolicy } from '../auth/quota-policy.ts';
import type { SchemeDeclarations } from '../auth/scheme-declarations.ts';
import type { ConfiguredUser } from '../auth/user-declaration.ts';
import { type Collection, defaultCollections, readCollection } from '../collections/declaration.ts';
import { decodeSeeds, type Seed } from '../collections/seed.ts';
import type { OAuth2Options } from '../oauth/oauth2-options.ts';
import { DeclarationError } from '../schema/error.ts';
import { OptionsError } from './error.ts';
import { type ConfigurationFile, readConfigurationFile, type Setting } from './file.ts';
import { type Arity, hint, readArguments, toPrintable } from './flags.ts';
import { oddClients, type Registrations } from './registrations.ts';
import { Settings } from './settings.ts';
import { formatFlag, formatVariable, optionSpecs, optionTable, otherVariables, type Word } from './table.ts';

export { OptionsError } from './error.ts';

/** The validated, frozen options of the server. */
export interface Options extends Declarations, Registrations {
  readonly host: string;
  /** The port of plain HTTP; undefined if it is off. */
  readonly port: number | undefined;
  /** The port of HTTPS; undefined if it is off. */
  readonly tlsPort: number | undefined;
  /** Whether TLS is assumed where credentials require it; only on a loopback address. */
  readonly tls: Word<'tls'>;
  /** The path of the certificate, PEM. Defined if and only if `tlsKey` is. */
  readonly tlsCert: string | undefined;
  /** The path of the private key, PEM. */
  readonly tlsKey: string | undefined;
  /** The path of the data directory. */
  readonly data: string;
  readonly memory: boolean;
  /** The path of the module with parts of the server. */
  readonly module: string | undefined;
  /** The path of the OpenAPI document of a partner. Without collections in the configuration file there are then none. */
  readonly partner: string | undefined;
  /** Whether a mistake in the document of a partner refuses the start, in place of the operations that have it. */
  readonly strict: boolean;
  /** How strictly requests and responses are compared with the document of a partner. */
  readonly validation: Word<'validation'>;
  /** The path of the key that encrypts stored secrets. */
  readonly keyFile: string | undefined;
  /** The path of the configuration file. */
  readonly config: string | undefined;
  readonly durability: Word<'durability'>;
  /** Whether the server starts if stored items do not match the declarations, so that they cannot be shown. */
  readonly onMismatch: Word<'onMismatch'>;
  readonly hmacSimple: Word<'hmacSimple'>;
  readonly hmacRequireBodyDigest: boolean;
  /** The maximum difference between a signed date and the clock, in seconds. */
  readonly window: number;
  readonly maxNonces: number;
  /** At most `maxNonces`. Default: a tenth of them. */
  readonly maxNoncesPerUser: number | undefined;
  /** In seconds. */
  readonly idempotencyLifetime: number;
  readonly maxIdempotencyKeysPerUser: number;
  readonly maxAuthFailures: number;
  /** The quota of each user and peer; undefined if there is none. */
  readonly quota: readonly QuotaPolicy[] | undefined;
  /** The networks (CIDR) of trusted proxies. */
  readonly trustProxy: readonly string[];
  /** The https origin of the issuer and of links. Default: the listener's origin. */
  readonly publicUrl: string | undefined;
  /** The path prefix that a proxy removes from request targets. */
  readonly basePath: string | undefined;
  /** The origins whose pages may use the server; `*` alone for all. */
  readonly corsOrigin: readonly string[];
  /** Whether these pages may send requests with credentials of the browser. */
  readonly corsCredentials: boolean;
  /** In seconds. */
  readonly corsMaxAge: number;
  /** In seconds, as are the following seven. */
  readonly codeLifetime: number;
  readonly accessLifetime: number;
  readonly refreshLifetime: number;
  readonly refreshTotalLifetime: number;
  readonly ticketLifetime: number;
  readonly requestTokenLifetime: number;
  readonly oauth1AccessLifetime: number;
  /** At most `window`. */
  readonly oauth1Window: number;
  /** The format of responses to clients that accept both. */
  readonly defaultFormat: Word<'defaultFormat'>;
  /** Whether unknown and repeated query parameters of lists are rejected. */
  readonly strictQuery: boolean;
  /** Whether the OpenAPI document is served. */
  readonly openapi: boolean;
  readonly explain: boolean;
  /** The path of health checks; undefined if there is none. */
  readonly healthPath: string | undefined;
  /** Whether responses have X-Request-Id. */
  readonly requestId: boolean;
  /** The port of the control interface; undefined if it is off. */
  readonly controlPort: number | undefined;
  /** Whether the server stops when its standard input closes. */
  readonly untilStdinCloses: boolean;
  /** In bytes, as are the following two. */
  readonly maxBody: number;
  readonly maxUnverifiedContent: number;
  readonly maxTarget: number;
  readonly maxHeaders: number;
  readonly maxXmlDepth: number;
  readonly maxXmlAttributes: number;
  readonly maxConnections: number;
  /** In seconds. */
  readonly headerTimeout: number;
  /** In seconds. */
  readonly requestTimeout: number;
  /** Default: `pretty` if standard error is a terminal, else `json`. */
  readonly log: Word<'log'> | undefined;
  /** The users of the configuration file by name. */
  readonly users: ReadonlyMap<string, ConfiguredUser>;
  /** The schemes of the configuration file. */
  readonly schemes: SchemeDeclarations;
  /** The options of OAuth 2.0 in the configuration file; undefined if it has none. */
  readonly oauth2: OAuth2Options | undefined;
  /** How far (ms) a date that comes with a nonce may be from the clock: the longest window of all schemes. */
  readonly nonceWindow: number;
  /** Problems that do not prevent a start, one sentence each. */
  readonly warnings: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the options from flags, environment variables and the configuration file. A flag takes precedence over a
 * variable, a variable over the file. Validates every value, even one that is overridden.
 *
 * @throws OptionsError with all errors
 */
export function readOptions(argv: readonly string[], environment: Environment): Options {
  const faults: string[] = [];
  const warnings: string[] = [];
  const flags = flagSettings(argv, faults);
  const code = faults.length > 0 ? 'usage' : 'invalid';
  const outer = [...flags, ...variableSettings(environment, warnings)];
  const config = new Settings(outer, faults).text('config');
  const file = config === undefined ? emptyFile : readFile(config, faults, outer);
  const settings = new Settings([...outer, ...file.settings], faults);
  const { users, schemes, clients, consumers, oauth2 } = file;
  const others = independentOptions(settings);
  const hasDefaults = others.partner === undefined || file.collections !== undefined;
  const declared = readDeclarations(
    hasDefaults ? file : { ...file, collections: new Map() },
    config ?? '',
    faults,
  );
  // Nonces are kept for `window`, so a timestamp must not differ by more.
  const values = {
    ...others,
    oauth1Window: settings.whole('oauth1Window', others.window),
    maxNoncesPerUser: settings.maybeWhole('maxNoncesPerUser', others.maxNonces),
  };
  checkListening(values, faults, warnings);
  checkAssumedTls(values, faults);
  if (values.partner === undefined) {
    const given = { '--strict': values.strict, '--validation': values.validation !== 'on' };
    for (const [flag, isGiven] of Object.entries(given))
      if (isGiven) warnings.push(`${flag} is ignored because there is no --partner`);
  }
  if (values.corsCredentials && values.corsOrigin.length === 0)
    warnings.push('--cors-credentials is ignored because there is no --cors-origin');
  if (values.tlsPort === undefined && values.tls === 'required') {
    const requiring = { clients: clients.size > 0, consumers: requireTls(consumers) };
    for (const [part, isRequiring] of Object.entries(requiring))
      if (isRequiring) faults.push(`${config}: ${part} require HTTPS, which --no-tls disables`);
  }
  if (clients.size > 0) warnings.push(...oddClients(clients, config ?? ''));
  const options = {
    ...values,
    config,
    users,
    schemes,
    nonceWindow: Math.max(values.window * 1000, ...readSchemes(schemes).map(({ window }) => window)),
    clients,
    consumers,
    oauth2,
    ...declared,
    warnings: Object.freeze(warnings),
  };
  if (faults.length > 0) throw new OptionsError(faults, code);
  return Object.freeze(options);
}

/** Checks that the ports and TLS options are compatible with each other. Adds to `faults` and `warnings`. */
function checkListening(
  {
    port,
    tlsPort,
    controlPort,
    tlsCert,
    tlsKey,
  }: Pick<Options, 'port' | 'tlsPort' | 'controlPort' | 'tlsCert' | 'tlsKey'>,
  faults: string[],
  warnings: string[],
): void {
  if (port === undefined && tlsPort === undefined)
    faults.push('--no-http and --no-tls together leave no port to listen on');
  if (port !== undefined && port !== 0 && port === tlsPort)
    faults.push(`--port and --tls-port are both ${port}`);
  if (controlPort !== undefined && controlPort !== 0 && [port, tlsPort].includes(controlPort))
    faults.push(
      `--control-port and ${controlPort === port ? '--port' : '--tls-port'} are both ${controlPort}`,
    );
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    faults.push(
      `--tls-cert and --tls-key must be used together: ${tlsCert === undefined ? '--tls-cert' : '--tls-key'} is missing`,
    );
  else if (tlsCert !== undefined && tlsPort === undefined)
    warnings.push('--tls-cert and --tls-key are ignored because HTTPS is off');
}

/** Checks that TLS is assumed only where a test stands in for a service: no other host must be able to send secrets in plain text. */
function checkAssumedTls(
  { tls, host, partner, controlPort }: Pick<Options, 'tls' | 'host' | 'partner' | 'controlPort'>,
  faults: string[],
): void {
  if (tls === 'required') return;
  if (!isLoopback(host)) faults.push(`--tls assumed requires a loopback address, and --host is ${host}`);
  if (partner === undefined && controlPort === undefined)
    faults.push('--tls assumed is for tests: it requires --partner or --control-port');
}

/** Returns whether only processes of this host reach an address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.[0-9]{1,3}){3}$/.test(host);
}

/** Reads the configuration file. The error's code is `unreadable` only if there is no other error. */
function readFile(path: string, faults: string[], outer: readonly Setting[]): ConfigurationFile {
  try {
    return readConfigurationFile(
      path,
      faults,
      outer.some(({ key }) => key === 'partner'),
    );
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const fault = `the configuration file ${path} cannot be read: ${reason}`;
    throw new OptionsError([...faults, fault], faults.length === 0 ? 'unreadable' : 'invalid');
  }
}

/** The options that do not depend on another one. */
type IndependentOptions = Omit<
  Options,
  | 'config'
  | 'users'
  | 'schemes'
  | 'oauth2'
  | 'nonceWindow'
  | 'warnings'
  | 'oauth1Window'
  | 'maxNoncesPerUser'
  | keyof Declarations
  | keyof Registrations
>;

function independentOptions(settings: Settings): IndependentOptions {
  const corsCredentials = settings.toggle('corsCredentials');
  return {
    host: settings.address(),
    port: settings.toggle('noHttp') ? undefined : settings.whole('port'),
    tlsPort: settings.toggle('noTls') ? undefined : settings.whole('tlsPort'),
    tls: settings.choice('tls') ?? optionTable.tls.fallback,
    tlsCert: settings.text('tlsCert'),
    tlsKey: settings.text('tlsKey'),
    keyFile: settings.text('keyFile'),
    data: settings.text('data') ?? optionTable.data.fallback,
    memory: settings.toggle('memory'),
    module: settings.text('module'),
    partner: settings.text('partner'),
    strict: settings.toggle('strict'),
    validation: settings.choice('validation') ?? optionTable.validation.fallback,
    durability: settings.choice('durability') ?? optionTable.durability.fallback,
    onMismatch: settings.choice('onMismatch') ?? optionTable.onMismatch.fallback,
    hmacSimple: settings.choice('hmacSimple') ?? optionTable.hmacSimple.fallback,
    hmacRequireBodyDigest: settings.toggle('hmacRequireBodyDigest'),
    window: settings.whole('window'),
    maxNonces: settings.whole('maxNonces'),
    idempotencyLifetime: settings.whole('idempotencyLifetime'),
    maxIdempotencyKeysPerUser: settings.whole('maxIdempotencyKeysPerUser'),
    maxAuthFailures: settings.whole('maxAuthFailures'),
    quota: settings.quota('quota'),
    trustProxy: settings.networks('trustProxy'),
    publicUrl: settings.origin('publicUrl'),
    basePath: settings.basePath('basePath'),
    corsOrigin: settings.origins('corsOrigin', corsCredentials),
    corsCredentials,
    corsMaxAge: settings.whole('corsMaxAge'),
    codeLifetime: settings.whole('codeLifetime'),
    accessLifetime: settings.whole('accessLifetime'),
    refreshLifetime: settings.whole('refreshLifetime'),
    refreshTotalLifetime: settings.whole('refreshTotalLifetime'),
    ticketLifetime: settings.whole('ticketLifetime'),
    requestTokenLifetime: settings.whole('requestTokenLifetime'),
    oauth1AccessLifetime: settings.whole('oauth1AccessLifetime'),
    defaultFormat: settings.choice('defaultFormat') ?? optionTable.defaultFormat.fallback,
    strictQuery: settings.toggle('strictQuery'),
    openapi: settings.toggle('openapi'),
    explain: settings.toggle('explain'),
    healthPath: settings.basePath('healthPath'),
    requestId: settings.toggle('requestId'),
    untilStdinCloses: settings.toggle('untilStdinCloses'),
    controlPort: settings.maybeWhole('controlPort'),
    maxBody: settings.whole('maxBody'),
    maxUnverifiedContent: settings.whole('maxUnverifiedContent'),
    maxTarget: settings.whole('maxTarget'),
    maxHeaders: settings.whole('maxHeaders'),
    maxXmlDepth: settings.whole('maxXmlDepth'),
    maxXmlAttributes: settings.whole('maxXmlAttributes'),
    maxConnections: settings.whole('maxConnections'),
    headerTimeout: settings.whole('headerTimeout'),
    requestTimeout: settings.whole('requestTimeout'),
    log: settings.choice('log'),
  };
}

function flagSettings(argv: readonly string[], faults: string[]): Setting[] {
  const keys = new Map([...optionSpecs.keys()].map((key) => [formatFlag(key), key]));
  const arities = new Map([...keys].map(([name, key]) => [name, findArity(key)]));
  const { flags, lists, words, faults: found } = readArguments(argv, arities);
  faults.push(...found, ...words.map((word) => `unexpected argument ${toPrintable(JSON.stringify(word))}`));
  const settings: Setting[] = [];
  for (const [name, key] of keys) {
    const value = lists.get(name)?.join(',') ?? flags.get(name);
    if (value !== undefined) settings.push({ key, name, value, textual: true });
  }
  return settings;
}

function findArity(key: string): Arity {
  const kind = optionSpecs.get(key)?.kind;
  if (kind === 'list') return 'values';
  return kind === 'toggle' ? 'toggle' : 'value';
}

function variableSettings(environment: Environment, warnings: string[]): Setting[] {
  const names = Object.keys(environment).filter((name) => name.startsWith('COUNTERSIGN_'));
  if (names.length === 0) return [];
  const keys = new Map([...optionSpecs.keys()].map((key) => [formatVariable(key), key]));
  const settings: Setting[] = [];
  for (const name of names) {
    const [key, value] = [keys.get(name), environment[name]];
    if (value === undefined || otherVariables.includes(name)) continue;
    if (key !== undefined) settings.push({ key, name, value, textual: true });
    else
      warnings.push(
        `unknown environment variable ${toPrintable(name)} is ignored${hint(name, [...keys.keys()])}`,
      );
  }
  return settings;
}

/** An empty configuration, used without a configuration file. */
const emptyFile: ConfigurationFile = {
  settings: [],
  users: new Map(),
  schemes: {},
  oauth2: undefined,
  clients: new Map(),
  consumers: new Map(),
  collections: undefined,
  seed: undefined,
};

/** The declared collections and their initial items. */
interface Declarations {
  readonly collections: readonly Collection[];
  readonly seed: Seed;
}

/** Reads the collections and seeds of a configuration file, or returns the default collections. Adds errors to `faults`. */
function readDeclarations(file: ConfigurationFile, path: string, faults: string[]): Declarations {
  const before = faults.length;
  const attempt = <T>(make: () => T): T[] => {
    try {
      return [make()];
    } catch (error) {
      faults.push(`${path}: ${formatFault(error)}`);
      return [];
    }
  };
  const collections =
    file.collections === undefined
      ? defaultCollections()
      : [...file.collections].flatMap(([template, source]) =>
          attempt(() => readCollection(template, source)),
        );
  const seed = readSeed(file, path, faults);
  // The collections are checked together only if each one is valid, and the seeds only if all collections are.
  if (faults.length === before && file.collections !== undefined) attempt(() => decodeSeeds(collections, {}));
  if (faults.length === before) {
    for (const [each, items] of Object.entries(seed)) {
      attempt(() => decodeSeeds(collections, Object.fromEntries([[each, items]])));
    }
  }
  return { collections: Object.freeze([...collections]), seed: Object.freeze(seed) };
}

function readSeed(file: ConfigurationFile, path: string, faults: string[]): Seed {
  const lists: [string, readonly unknown[]][] = [];
  for (const [each, items] of file.seed ?? []) {
    if (Array.isArray(items)) lists.push([each, items]);
    else faults.push(`${path}: seed.${toPrintable(each)} must be an array of items`);
  }
  return Object.fromEntries(lists);
}

/** Returns the message of an invalid declaration, path template or path. Rethrows any other error. */
function formatFault(error: unknown): string {
  if (error instanceof DeclarationError || error instanceof RangeError) return error.message;
  throw error;
}
