import type { AccountFileContent } from '../../accounts/account-file.ts';
import { accountFilePath } from '../../accounts/account-file-path.ts';
import type { ClientRegistration, ConsumerRegistration } from '../../accounts/registration.ts';
import type { StoredUser } from '../../accounts/users.ts';
import type { Lifetimes } from '../../oauth/lifetimes.ts';
import type { Options } from '../../options/options.ts';
import type { Limits, ServiceOptions, UserOption } from '../../service/options.ts';
import { createService, type Service } from '../../service/service.ts';
import type { AccountFiles } from '../accounts/no-account-files.ts';
import { CommandError } from '../errors.ts';

/** Who is known to a server: users, clients of OAuth 2.0 and consumers of OAuth 1.0a. */
export interface KnownAccounts {
  readonly users: Map<string, UserOption>;
  readonly clients: ReadonlyMap<string, ClientRegistration>;
  readonly consumers: ReadonlyMap<string, ConsumerRegistration>;
}

/** Makes the service that the options ask for; `make` does. Throws Refusal where its parts do not go together. */
export function composeService(
  options: Options,
  everybody: KnownAccounts,
  more: Pick<ServiceOptions, 'store' | 'nonces' | 'notBefore' | 'masterKey' | 'log' | 'onError'>,
  make: (options: ServiceOptions & KnownAccounts) => Service = createService,
): Service {
  try {
    return make({
      ...more,
      ...everybody,
      ...(options.publicUrl === undefined ? {} : { publicUrl: options.publicUrl }),
      lifetimes: lifetimesOf(options),
      collections: options.collections,
      seed: options.seed,
      window: options.window,
      hmacSimple: options.hmacSimple,
      requireBodyDigest: options.hmacRequireBodyDigest,
      maxNonces: options.maxNonces,
      ...(options.maxNoncesPerUser === undefined ? {} : { maxNoncesPerUser: options.maxNoncesPerUser }),
      maxAuthFailures: options.maxAuthFailures,
      trustProxy: options.trustProxy,
      explain: options.explain,
      limits: limitsOf(options),
    });
  } catch (error) {
    // Two paths that are one, for instance: it takes all of them to see that.
    if (error instanceof RangeError) throw new CommandError([error.message]);
    throw error;
  }
}

function lifetimesOf(options: Options): Lifetimes {
  return {
    code: options.codeLifetime * 1000,
    access: options.accessLifetime * 1000,
    refresh: options.refreshLifetime * 1000,
    refreshTotal: options.refreshTotalLifetime * 1000,
    ticket: options.ticketLifetime * 1000,
    requestToken: options.requestTokenLifetime * 1000,
    oauth1Access: options.oauth1AccessLifetime * 1000,
    oauth1Window: options.oauth1Window * 1000,
  };
}

function limitsOf(options: Options): Limits {
  return {
    body: options.maxBody,
    target: options.maxTarget,
    headers: options.maxHeaders,
    xmlDepth: options.maxXmlDepth,
    xmlAttributes: options.maxXmlAttributes,
    connections: options.maxConnections,
    headerTimeout: options.headerTimeout * 1000,
    requestTimeout: options.requestTimeout * 1000,
  };
}

/**
 * Everybody in the configuration file and in the data directory. Throws Refusal, to end with 1, where somebody of OAuth is
 * kept and there is no HTTPS.
 */
export function knownAccountsOf(
  options: Options,
  { users, clients, consumers }: AccountFiles,
): KnownAccounts {
  return {
    users: allUsers(options, users.entries),
    clients: allRegistered(options, 'clients', options.clients, clients),
    consumers: allRegistered(options, 'consumers', options.consumers, consumers),
  };
}

/** The clients or consumers of the configuration file and those kept; the file's go before. Throws Refusal, as everybodyOf does. */
export function allRegistered<T>(
  { data, tlsPort }: Options,
  name: 'clients' | 'consumers',
  configured: ReadonlyMap<string, T>,
  { entries }: Pick<AccountFileContent<T>, 'entries'>,
): ReadonlyMap<string, T> {
  if (entries.size > 0 && tlsPort === undefined)
    throw new CommandError(
      [`the ${name} in ${accountFilePath(data, name)} need HTTPS, and --no-tls turns it off`],
      1,
    );
  return new Map([...entries, ...configured]);
}

/** The users of the configuration file and those kept in the data directory; the file's go before. */
export function allUsers(options: Options, stored: ReadonlyMap<string, StoredUser>): Map<string, UserOption> {
  const kept = [...stored].map(([name, user]): [string, UserOption] => [name, declarationOf(user)]);
  return new Map<string, UserOption>([...kept, ...options.users]);
}

function declarationOf({ secrets, password, disabled, since }: StoredUser): UserOption {
  return { secrets, disabled, since, password: password === undefined ? undefined : { hash: password } };
}
