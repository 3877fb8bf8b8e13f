import type { ClientRegistration, ConsumerRegistration } from '../../accounts/registration.ts';
import { type AccountPlace, pathIn } from '../../accounts/stored-file.ts';
import type { StoredUser } from '../../accounts/users.ts';
import type { Options } from '../../options/options.ts';
import type { HealthOptions, Limits, ServiceOptions, UserDeclaration } from '../../service/options.ts';
import { createService, type Service } from '../../service/service.ts';
import type { AccountFiles } from '../accounts/account-files.ts';
import { CommandError } from '../errors.ts';

export { checkAccessNames } from './access-names.ts';

/** The users, OAuth 2.0 clients and OAuth 1.0a consumers of a server. */
export interface KnownAccounts {
  readonly users: Map<string, UserDeclaration>;
  readonly clients: ReadonlyMap<string, ClientRegistration>;
  readonly consumers: ReadonlyMap<string, ConsumerRegistration>;
}

/**
 * Creates the service with `create`, from the options and accounts.
 *
 * @throws CommandError if the collections conflict with each other, or with what a module returned
 */
export function composeService(
  options: Options,
  accounts: KnownAccounts,
  {
    check,
    ...more
  }: Pick<
    ServiceOptions,
    'store' | 'nonces' | 'notBefore' | 'masterKey' | 'onRequest' | 'onError' | 'resources'
  > &
    Pick<HealthOptions, 'check'>,
  create: (options: ServiceOptions & KnownAccounts) => Service = createService,
): Service {
  try {
    return create({
      ...more,
      ...accounts,
      ...(options.publicUrl === undefined ? {} : { publicUrl: options.publicUrl }),
      ...(options.basePath === undefined ? {} : { basePath: options.basePath }),
      ...readCors(options),
      lifetimes: readLifetimes(options),
      collections: options.collections,
      seed: options.seed,
      schemes: options.schemes,
      window: options.window,
      hmacSimple: options.hmacSimple,
      requireBodyDigest: options.hmacRequireBodyDigest,
      maxNonces: options.maxNonces,
      ...(options.maxNoncesPerUser === undefined ? {} : { maxNoncesPerUser: options.maxNoncesPerUser }),
      idempotencyLifetime: options.idempotencyLifetime,
      maxIdempotencyKeysPerUser: options.maxIdempotencyKeysPerUser,
      maxAuthFailures: options.maxAuthFailures,
      ...(options.quota === undefined ? {} : { quota: options.quota }),
      trustProxy: options.trustProxy,
      explain: options.explain,
      defaultFormat: options.defaultFormat,
      strictQuery: options.strictQuery,
      ...(options.openapi ? { openapi: true } : {}),
      ...(options.requestId ? { requestId: true } : {}),
      ...readHealth(options, check),
      limits: readLimits(options),
    });
  } catch (error) {
    // For instance two path templates that match the same paths, which only the router detects.
    if (error instanceof RangeError)
      throw new CommandError([error.message], options.module === undefined ? 2 : 1);
    throw error;
  }
}

/** Returns whether a module has resources in code. */
export function hasResources(resources: ServiceOptions['resources'] = {}): boolean {
  return Object.keys(resources).length > 0;
}

function readCors({ corsOrigin, corsCredentials, corsMaxAge }: Options): Pick<ServiceOptions, 'cors'> {
  if (corsOrigin.length === 0) return {};
  return { cors: { origins: corsOrigin, credentials: corsCredentials, maxAge: corsMaxAge } };
}

function readHealth(
  { healthPath: path }: Options,
  check: HealthOptions['check'],
): Pick<ServiceOptions, 'health'> {
  if (path === undefined) return {};
  return { health: check === undefined ? { path } : { path, check } };
}

function readLifetimes(options: Options): NonNullable<ServiceOptions['lifetimes']> {
  return {
    code: options.codeLifetime,
    access: options.accessLifetime,
    refresh: options.refreshLifetime,
    refreshTotal: options.refreshTotalLifetime,
    ticket: options.ticketLifetime,
    requestToken: options.requestTokenLifetime,
    oauth1Access: options.oauth1AccessLifetime,
    oauth1Window: options.oauth1Window,
  };
}

function readLimits(options: Options): Limits {
  return {
    body: options.maxBody,
    unverifiedContent: options.maxUnverifiedContent,
    target: options.maxTarget,
    headers: options.maxHeaders,
    xmlDepth: options.maxXmlDepth,
    xmlAttributes: options.maxXmlAttributes,
    connections: options.maxConnections,
    headerTimeout: options.headerTimeout * 1000,
    requestTimeout: options.requestTimeout * 1000,
  };
}

/** The sources of the accounts beside the configuration file. */
export interface AccountSources {
  readonly place: AccountPlace;
  readonly accountFiles: AccountFiles;
  /** The users of the module. */
  readonly moduleUsers: ReadonlyMap<string, UserDeclaration>;
}

/**
 * Returns the accounts of the configuration file, the module and the account files.
 *
 * @throws CommandError if there are stored clients or consumers, and HTTPS is off
 */
export function listKnownAccounts(
  options: Options,
  { place, accountFiles: { users, clients, consumers }, moduleUsers }: AccountSources,
): KnownAccounts {
  return {
    users: allUsers(options, users.entries, moduleUsers),
    clients: allRegistered(options, 'clients', options.clients, { ...clients, place }),
    consumers: allRegistered(options, 'consumers', options.consumers, { ...consumers, place }),
  };
}

/**
 * Returns the clients or consumers of the configuration file, which take precedence, and of the account files.
 *
 * @throws CommandError if some are stored and HTTPS is off
 */
export function allRegistered<T>(
  { tlsPort }: Options,
  name: 'clients' | 'consumers',
  configured: ReadonlyMap<string, T>,
  { entries, place }: { readonly entries: ReadonlyMap<string, T>; readonly place: AccountPlace },
): ReadonlyMap<string, T> {
  if (entries.size > 0 && tlsPort === undefined)
    throw new CommandError(
      [`the ${name} in ${pathIn(place, `${name}.json`)} require HTTPS, which --no-tls disables`],
      1,
    );
  return new Map([...entries, ...configured]);
}

/** Returns the users of the configuration file and the module, which take precedence, and of the account file. */
export function allUsers(
  options: Options,
  stored: ReadonlyMap<string, StoredUser>,
  moduleUsers: ReadonlyMap<string, UserDeclaration> = new Map(),
): Map<string, UserDeclaration> {
  const users = [...stored].map(([name, user]): [string, UserDeclaration] => [name, userOption(user)]);
  return new Map<string, UserDeclaration>([...users, ...moduleUsers, ...options.users]);
}

function userOption({
  secrets,
  password,
  disabled,
  since,
  keys,
  quota,
  schemes,
}: StoredUser): UserDeclaration {
  const hashed = password === undefined ? undefined : { hash: password };
  return { secrets, disabled, since, keys, quota, schemes, password: hashed };
}
