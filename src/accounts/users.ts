import { Members, RecordFault } from '../store/encoding/members.ts';
import { AccountFile, type EntryReader, formatTime } from './account-file.ts';
import type { KeyDeclaration } from './account-key.ts';
import { parseAccountKey, readKeyDeclaration } from './parse-account-key.ts';
import { isPasswordHash } from './passwords.ts';
import { readQuotaText } from './quota-policy.ts';
import { readUserRoles, readUserSchemes } from './user-rights.ts';

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
  readonly quota?: string | undefined;
  /** The names of the schemes with which the user can authenticate. Default: all. */
  readonly schemes?: readonly string[] | undefined;
  /** The names of the roles of the user. Default: none. */
  readonly roles?: readonly string[] | undefined;
}

/** The file of users. */
export const userFile = new AccountFile<StoredUser>({
  name: 'users',
  one: 'user',
  sealedAs: 'secret',
  read: readUser,
  write: writeUser,
});

const userMembers = ['secrets', 'password', 'disabled', 'since', 'keys', 'quota', 'schemes', 'roles'];

function readUser(user: Members, reader: EntryReader): StoredUser {
  const { where } = reader;
  const secrets = user
    .only(userMembers, where)
    .list('secrets')
    .map((secret, index) => readSecret(secret, `secret ${index + 1} of ${where}`, reader));
  const password = user.get('password');
  if (password !== undefined && !(typeof password === 'string' && isPasswordHash(password)))
    throw new RecordFault(`password of ${where} is not a scrypt hash`);
  return {
    secrets,
    ...(password === undefined ? {} : { password }),
    ...(user.has('disabled') ? { disabled: user.flag('disabled') } : {}),
    ...(user.has('since') ? { since: user.time('since') } : {}),
    ...(user.has('keys') ? { keys: readKeys(user.object('keys'), reader) } : {}),
    ...(user.has('quota') ? { quota: readStored('quota', readQuotaText, user, reader) } : {}),
    ...(user.has('roles') ? { roles: readStored('roles', readUserRoles, user, reader) } : {}),
    ...(user.has('schemes') ? { schemes: readStored('schemes', readUserSchemes, user, reader) } : {}),
  };
}

function readStored<Value>(
  name: string,
  read: (value: unknown, what: string) => Value,
  user: Members,
  { where }: Pick<EntryReader, 'where'>,
): Value {
  return withRecordFault(() => read(user.get(name), `${name} of ${where}`));
}

/** Calls a function that reads a declared value, and rethrows its RangeError as RecordFault. */
function withRecordFault<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw new RecordFault(error.message);
    throw error;
  }
}

function readKeys(keys: Members, reader: EntryReader): Readonly<Record<string, KeyDeclaration>> {
  const entries = keys.entries().map(([id, key]) => {
    const what = `the key ${JSON.stringify(id)} of ${reader.where}`;
    return [id, readKey(id, Members.of(key, what), what, reader)] as const;
  });
  return Object.fromEntries(entries);
}

function readKey(id: string, stored: Members, what: string, { secret }: EntryReader): KeyDeclaration {
  const members = new Map(stored.entries());
  if (stored.has('until')) members.set('until', stored.time('until'));
  for (const name of ['secret', 'passphrase'])
    if (members.has(name)) members.set(name, secret(members.get(name), what));
  return withRecordFault(() => {
    const key = readKeyDeclaration(Object.fromEntries(members), what);
    parseAccountKey(id, key, what);
    return key;
  });
}

function readSecret(value: unknown, where: string, { secret }: EntryReader): StoredSecret {
  const members = Members.of(value, where).only(['secret', 'until'], where);
  const text = secret(members.get('secret'), where);
  return members.has('until') ? { secret: text, until: members.time('until') } : { secret: text };
}

// The hash of a password is not encrypted: generated passwords have 256 random bits, so it cannot be used to guess them.
function writeUser(
  { secrets, disabled, since, keys = {}, roles = [], ...user }: StoredUser,
  stored: (secret: string) => unknown,
): object {
  return {
    secrets: secrets.map(({ secret, until }) => ({ secret: stored(secret), until: formatTime(until) })),
    ...user,
    disabled: disabled === true ? true : undefined,
    since: formatTime(since),
    keys: Object.keys(keys).length === 0 ? undefined : writeKeys(keys, stored),
    roles: roles.length === 0 ? undefined : roles,
  };
}

function writeKeys(
  keys: Readonly<Record<string, KeyDeclaration>>,
  stored: (secret: string) => unknown,
): object {
  const entries = Object.entries(keys).map(([id, key]) => {
    const until = formatTime(key.until);
    if (!('secret' in key)) return [id, { ...key, until }];
    const passphrase = key.passphrase === undefined ? undefined : stored(key.passphrase);
    return [id, { ...key, secret: stored(key.secret), passphrase, until }];
  });
  return Object.fromEntries(entries);
}
