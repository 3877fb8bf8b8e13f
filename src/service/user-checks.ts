import { checkMembers, checkNumber, checkObject } from './argument-checks.ts';

/** The members of a user with one secret. */
const withSecret: readonly string[] = ['secret', 'password', 'disabled', 'keys'];
/** The members of a user with several secrets. */
const withSecrets: readonly string[] = ['secrets', 'password', 'disabled', 'since', 'keys'];

/**
 * Checks the shape of a user. The message contains neither a secret nor a password.
 * @param generated whether a user without a secret gets a generated one
 * @throws RangeError with the nearest known name
 */
export function checkUser(name: string, user: unknown, generated: boolean): void {
  const what = `the user ${JSON.stringify(name)}`;
  checkObject(user, what, 'such as { secret: … }');
  const hasKeys = checkKeys(user, what);
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
    checkMembers(key, ['algorithm', 'publicKey', 'secret', 'until'], named);
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
