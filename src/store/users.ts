import { join } from 'node:path';
import { type Disk, nodeDisk } from './disk.ts';
import { StoredDocument } from './document.ts';
import { formatIsoDate } from './iso-date.ts';
import { isPasswordHash } from './passwords.ts';
import { removeLeftovers, replaceFile } from './replace.ts';
import { isRunning } from './running.ts';

const fileName = 'users.json';
const fileVersion = 1;

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
}

/**
 * Reads the users of a data directory by name; none when there is no `users.json`.
 * Throws DamagedStoreError when there is one that cannot be used.
 */
export async function readUsers(
  directory: string,
  disk: Disk = nodeDisk,
): Promise<ReadonlyMap<string, StoredUser>> {
  const path = join(directory, fileName);
  const bytes = await disk.read(path);
  const users = new Map<string, StoredUser>();
  if (bytes === undefined) return users;
  const document = new StoredDocument(path);
  const root = document.versioned(bytes, fileVersion, ['users']);
  for (const [name, user] of document.members(root.get('users'), 'users')) {
    users.set(name, readUser(document, user, `the user ${JSON.stringify(name)}`));
  }
  return users;
}

/**
 * Puts these users in the place of all that were kept; on the medium when it resolves.
 * Throws StoreError when they could not be kept.
 */
export async function writeUsers(
  directory: string,
  users: ReadonlyMap<string, StoredUser>,
  disk: Disk = nodeDisk,
): Promise<void> {
  // Other processes may be writing their own, so only what an ended one left is taken away.
  const ended = async (pid: number) => pid !== process.pid && !(await isRunning({ pid }));
  await removeLeftovers(disk, directory, fileName, ended);
  // fromEntries defines each name, `__proto__` too, where an assignment would not.
  const byName = Object.fromEntries(Array.from(users, ([name, user]) => [name, writeUser(user)]));
  const content = [JSON.stringify({ version: fileVersion, users: byName }, null, 2), '\n'];
  await replaceFile(disk, { directory, name: fileName, content, sync: true });
}

function readUser(document: StoredDocument, value: unknown, where: string): StoredUser {
  const members = document.object(value, where, ['secrets', 'password', 'disabled']);
  const secrets = document
    .array(members.get('secrets'), `secrets of ${where}`)
    .map((secret, index) => readSecret(document, secret, `secret ${index + 1} of ${where}`));
  const password = members.get('password');
  const disabled = members.get('disabled');
  if (password !== undefined && !(typeof password === 'string' && isPasswordHash(password))) {
    throw document.damage(`password of ${where} is not a scrypt hash`);
  }
  if (disabled !== undefined && typeof disabled !== 'boolean') {
    throw document.damage(`disabled of ${where} is neither true nor false`);
  }
  return {
    secrets,
    ...(password === undefined ? {} : { password }),
    ...(disabled === undefined ? {} : { disabled }),
  };
}

function readSecret(document: StoredDocument, value: unknown, where: string): StoredSecret {
  const members = document.object(value, where, ['secret', 'until']);
  const secret = document.text(members.get('secret'), where);
  // With an empty secret anybody could sign.
  if (secret === '') throw document.damage(`${where} is empty`);
  const until = members.get('until');
  return until === undefined ? { secret } : { secret, until: document.time(until, `until of ${where}`) };
}

function writeUser({ secrets, password, disabled }: StoredUser): object {
  return {
    secrets: secrets.map(({ secret, until }) => ({
      secret,
      ...(until === undefined ? {} : { until: formatIsoDate(until) }),
    })),
    ...(password === undefined ? {} : { password }),
    ...(disabled === true ? { disabled } : {}),
  };
}
