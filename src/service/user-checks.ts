import { listRegistered } from '../accounts/registered.ts';
import { generatedUserShape, toAccountRecord, userShape } from '../accounts/user-declaration.ts';
import { hashSha256 } from '../oauth/sha256.ts';
import { read, text } from '../shape/shape.ts';
import type { ClientDeclaration, ConsumerDeclaration, RegisteredBy, UserDeclaration } from './options.ts';

/**
 * Checks a user. The message contains neither a secret nor a password.
 * @param generated whether a user without a secret gets a generated one
 * @throws RangeError with the nearest known name
 */
export function checkUser(name: unknown, user: unknown, generated: boolean): void {
  const shape = generated ? generatedUserShape : userShape;
  read<UserDeclaration>(shape, user, `the user ${JSON.stringify(read(text(), name, 'the name of a user'))}`);
}

/** The users, clients and consumers of a configuration, all of which are valid. */
interface Principals {
  readonly users?: RegisteredBy<UserDeclaration> | undefined;
  readonly clients?: RegisteredBy<ClientDeclaration> | undefined;
  readonly consumers?: RegisteredBy<ConsumerDeclaration> | undefined;
}

/**
 * Checks that no two users, clients or consumers have the same secret: each could sign as the other. Secrets of clients of which
 * only a scrypt hash is known are not compared.
 * @throws RangeError that names both, but not the secret
 */
export function checkDistinctSecrets({ users = {}, clients = {}, consumers = {} }: Principals): void {
  const owners = new Map<string, string>();
  const claim = (owner: string, digests: readonly string[]): void => {
    for (const digest of digests) {
      const other = owners.get(digest) ?? owner;
      if (other !== owner)
        throw new RangeError(
          `the secret of ${owner} is also the secret of ${other}; each user, client and consumer needs its own`,
        );
      owners.set(digest, owner);
    }
  };
  for (const [name, user] of listRegistered(users))
    claim(`the user ${name}`, listUserSecrets(user).map(hashSha256));
  for (const [key, { secret }] of listRegistered(consumers))
    claim(`the consumer ${key}`, secret === undefined ? [] : [hashSha256(secret)]);
  for (const [id, { secret }] of listRegistered(clients)) claim(`the client ${id}`, listDigests(secret));
}

/** Returns the secrets of a user and of its keys, with the passphrases. */
export function listUserSecrets(user: UserDeclaration): readonly string[] {
  const { secrets, keys = {} } = toAccountRecord(user);
  const shared = Object.values(keys).flatMap((key) =>
    'secret' in key ? [key.secret, ...(key.passphrase === undefined ? [] : [key.passphrase])] : [],
  );
  return [...secrets.map(({ secret }) => secret), ...shared];
}

/** Returns the secrets of a user and of its keys, and the password unless only its hash is known. */
export function listSecrets(user: UserDeclaration): string[] {
  const { password } = toAccountRecord(user);
  return [
    ...listUserSecrets(user),
    ...(password !== undefined && 'plain' in password ? [password.plain] : []),
  ];
}

function listDigests(secret: ClientDeclaration['secret']): readonly string[] {
  if (secret === undefined) return [];
  if (typeof secret === 'string') return [hashSha256(secret)];
  if ('plain' in secret) return [hashSha256(secret.plain)];
  return 'sha256' in secret ? [secret.sha256] : [];
}
