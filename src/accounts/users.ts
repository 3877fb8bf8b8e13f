import { formatIsoDate } from '../store/encoding/iso-date.ts';
import { AccountFile, type EntryReader } from './account-file.ts';
import { isPasswordHash } from './passwords.ts';

/** A secret that a user signs with. */
export interface StoredSecret {
  readonly secret: string;
  /** The time (ms since 1970-01-01T00:00:00Z) it is valid to; without it the secret is the current one. */
  readonly until?: number;
}

/** What is kept of a user. */
export interface StoredUser {
  readonly secrets: readonly StoredSecret[];
  /** A hash as hashPassword gives it. */
  readonly password?: string;
  readonly disabled?: boolean;
  /** When it was added (ms since 1970-01-01T00:00:00Z). */
  readonly since?: number;
}

/** The users of a data directory. */
export const userFile = new AccountFile<StoredUser>({
  name: 'users',
  one: 'user',
  sealedAs: 'secret',
  read: readUser,
  write: writeUser,
});

function readUser(value: unknown, reader: EntryReader): StoredUser {
  const { document, where } = reader;
  const members = document.object(value, where, ['secrets', 'password', 'disabled', 'since']);
  const secrets = document
    .array(members.get('secrets'), `secrets of ${where}`)
    .map((secret, index) => readSecret(secret, `secret ${index + 1} of ${where}`, reader));
  const password = members.get('password');
  const disabled = members.get('disabled');
  const since = members.get('since');
  if (password !== undefined && !(typeof password === 'string' && isPasswordHash(password)))
    throw document.damage(`password of ${where} is not a scrypt hash`);
  if (disabled !== undefined && typeof disabled !== 'boolean')
    throw document.damage(`disabled of ${where} is neither true nor false`);
  return {
    secrets,
    ...(password === undefined ? {} : { password }),
    ...(disabled === undefined ? {} : { disabled }),
    ...(since === undefined ? {} : { since: document.time(since, `since of ${where}`) }),
  };
}

function readSecret(value: unknown, where: string, { document, secret }: EntryReader): StoredSecret {
  const members = document.object(value, where, ['secret', 'until']);
  const text = secret(members.get('secret'), where);
  const until = members.get('until');
  if (until === undefined) return { secret: text };
  return { secret: text, until: document.time(until, `until of ${where}`) };
}

// A password's hash is not sealed: the passwords that are made here are 256 random bits, which no guessing finds by it.
function writeUser(
  { secrets, password, disabled, since }: StoredUser,
  kept: (secret: string) => unknown,
): object {
  return {
    secrets: secrets.map(({ secret, until }) => ({
      secret: kept(secret),
      ...(until === undefined ? {} : { until: formatIsoDate(until) }),
    })),
    ...(password === undefined ? {} : { password }),
    ...(disabled === true ? { disabled } : {}),
    ...(since === undefined ? {} : { since: formatIsoDate(since) }),
  };
}
