import { verifyPassword } from '../../accounts/passwords.ts';
import type { ClientSecret } from '../../accounts/registered.ts';
import { matchesSha256 } from '../../oauth/sha256.ts';
import { listUserSecrets } from '../../service/user-checks.ts';
import { CommandError } from '../errors.ts';
import { readAccountFiles } from './account-files.ts';
import { type AccountLocation, checkPlace } from './command.ts';

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
  checkPlace(place);
  const { users, clients, consumers } = await readAccountFiles(place, secretBox);
  // Also a secret that expires or has expired.
  for (const [name, { password: _, ...user }] of [...options.users, ...moduleUsers, ...users.entries])
    if (listUserSecrets(user).includes(secret)) return `the user ${name}`;
  for (const [key, consumer] of [...options.consumers, ...consumers.entries])
    if (consumer.secret === secret) return `the consumer ${key}`;
  for (const [id, client] of [...options.clients, ...clients.entries])
    if (client.secret !== undefined && (await matches(secret, client.secret))) return `the client ${id}`;
  return undefined;
}

async function matches(secret: string, stored: ClientSecret): Promise<boolean> {
  if ('plain' in stored) return stored.plain === secret;
  if ('sha256' in stored) return matchesSha256(secret, stored.sha256);
  return verifyPassword(secret, stored.scrypt);
}
