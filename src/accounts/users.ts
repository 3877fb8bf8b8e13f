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
  const members = document.object(value, where, ['secrets', 'password', 'disabled', 'since']);
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
  };
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
  { secrets, password, disabled, since }: StoredUser,
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
  };
}
