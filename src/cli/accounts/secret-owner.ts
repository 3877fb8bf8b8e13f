import { existsSync } from 'node:fs';
import { verifyPassword } from '../../accounts/passwords.ts';
import type { ClientSecret } from '../../accounts/registered.ts';
import type { ClientRegistration, ConsumerRegistration } from '../../accounts/registration.ts';
import type { StoredUser } from '../../accounts/users.ts';
import { matchesSha256 } from '../../oauth/sha256.ts';
import type { UserDeclaration } from '../../service/options.ts';
import { checkPermissions } from '../../store/files/file-permissions.ts';
import { CommandError } from '../errors.ts';
import { readAccountFiles } from './account-files.ts';
import type { AccountLocation } from './command.ts';

/**
 * Checks that a given secret is not the secret of any user, client or consumer of the configuration file, the module and the
 * account files. Requires the key if their secrets are encrypted.
 *
 * @throws CommandError that names the account with this secret, but not the secret
 */
export async function checkSecretUnused(secret: string, location: AccountLocation): Promise<void> {
  const owner = await findOwner(secret, location);
  if (owner === undefined) return;
  throw new CommandError(
    [`the given secret is already the secret of ${owner}; each user, client and consumer needs its own`],
    1,
  );
}

/** Returns the account that has this secret, for messages: `the user ann`. */
async function findOwner(
  secret: string,
  { options, place, secretBox, moduleUsers }: AccountLocation,
): Promise<string | undefined> {
  if (typeof place === 'string' && existsSync(place)) checkPermissions(place);
  const { users, clients, consumers } = await readAccountFiles(place, secretBox);
  const configuredUser = [...options.users, ...moduleUsers].find(
    ([, user]) => listSecrets(user).includes(secret) || hasKeyWith(secret, user),
  )?.[0];
  const user = configuredUser ?? userWith(secret, users.entries);
  if (user !== undefined) return `the user ${user}`;
  const consumer = consumerWith(secret, options.consumers) ?? consumerWith(secret, consumers.entries);
  if (consumer !== undefined) return `the consumer ${consumer}`;
  const client = (await clientWith(secret, options.clients)) ?? (await clientWith(secret, clients.entries));
  return client === undefined ? undefined : `the client ${client}`;
}

/** Returns the name of the user with this secret, also one that expires or has expired. */
function userWith(secret: string, users: ReadonlyMap<string, StoredUser>): string | undefined {
  const has = (user: StoredUser): boolean =>
    user.secrets.some((each) => each.secret === secret) || hasKeyWith(secret, user);
  return [...users].find(([, user]) => has(user))?.[0];
}

function listSecrets(user: UserDeclaration): readonly (string | undefined)[] {
  return 'secrets' in user ? user.secrets.map((each) => each.secret) : [user.secret];
}

function hasKeyWith(secret: string, { keys = {} }: Pick<UserDeclaration, 'keys'>): boolean {
  return Object.values(keys).some((key) => 'secret' in key && key.secret === secret);
}

function consumerWith(
  secret: string,
  consumers: ReadonlyMap<string, ConsumerRegistration>,
): string | undefined {
  return [...consumers].find(([, consumer]) => consumer.secret === secret)?.[0];
}

async function clientWith(
  secret: string,
  clients: ReadonlyMap<string, ClientRegistration>,
): Promise<string | undefined> {
  for (const [id, client] of clients)
    if (client.secret !== undefined && (await matches(secret, client.secret))) return id;
  return undefined;
}

async function matches(secret: string, stored: ClientSecret): Promise<boolean> {
  if ('plain' in stored) return stored.plain === secret;
  if ('sha256' in stored) return matchesSha256(secret, stored.sha256);
  return verifyPassword(secret, stored.scrypt);
}
