import type { ClientRegistration, ConsumerRegistration } from '../../accounts/registration.ts';
import { type AccountPlace, pathIn } from '../../accounts/stored-file.ts';
import { toAccountRecord } from '../../accounts/user-declaration.ts';
import type { StoredUser } from '../../accounts/users.ts';
import type { Collection } from '../../collections/declaration.ts';
import { didYouMean, findClosestMatch } from '../../did-you-mean.ts';
import { intersectScopes } from '../../oauth/scopes.ts';
import { existingScopes } from '../../options/file.ts';
import type { Options } from '../../options/options.ts';
import { optionSpecs } from '../../options/table.ts';
import {
  accessRules,
  itemOwnerField,
  ownerParameter,
  roleInRule,
  scopeInRule,
} from '../../pipeline/access-rule.ts';
import type { Resource } from '../../pipeline/resource.ts';
import { readSchemes } from '../../schemes/configured-schemes.ts';
import type { SchemeDeclarations } from '../../schemes/scheme-declarations.ts';
import type { HealthOptions, ServiceOptions, UserDeclaration } from '../../service/options.ts';
import { checkServiceOptions } from '../../service/options-shape.ts';
import { createService, type Service } from '../../service/service.ts';
import { listSecrets } from '../../service/user-checks.ts';
import { createMemoryStore } from '../../store/memory.ts';
import { createStoreId } from '../../store/store-id.ts';
import type { AccountFiles } from '../accounts/account-files.ts';
import { CommandError, rethrowAsCommandError } from '../errors.ts';
import { maskSecrets } from '../mask-secrets.ts';
import type { LoadedModule } from '../module/load-module.ts';

/** The users, OAuth 2.0 clients and OAuth 1.0a consumers of a server. */
export interface KnownAccounts {
  readonly users: Map<string, UserDeclaration>;
  readonly clients: ReadonlyMap<string, ClientRegistration>;
  readonly consumers: ReadonlyMap<string, ConsumerRegistration>;
}

/** Creates a service from its options. */
export type Compose = (options: ServiceOptions & KnownAccounts) => Service;

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
    'store' | 'nonces' | 'notBefore' | 'masterKey' | 'signingKeys' | 'onRequest' | 'onError' | 'resources'
  > &
    Pick<HealthOptions, 'check'>,
  create: Compose = createService,
): Service {
  const { collections, seed, schemes, oauth2 } = options;
  // A RangeError is, for instance, one of two path templates that match the same paths, which only the router detects.
  return rethrowAsCommandError(
    () => {
      const { health, ...configured } = readServiceOptions(options);
      return create({
        ...configured,
        ...more,
        ...accounts,
        collections,
        seed,
        schemes,
        oauth2,
        health: health && { ...health, check },
      });
    },
    options.module === undefined ? 2 : 1,
  );
}

/**
 * Reads the document of `--partner`, and completes the options by the schemes that it declares. Its code is loaded only if there is one.
 *
 * @throws CommandError with the place in the document
 */
export async function readPartner(options: Options, accounts: KnownAccounts) {
  if (options.partner === undefined)
    return { options, prepared: undefined, compose: undefined, unreachable: [] };
  const { loadPartner } = await import('./partner.ts');
  return loadPartner(options, options.partner, accounts);
}

/** What is composed besides the store. */
interface Composed {
  readonly options: Options;
  readonly accounts: KnownAccounts;
  readonly module: LoadedModule | undefined;
  readonly compose: Compose | undefined;
}

/**
 * Creates the service in memory, as a start does, calls `use` with it and the resources in code, and closes it.
 *
 * @throws CommandError or DeclarationError as a start does
 */
export async function withComposed<T>(
  { options, accounts, module, compose }: Composed,
  use: (service: Service, resources: Readonly<Record<string, Resource>>) => Promise<T>,
): Promise<T> {
  const store = module?.store ?? createMemoryStore({ storeId: createStoreId() });
  const resources = (await module?.resources(store)) ?? {};
  const service = composeService(options, accounts, { resources }, compose);
  try {
    return await use(service, resources);
  } finally {
    await service.close({ grace: 0 });
  }
}

/** Returns whether a module has resources in code. */
export function hasResources(resources: ServiceOptions['resources'] = {}): boolean {
  return Object.keys(resources).length > 0;
}

/** Returns the options of the service that options of the server set, as the table of options says. */
function readServiceOptions(options: Options): ServiceOptions {
  const members = new Map<string, unknown>();
  for (const [key, { sets: [name, member] = [], times = 1 }] of optionSpecs) {
    const value: unknown = Reflect.get(options, key);
    if (name === undefined || value === undefined) continue;
    const converted = typeof value === 'number' ? value * times : value;
    if (member === undefined) members.set(name, converted);
    else members.set(name, { ...toObject(members.get(name)), [member]: converted });
  }
  if (options.corsOrigin.length === 0) members.delete('cors');
  const read: unknown = Object.fromEntries(members);
  checkServiceOptions(read);
  return read;
}

function toObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

/** The sources of the accounts beside the configuration file. */
interface AccountSources {
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
    clients: allClients(options, clients.entries, place),
    consumers: allRegistered(options, 'consumers', options.consumers, { ...consumers, place }),
  };
}

/** Returns all clients as `allRegistered` does. A stored one loses the scopes that do not exist any more. */
export function allClients(
  options: Options,
  stored: AccountFiles['clients']['entries'],
  place: AccountPlace,
): ReadonlyMap<string, ClientRegistration> {
  const existing = existingScopes(options.oauth2, options.partner !== undefined);
  const entries = new Map(
    Array.from(stored, ([id, client]) => [
      id,
      existing === undefined ? client : { ...client, scopes: intersectScopes(client.scopes, existing) },
    ]),
  );
  return allRegistered(options, 'clients', options.clients, { entries, place });
}

/**
 * Returns the clients or consumers of the configuration file, which take precedence, and of the account files.
 *
 * @throws CommandError if some are stored and HTTPS is off, unless TLS is assumed
 */
export function allRegistered<T>(
  { tlsPort, tls }: Options,
  name: 'clients' | 'consumers',
  configured: ReadonlyMap<string, T>,
  { entries, place }: { readonly entries: ReadonlyMap<string, T>; readonly place: AccountPlace },
): ReadonlyMap<string, T> {
  if (entries.size > 0 && tlsPort === undefined && tls === 'required')
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

function userOption({ password, ...user }: StoredUser): UserDeclaration {
  return { ...user, password: password === undefined ? undefined : { hash: password } };
}

/** What is wrong with names of users: errors, and warnings of users who do not exist yet. */
interface NameFaults {
  readonly faults: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Checks the users whom schemes and access rules name, and their roles. Returns a warning for each user of a scheme who does not
 * exist, since the user can be added later. A secret that stands in place of a name is masked.
 *
 * @param names the names of the users
 * @throws CommandError for each unknown user and role in an access rule, for each unknown user of a scheme that is similar to another
 * one, and for a secret in another encoding than that of its scheme
 */
export async function checkNamedUsers(
  { schemes, collections, oauth2 }: Pick<Options, 'schemes' | 'collections' | 'oauth2'>,
  users: KnownAccounts['users'],
  names: Iterable<string>,
): Promise<readonly string[]> {
  // The roles in tokens of other issuers are not known.
  const isOpen = Object.values(oauth2?.issuers ?? {}).some((issuer) => issuer.roles !== undefined);
  const roles = isOpen ? undefined : [...users.values()].flatMap((user) => user.roles ?? []);
  const found = [checkSchemeUsers(schemes, users), checkAccessNames(collections, names, roles)];
  // A secret that is also a name is public.
  const secrets = () => [...users.values()].flatMap(listSecrets).filter((secret) => !users.has(secret));
  const faults = await maskSecrets(
    found.flatMap((each) => each.faults),
    secrets,
  );
  if (faults.length > 0) throw new CommandError(faults, 2);
  return maskSecrets(
    found.flatMap((each) => each.warnings),
    secrets,
  );
}

/** Compares the names in the access rules of collections with the known users and roles; undefined if any role may exist. */
function checkAccessNames(
  collections: readonly Collection[],
  users: Iterable<string>,
  roles: readonly string[] | undefined,
): NameFaults {
  const known = [...users];
  const faults = new Set<string>();
  for (const { path, access } of collections)
    for (const rule of Object.values(access)) {
      if (typeof rule === 'string') continue;
      for (const member of rule) {
        const fault = accessNameFault(member, rule, known, roles);
        if (fault !== undefined) faults.add(`collections.${path}.access: ${fault}`);
      }
    }
  return { faults: [...faults], warnings: [] };
}

/** Returns why a member of a list of access rules permits nobody; undefined if a user or role has this name. */
function accessNameFault(
  member: string,
  rule: readonly string[],
  users: readonly string[],
  roles: readonly string[] | undefined,
): string | undefined {
  const role = roleInRule(member);
  if (role !== undefined)
    return roles === undefined || roles.includes(role)
      ? undefined
      : `no user has the role "${role}"${didYouMean(role, roles)}; give it to a user first`;
  const others = [ownerParameter, scopeInRule, itemOwnerField];
  if (others.some((read) => read(member) !== undefined) || users.includes(member)) return undefined;
  // A member beside its neighbour in a series, such as user1 and user2, is not a misspelling of it.
  const meant = findClosestMatch(member, [...accessRules, ...users.filter((name) => !rule.includes(name))]);
  const hint =
    meant === undefined ? '; add the user first' : `; did you mean "${meant}"? If not, add the user first`;
  return `there is no user "${member}"${hint}`;
}

/** Checks the users that declared schemes name, and whether their secrets are in the encoding of the scheme. */
function checkSchemeUsers(
  schemes: SchemeDeclarations,
  users: ReadonlyMap<string, UserDeclaration>,
): NameFaults {
  const faults: string[] = [];
  const warnings: string[] = [];
  for (const { name: scheme, user: name, secretFault } of readSchemes(schemes)) {
    if (name === undefined) continue;
    const user = users.get(name);
    const unknown = `schemes.${scheme}.user: there is no user "${name}"`;
    const meant = user === undefined ? findClosestMatch(name, [...users.keys()]) : undefined;
    if (meant !== undefined) faults.push(`${unknown}; did you mean "${meant}"? If not, add the user first`);
    else if (user === undefined) warnings.push(`${unknown} yet`);
    else {
      const wrong = toAccountRecord(user).secrets.map(({ secret }) => secretFault?.(secret));
      const fault = wrong.find((each) => each !== undefined);
      if (fault !== undefined)
        faults.push(`users.${name}.secret: is not ${fault}, as schemes.${scheme}.key requires`);
    }
  }
  return { faults, warnings };
}
