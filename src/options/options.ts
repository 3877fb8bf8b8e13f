import { type Declarations, readDeclarations } from './collections.ts';
import { OptionsError } from './error.ts';
import { type ConfigurationFile, readConfigurationFile, type Setting } from './file.ts';
import { type Arity, hint, printable, readArguments } from './flags.ts';
import { emptyFile } from './no-file.ts';
import { oddClients, type Registrations } from './registrations.ts';
import { Settings } from './settings.ts';
import { flagOf, optionSpecs, optionTable, otherVariables, variableOf, type Word } from './table.ts';
import type { ConfiguredUser } from './users.ts';

export { OptionsError } from './error.ts';

/** The options of the server, checked and frozen. */
export interface Options extends Declarations, Registrations {
  readonly host: string;
  /** Plain HTTP; undefined where it is off. */
  readonly port: number | undefined;
  /** HTTPS; undefined where it is off. */
  readonly tlsPort: number | undefined;
  /** PEM files, both or neither. */
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  /** The data directory. */
  readonly data: string;
  readonly memory: boolean;
  /** The file of the key that secrets at rest are encrypted with. */
  readonly keyFile: string | undefined;
  /** The configuration file that was read. */
  readonly config: string | undefined;
  readonly durability: Word<'durability'>;
  readonly hmacSimple: Word<'hmacSimple'>;
  readonly hmacRequireBodyDigest: boolean;
  /** Seconds. */
  readonly window: number;
  readonly maxNonces: number;
  /** At most `maxNonces`; undefined leaves it to what a tenth of these is. */
  readonly maxNoncesPerUser: number | undefined;
  readonly maxAuthFailures: number;
  /** Networks (CIDR) of the proxies that are believed. */
  readonly trustProxy: readonly string[];
  /** The https origin in issuer and links; undefined leaves it to the listener's own address. */
  readonly publicUrl: string | undefined;
  /** Seconds, as are the seven that follow. */
  readonly codeLifetime: number;
  readonly accessLifetime: number;
  readonly refreshLifetime: number;
  readonly refreshTotalLifetime: number;
  readonly ticketLifetime: number;
  readonly requestTokenLifetime: number;
  readonly oauth1AccessLifetime: number;
  /** At most `window`. */
  readonly oauth1Window: number;
  readonly explain: boolean;
  /** The control interface; undefined where it is off. */
  readonly controlPort: number | undefined;
  /** Bytes, as are the two that follow. */
  readonly maxBody: number;
  readonly maxTarget: number;
  readonly maxHeaders: number;
  readonly maxXmlDepth: number;
  readonly maxXmlAttributes: number;
  readonly maxConnections: number;
  /** Seconds. */
  readonly headerTimeout: number;
  /** Seconds. */
  readonly requestTimeout: number;
  /** Undefined leaves it to whether standard error is a terminal. */
  readonly log: Word<'log'> | undefined;
  /** By their names; empty when the file has none. */
  readonly users: ReadonlyMap<string, ConfiguredUser>;
  /** What is odd but does not hinder, one sentence each. */
  readonly warnings: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads what flags, environment variables and the configuration file say; the flag wins, then the variable, then
 * the file, and each of them is checked. Throws OptionsError with everything that is wrong.
 */
export function readOptions(argv: readonly string[], environment: Environment): Options {
  const faults: string[] = [];
  const warnings: string[] = [];
  const flags = flagSettings(argv, faults);
  const code = faults.length > 0 ? 'usage' : 'invalid';
  const outer = [...flags, ...variableSettings(environment, warnings)];
  const config = new Settings(outer, faults).text('config');
  const file = config === undefined ? emptyFile : fileOf(config, faults);
  const settings = new Settings([...outer, ...file.settings], faults);
  const { users, clients, consumers } = file;
  const declared = readDeclarations(file, config ?? '', faults);
  const others = chosen(settings);
  // Nonces are kept for `window`, so a timestamp may not be off by more.
  const values = {
    ...others,
    oauth1Window: settings.whole('oauth1Window', others.window),
    maxNoncesPerUser: settings.maybeWhole('maxNoncesPerUser', others.maxNonces),
  };
  judgeListening(values, faults, warnings);
  if (values.tlsPort === undefined)
    for (const [part, { size }] of Object.entries({ clients, consumers }))
      if (size > 0) faults.push(`${config}: ${part} need HTTPS, and --no-tls turns it off`);
  if (clients.size > 0) warnings.push(...oddClients(clients, config ?? ''));
  const options = {
    ...values,
    config,
    users,
    clients,
    consumers,
    ...declared,
    warnings: Object.freeze(warnings),
  };
  if (faults.length > 0) throw new OptionsError(faults, code);
  return Object.freeze(options);
}

/** Judges the options of listening together, each being right by itself. Adds to `faults` and `warnings`. */
function judgeListening(
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
    faults.push('--no-http and --no-tls together leave nothing to listen on');
  if (port !== undefined && port !== 0 && port === tlsPort)
    faults.push(`--port and --tls-port are both ${port}`);
  if (controlPort !== undefined && controlPort !== 0 && [port, tlsPort].includes(controlPort))
    faults.push(
      `--control-port and ${controlPort === port ? '--port' : '--tls-port'} are both ${controlPort}`,
    );
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    faults.push(
      `--tls-cert and --tls-key go together: ${tlsCert === undefined ? '--tls-cert' : '--tls-key'} is missing`,
    );
  else if (tlsCert !== undefined && tlsPort === undefined)
    warnings.push('--tls-cert and --tls-key have nothing to do, because HTTPS is off');
}

/** Reads the file. One that cannot be read is told alone when nothing else is wrong. */
function fileOf(path: string, faults: string[]): ConfigurationFile {
  try {
    return readConfigurationFile(path, faults);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const fault = `the configuration file ${path} cannot be read: ${reason}`;
    throw new OptionsError([...faults, fault], faults.length === 0 ? 'unreadable' : 'invalid');
  }
}

type Chosen = Omit<
  Options,
  | 'config'
  | 'users'
  | 'warnings'
  | 'oauth1Window'
  | 'maxNoncesPerUser'
  | keyof Declarations
  | keyof Registrations
>;

function chosen(settings: Settings): Chosen {
  return {
    host: settings.address(),
    port: settings.toggle('noHttp') ? undefined : settings.whole('port'),
    tlsPort: settings.toggle('noTls') ? undefined : settings.whole('tlsPort'),
    tlsCert: settings.text('tlsCert'),
    tlsKey: settings.text('tlsKey'),
    keyFile: settings.text('keyFile'),
    data: settings.text('data') ?? optionTable.data.fallback,
    memory: settings.toggle('memory'),
    durability: settings.choice('durability') ?? optionTable.durability.fallback,
    hmacSimple: settings.choice('hmacSimple') ?? optionTable.hmacSimple.fallback,
    hmacRequireBodyDigest: settings.toggle('hmacRequireBodyDigest'),
    window: settings.whole('window'),
    maxNonces: settings.whole('maxNonces'),
    maxAuthFailures: settings.whole('maxAuthFailures'),
    trustProxy: settings.networks('trustProxy'),
    publicUrl: settings.origin('publicUrl'),
    codeLifetime: settings.whole('codeLifetime'),
    accessLifetime: settings.whole('accessLifetime'),
    refreshLifetime: settings.whole('refreshLifetime'),
    refreshTotalLifetime: settings.whole('refreshTotalLifetime'),
    ticketLifetime: settings.whole('ticketLifetime'),
    requestTokenLifetime: settings.whole('requestTokenLifetime'),
    oauth1AccessLifetime: settings.whole('oauth1AccessLifetime'),
    explain: settings.toggle('explain'),
    controlPort: settings.maybeWhole('controlPort'),
    maxBody: settings.whole('maxBody'),
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
  const keys = new Map([...optionSpecs.keys()].map((key) => [flagOf(key), key]));
  const arities = new Map([...keys].map(([name, key]) => [name, arityOf(key)]));
  const { flags, words, faults: found } = readArguments(argv, arities);
  faults.push(...found, ...words.map((word) => `${JSON.stringify(printable(word))} is not an option`));
  const settings: Setting[] = [];
  for (const [name, key] of keys) {
    const value = flags.get(name);
    if (value !== undefined) settings.push({ key, name, value, textual: true });
  }
  return settings;
}

function arityOf(key: string): Arity {
  return optionSpecs.get(key)?.kind === 'toggle' ? 'toggle' : 'value';
}

function variableSettings(environment: Environment, warnings: string[]): Setting[] {
  const names = Object.keys(environment).filter((name) => name.startsWith('COUNTERSIGN_'));
  if (names.length === 0) return [];
  const keys = new Map([...optionSpecs.keys()].map((key) => [variableOf(key), key]));
  const settings: Setting[] = [];
  for (const name of names) {
    const [key, value] = [keys.get(name), environment[name]];
    if (value === undefined || otherVariables.includes(name)) continue;
    if (key !== undefined) settings.push({ key, name, value, textual: true });
    else warnings.push(`${printable(name)} is not a variable that is read${hint(name, [...keys.keys()])}`);
  }
  return settings;
}
