import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Disk, errorCode, nodeDisk } from './disk.ts';
import { StoredDocument } from './document.ts';
import { formatIsoDate } from './iso-date.ts';
import { isPasswordHash } from './passwords.ts';
import { removeLeftovers, replaceFile } from './replace.ts';
import { isRunning } from './running.ts';
import { type Seal, SealError } from './seal.ts';

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

/** How a users file is read and written. */
export interface UsersMedium {
  /** What secrets are sealed with; undefined keeps them in the clear. */
  readonly seal?: Seal | undefined;
  /** The file operations; the host's own by default. */
  readonly disk?: Disk | undefined;
}

/** What a users file says. */
export interface UsersFile {
  /** By their names. */
  readonly users: ReadonlyMap<string, StoredUser>;
  /** How many secrets stand there in the clear. */
  readonly clear: number;
  /** As `usersMark` gives it: of this content, or of one that it came after. */
  readonly mark: string | undefined;
}

/** Where the users of a data directory are. */
export function usersPath(directory: string): string {
  return join(directory, fileName);
}

/** Tells what the users file is now from all that was in its place before; undefined when there is none. */
export async function usersMark(directory: string): Promise<string | undefined> {
  try {
    const { ino, mtimeNs, size } = await stat(usersPath(directory), { bigint: true });
    return `${ino}.${mtimeNs}.${size}`;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Reads the users of a data directory; none when there is no `users.json`. Throws DamagedStoreError when there is one
 * that cannot be used, SealError when its secrets are sealed and cannot be opened.
 */
export async function readUsers(
  directory: string,
  { seal, disk = nodeDisk }: UsersMedium = {},
): Promise<UsersFile> {
  const path = usersPath(directory);
  // Before the file is: what takes its place meanwhile has another mark, and is read again.
  const mark = await usersMark(directory);
  const bytes = await disk.read(path);
  const reader = new UsersReader(path, seal);
  const users = bytes === undefined ? new Map<string, StoredUser>() : reader.read(bytes);
  return { users, clear: reader.clear, mark };
}

/**
 * Puts these users in the place of all that were kept; on the medium when it resolves.
 * Throws StoreError when they could not be kept.
 */
export async function writeUsers(
  directory: string,
  users: ReadonlyMap<string, StoredUser>,
  { seal, disk = nodeDisk }: UsersMedium = {},
): Promise<void> {
  // Other processes may be writing their own, so only what an ended one left is taken away.
  const ended = async (pid: number) => pid !== process.pid && !(await isRunning({ pid }));
  await removeLeftovers(disk, directory, fileName, ended);
  // fromEntries defines each name, `__proto__` too, where an assignment would not.
  const byName = Object.fromEntries(Array.from(users, ([name, user]) => [name, writeUser(name, user, seal)]));
  const content = [JSON.stringify({ version: fileVersion, users: byName }, null, 2), '\n'];
  await replaceFile(disk, { directory, name: fileName, content, sync: true });
}

/** What a secret is sealed as: so it opens as nothing else, and for no other user. */
function sealedAs(user: string): readonly string[] {
  return ['secret', user];
}

/** Reads one users file. */
class UsersReader {
  /** How many secrets were in the clear. */
  clear = 0;
  readonly #path: string;
  readonly #document: StoredDocument;
  readonly #seal: Seal | undefined;

  constructor(path: string, seal: Seal | undefined) {
    this.#path = path;
    this.#document = new StoredDocument(path);
    this.#seal = seal;
  }

  read(bytes: Uint8Array): Map<string, StoredUser> {
    const root = this.#document.versioned(bytes, fileVersion, ['users']);
    const users = this.#document.members(root.get('users'), 'users');
    return new Map(Array.from(users, ([name, user]) => [name, this.#user(name, user)]));
  }

  #user(name: string, value: unknown): StoredUser {
    const where = `the user ${JSON.stringify(name)}`;
    const members = this.#document.object(value, where, ['secrets', 'password', 'disabled']);
    const secrets = this.#document
      .array(members.get('secrets'), `secrets of ${where}`)
      .map((secret, index) => this.#secret(name, secret, `secret ${index + 1} of ${where}`));
    const password = members.get('password');
    const disabled = members.get('disabled');
    if (password !== undefined && !(typeof password === 'string' && isPasswordHash(password))) {
      throw this.#document.damage(`password of ${where} is not a scrypt hash`);
    }
    if (disabled !== undefined && typeof disabled !== 'boolean') {
      throw this.#document.damage(`disabled of ${where} is neither true nor false`);
    }
    return {
      secrets,
      ...(password === undefined ? {} : { password }),
      ...(disabled === undefined ? {} : { disabled }),
    };
  }

  #secret(user: string, value: unknown, where: string): StoredSecret {
    const members = this.#document.object(value, where, ['secret', 'until']);
    const secret = this.#text(user, members.get('secret'), where);
    // With an empty secret anybody could sign.
    if (secret === '') throw this.#document.damage(`${where} is empty`);
    const until = members.get('until');
    if (until === undefined) return { secret };
    return { secret, until: this.#document.time(until, `until of ${where}`) };
  }

  /** A secret that stands there in the clear, or as `{ "sealed": … }`. */
  #text(user: string, value: unknown, where: string): string {
    if (typeof value !== 'object' || value === null) {
      this.clear += 1;
      return this.#document.text(value, where);
    }
    const sealed = this.#document.object(value, where, ['sealed']).get('sealed');
    return this.#open(user, this.#document.text(sealed, where), where);
  }

  #open(user: string, sealed: string, where: string): string {
    if (this.#seal === undefined)
      throw new SealError(
        `${this.#path} has encrypted secrets, and no key is given: --key-file FILE or COUNTERSIGN_KEY does that`,
      );
    const secret = this.#seal.open(sealed, sealedAs(user));
    if (secret !== undefined) return secret;
    throw new SealError(
      `${this.#path}: ${where} cannot be decrypted: it was encrypted with another key, or changed since. Nothing was changed.`,
    );
  }
}

// A password's hash is not sealed: the passwords that are made here are 256 random bits, which no guessing finds by it.
function writeUser(
  name: string,
  { secrets, password, disabled }: StoredUser,
  seal: Seal | undefined,
): object {
  return {
    secrets: secrets.map(({ secret, until }) => ({
      secret: seal === undefined ? secret : { sealed: seal.seal(secret, sealedAs(name)) },
      ...(until === undefined ? {} : { until: formatIsoDate(until) }),
    })),
    ...(password === undefined ? {} : { password }),
    ...(disabled === true ? { disabled } : {}),
  };
}
