import type { KeyDeclaration } from '../auth/account-key.ts';
import { parseAccountKey, readKeyDeclaration } from '../auth/parse-account-key.ts';
import { readQuotaText } from '../auth/quota-policy.ts';
import { readUserRoles, readUserSchemes } from '../auth/user-rights.ts';
import { formatIsoDate } from '../store/encoding/iso-date.ts';
import { AccountFile, type EntryReader } from './account-file.ts';
import { isPasswordHash } from './passwords.ts';

/** A secret with which a user signs. */
export interface StoredSecret {
  readonly secret: string;
  /** The end of its validity (ms since 1970-01-01T00:00:00Z). Undefined for the current secret. */
  readonly until?: number;
}

/** A stored user. */
export interface StoredUser {
  readonly secrets: readonly StoredSecret[];
  /** A hash that hashPassword returned. */
  readonly password?: string;
  readonly disabled?: boolean;
  /** The time when the user was added (ms since 1970-01-01T00:00:00Z). */
  readonly since?: number;
  /** Keys by id. Public keys are PEM text. */
  readonly keys?: Readonly<Record<string, KeyDeclaration>>;
  /** The quota of the user as text. Default: that of the service. */
  readonly quota?: string;
  /** The names of the schemes with which the user can authenticate. Default: all. */
  readonly schemes?: readonly string[];
  /** The names of the roles of the user. Default: none. */
  readonly roles?: readonly string[];
}

/** The file of users. */
export const userFile = new AccountFile<StoredUser>({
  name: 'users',
  one: 'user',
  sealedAs: 'secret',
  read: readUser,
  write: writeUser,
});

function readUser(value: unknown, reader: EntryReader): StoredUser {
  const { document, where } = reader;
  const members = document.object(value, where, [
    'secrets',
    'password',
    'disabled',
    'since',
    'keys',
    'quota',
    'schemes',
    'roles',
  ]);
  const secrets = document
    .array(members.get('secrets'), `secrets of ${where}`)
    .map((secret, index) => readSecret(secret, `secret ${index + 1} of ${where}`, reader));
  const password = members.get('password');
  const disabled = members.get('disabled');
  const since = members.get('since');
  if (password !== undefined && !(typeof password === 'string' && isPasswordHash(password)))
    throw document.corruption(`password of ${where} is not a scrypt hash`);
  if (disabled !== undefined && typeof disabled !== 'boolean')
    throw document.corruption(`disabled of ${where} is neither true nor false`);
  return {
    secrets,
    ...(password === undefined ? {} : { password }),
    ...(disabled === undefined ? {} : { disabled }),
    ...(since === undefined ? {} : { since: document.time(since, `since of ${where}`) }),
    ...(members.has('keys') ? { keys: readKeys(members.get('keys'), reader) } : {}),
    ...(members.has('quota') ? { quota: readStored('quota', readQuotaText, members, reader) } : {}),
    ...(members.has('roles') ? { roles: readStored('roles', readUserRoles, members, reader) } : {}),
    ...(members.has('schemes') ? { schemes: readStored('schemes', readUserSchemes, members, reader) } : {}),
  };
}

function readStored<Value>(
  name: string,
  read: (value: unknown, what: string) => Value,
  members: ReadonlyMap<string, unknown>,
  { document, where }: EntryReader,
): Value {
  try {
    return read(members.get(name), `${name} of ${where}`);
  } catch (error) {
    if (error instanceof RangeError) throw document.corruption(error.message);
    throw error;
  }
}

function readKeys(value: unknown, reader: EntryReader): Readonly<Record<string, KeyDeclaration>> {
  const { document, where } = reader;
  const entries = Array.from(document.members(value, `keys of ${where}`), ([id, key]) => {
    const what = `the key ${JSON.stringify(id)} of ${where}`;
    return [id, readKey(id, document.members(key, what), what, reader)] as const;
  });
  return Object.fromEntries(entries);
}

function readKey(
  id: string,
  stored: ReadonlyMap<string, unknown>,
  what: string,
  { document, secret }: EntryReader,
): KeyDeclaration {
  const members = new Map(stored);
  const until = members.get('until');
  if (until !== undefined) members.set('until', document.time(until, `until of ${what}`));
  for (const name of ['secret', 'passphrase'])
    if (members.has(name)) members.set(name, secret(members.get(name), what));
  try {
    const key = readKeyDeclaration(Object.fromEntries(members), what);
    parseAccountKey(id, key, what);
    return key;
  } catch (error) {
    if (error instanceof RangeError) throw document.corruption(error.message);
    throw error;
  }
}

function readSecret(value: unknown, where: string, { document, secret }: EntryReader): StoredSecret {
  const members = document.object(value, where, ['secret', 'until']);
  const text = secret(members.get('secret'), where);
  const until = members.get('until');
  if (until === undefined) return { secret: text };
  return { secret: text, until: document.time(until, `until of ${where}`) };
}

// The hash of a password is not encrypted: generated passwords have 256 random bits, so it cannot be used to guess them.
function writeUser(
  { secrets, password, disabled, since, keys, quota, schemes, roles = [] }: StoredUser,
  stored: (secret: string) => unknown,
): object {
  return {
    secrets: secrets.map(({ secret, until }) => ({
      secret: stored(secret),
      ...(until === undefined ? {} : { until: formatIsoDate(until) }),
    })),
    ...(password === undefined ? {} : { password }),
    ...(disabled === true ? { disabled } : {}),
    ...(since === undefined ? {} : { since: formatIsoDate(since) }),
    ...(keys === undefined || Object.keys(keys).length === 0 ? {} : { keys: writeKeys(keys, stored) }),
    ...(quota === undefined ? {} : { quota }),
    ...(schemes === undefined ? {} : { schemes }),
    ...(roles.length === 0 ? {} : { roles }),
  };
}

function writeKeys(
  keys: Readonly<Record<string, KeyDeclaration>>,
  stored: (secret: string) => unknown,
): object {
  const entries = Object.entries(keys).map(([id, { until, ...key }]) => [
    id,
    {
      ...key,
      ...('secret' in key ? { secret: stored(key.secret) } : {}),
      ...('passphrase' in key && key.passphrase !== undefined ? { passphrase: stored(key.passphrase) } : {}),
      ...(until === undefined ? {} : { until: formatIsoDate(until) }),
    },
  ]);
  return Object.fromEntries(entries);
}
