import { checkQuota } from '../auth/quota/policy.ts';
import { readUserSchemes } from '../auth/scheme-limits.ts';
import { sha256 } from '../oauth/sha256.ts';
import { checkMembers, checkNumber, checkObject, checkString } from './argument-checks.ts';
import type { ClientDeclaration, ConsumerDeclaration, RegisteredBy, UserDeclaration } from './options.ts';

/** The members of a user with one secret. */
const withSecret: readonly string[] = ['secret', 'password', 'disabled', 'keys', 'quota', 'schemes'];
/** The members of a user with several secrets. */
const withSecrets: readonly string[] = [
  'secrets',
  'password',
  'disabled',
  'since',
  'keys',
  'quota',
  'schemes',
];

/**
 * Checks the shape of a user. The message contains neither a secret nor a password.
 * @param generated whether a user without a secret gets a generated one
 * @throws RangeError with the nearest known name
 */
export function checkUser(name: unknown, user: unknown, generated: boolean): void {
  checkString(name, 'the name of a user');
  const what = `the user ${JSON.stringify(name)}`;
  checkObject(user, what, 'such as { secret: … }');
  const hasKeys = checkKeys(user, what);
  if ('quota' in user && user.quota !== undefined) checkQuota(user.quota, `quota of ${what}`);
  if ('schemes' in user && user.schemes !== undefined) readUserSchemes(user.schemes, `schemes of ${what}`);
  if ('secrets' in user) {
    checkMembers(user, withSecrets, what);
    // Without any secret, a user can log in with a password only.
    if (!Array.isArray(user.secrets)) throw new RangeError(`secrets of ${what} must be a list`);
    for (const secret of user.secrets) checkSecret(secret, what);
    return;
  }
  checkMembers(user, withSecret, what);
  if ('secret' in user && user.secret !== undefined) checkNonEmpty(user.secret, `the secret of ${what}`);
  else if (!generated && !hasKeys) throw new RangeError(`${what} has no secret`);
  if ('password' in user && user.password !== undefined)
    checkNonEmpty(user.password, `the password of ${what}`);
}

/** Checks the shape of the keys. Their values are checked when they are parsed. Returns whether there are any. */
function checkKeys(user: object, what: string): boolean {
  if (!('keys' in user) || user.keys === undefined) return false;
  checkObject(user.keys, `keys of ${what}`, 'such as { "key-1": { algorithm: …, publicKey: … } }');
  for (const [id, key] of Object.entries(user.keys)) {
    const named = `the key ${JSON.stringify(id)} of ${what}`;
    checkMembers(key, ['algorithm', 'publicKey', 'secret', 'passphrase', 'until'], named);
    checkNumber('until' in key ? key.until : undefined, `until of ${named}`);
    if ('secret' in key && 'publicKey' in key)
      throw new RangeError(`${named} has a secret and a public key; it must have one of them`);
  }
  return Object.keys(user.keys).length > 0;
}

function checkSecret(secret: unknown, what: string): void {
  checkMembers(secret, ['secret', 'until'], `a secret of ${what}`, 'such as { secret: … }');
  checkNonEmpty('secret' in secret ? secret.secret : undefined, `a secret of ${what}`);
}

function checkNonEmpty(value: unknown, what: string): void {
  if (typeof value === 'string' && value !== '') return;
  throw new RangeError(`${what} is not a non-empty string`);
}

/** The users, clients and consumers of a configuration, all of which are valid. */
export interface Principals {
  readonly users?: RegisteredBy<UserDeclaration>;
  readonly clients?: RegisteredBy<ClientDeclaration>;
  readonly consumers?: RegisteredBy<ConsumerDeclaration>;
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
  for (const [name, user] of entriesOf(users)) claim(`the user ${name}`, secretsOf(user).map(sha256));
  for (const [key, { secret }] of entriesOf(consumers))
    claim(`the consumer ${key}`, secret === undefined ? [] : [sha256(secret)]);
  for (const [id, { secret }] of entriesOf(clients)) claim(`the client ${id}`, digestsOf(secret));
}

function entriesOf<Option>(registered: RegisteredBy<Option>): readonly (readonly [string, Option])[] {
  return registered instanceof Map ? [...registered] : Object.entries(registered);
}

function secretsOf(user: UserDeclaration): readonly string[] {
  const own = 'secrets' in user ? user.secrets.map(({ secret }) => secret) : [user.secret];
  const shared = Object.values(user.keys ?? {}).flatMap((key) =>
    'secret' in key ? [key.secret, key.passphrase] : [],
  );
  return [...own, ...shared].filter((secret) => secret !== undefined);
}

function digestsOf(secret: ClientDeclaration['secret']): readonly string[] {
  if (secret === undefined) return [];
  if (typeof secret === 'string') return [sha256(secret)];
  if ('plain' in secret) return [sha256(secret.plain)];
  return 'sha256' in secret ? [secret.sha256] : [];
}
