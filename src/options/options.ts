import { requireTls } from '../accounts/registered.ts';
import { type Collection, defaultCollections, readCollection } from '../collections/declaration.ts';
import { DeclarationError } from '../collections/fields/error.ts';
import { decodeSeeds, type Seed } from '../collections/seed.ts';
import { onceWindow } from '../oauth/lifetimes.ts';
import { originsFault } from '../pipeline/cors-policy.ts';
import { readSchemes } from '../schemes/configured-schemes.ts';
import { createFault } from '../shape/fault.ts';
import { OptionsError } from './error.ts';
import { type ConfigurationFile, type ConfiguredParts, readConfigurationFile } from './file.ts';
import { type Arguments, type Arity, toPrintable } from './flags.ts';
import {
  type Environment,
  explainFault,
  readFlags,
  readSetting,
  readValues,
  readVariables,
  type Setting,
} from './sources.ts';
import { explainPart, formatFlag, type OptionValues } from './table.ts';

export { OptionsError } from './error.ts';

/** The validated, frozen options of the server. Times are in seconds, and sizes in bytes. */
export interface Options
  extends Omit<OptionValues, 'noHttp' | 'noTls' | 'port' | 'tlsPort'>,
    Declarations,
    ConfiguredParts {
  /** The port of plain HTTP; undefined if it is off. */
  readonly port: number | undefined;
  /** The port of HTTPS; undefined if it is off. */
  readonly tlsPort: number | undefined;
  /** How far (ms) a date that comes with a nonce may be from the clock: the longest window of all schemes. */
  readonly nonceWindow: number;
  /** The flags of the command line. */
  readonly flags: Arguments['flags'];
  /** Problems that do not prevent a start, one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Reads the options from flags, environment variables and the configuration file. A flag takes precedence over a
 * variable, a variable over the file. Validates every value, even one that is overridden.
 *
 * @param own the flags of the command itself, whose values are in `flags`. Default: none
 * @throws OptionsError with all errors
 */
export function readOptions(
  argv: readonly string[],
  environment: Environment,
  own: ReadonlyMap<string, Arity> = new Map(),
): Options {
  const faults: string[] = [];
  const warnings: string[] = [];
  const { settings: given, flags } = readFlags(argv, faults, own);
  const code = faults.length > 0 ? 'usage' : 'invalid';
  const outer = [...given, ...readVariables(environment, warnings)];
  const { config } = readValues(
    outer.filter(({ key }) => key === 'config'),
    [],
  );
  const file = config === undefined ? emptyFile : readFile(config, faults, outer);
  const settings = [...outer, ...file.settings];
  const { noHttp, noTls, ...read } = readValues(settings, faults);
  checkTogether(settings, read, faults);
  const { users, schemes, clients, consumers, oauth2 } = file;
  const hasDefaults = read.partner === undefined || file.collections !== undefined;
  const declared = readDeclarations(
    hasDefaults ? file : { ...file, collections: new Map() },
    config ?? '',
    faults,
  );
  const values = {
    ...read,
    port: noHttp ? undefined : read.port,
    tlsPort: noTls ? undefined : read.tlsPort,
    oauth1Window: Math.min(read.oauth1Window, read.window),
  };
  checkListening(values, faults, warnings);
  checkAssumedTls(values, faults);
  if (values.partner === undefined) {
    const ofPartner = { '--strict': values.strict, '--validation': values.validation !== 'on' };
    for (const [flag, isGiven] of Object.entries(ofPartner))
      if (isGiven) warnings.push(`${flag} is ignored because there is no --partner`);
  }
  if (values.corsCredentials && values.corsOrigin.length === 0)
    warnings.push('--cors-credentials is ignored because there is no --cors-origin');
  if (values.tlsPort === undefined && values.tls === 'required') {
    const requiring = { clients: clients.size > 0, consumers: requireTls(consumers) };
    for (const [part, isRequiring] of Object.entries(requiring))
      if (isRequiring) faults.push(`${config}: ${part} require HTTPS, which --no-tls disables`);
  }
  for (const [id, { grants, redirectUris }] of clients)
    if (grants.includes('authorization_code') && redirectUris.length === 0)
      warnings.push(`${config}: clients.${id} cannot use authorization_code because it has no redirectUris`);
  const options = {
    ...values,
    config,
    users,
    schemes,
    nonceWindow: Math.max(
      values.window * 1000,
      onceWindow(oauth2),
      ...readSchemes(schemes).map(({ window }) => window),
    ),
    clients,
    consumers,
    oauth2,
    ...declared,
    flags,
    warnings: Object.freeze(warnings),
  };
  if (faults.length > 0) throw new OptionsError(faults, code);
  return Object.freeze(options);
}

/** Checks the values of each source that depend on another option. Adds to `faults`. */
function checkTogether(
  settings: readonly Setting[],
  { window, maxNonces, corsCredentials }: Pick<OptionValues, 'window' | 'maxNonces' | 'corsCredentials'>,
  faults: string[],
): void {
  const limits = new Map([
    // Nonces are kept for `window`, so a timestamp must not differ by more.
    ['oauth1Window', { limit: window, other: formatFlag('window') }],
    ['maxNoncesPerUser', { limit: maxNonces, other: formatFlag('maxNonces') }],
  ]);
  for (const { key, name, file, ...setting } of settings) {
    const value = readSetting({ key, name, ...setting }, []);
    const { limit = Infinity, other } = limits.get(key) ?? {};
    if (typeof value === 'number' && value > limit) {
      const predicate = `must be at most ${other}, which is ${limit}, is ${value}`;
      faults.push(explainFault(createFault([name], predicate), file));
    }
    const fault = key === 'corsOrigin' && isTexts(value) ? originsFault(value, corsCredentials) : undefined;
    if (fault !== undefined) faults.push(explainFault(explainPart([name], fault), file));
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
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
