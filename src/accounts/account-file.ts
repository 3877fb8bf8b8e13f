import { stat } from 'node:fs/promises';
import type { CorruptionError } from '../store/corruption-error.ts';
import { JsonFields } from '../store/encoding/json-fields.ts';
import { removeLeftovers, replaceFile } from '../store/files/atomic-write.ts';
import { type Disk, errorCode, nodeDisk } from '../store/files/disk.ts';
import { isRunning } from '../store/files/process-liveness.ts';
import { type AccountFileName, accountFilePath } from './account-file-path.ts';
import { type SecretBox, SecretBoxError } from './secret-box.ts';

export { accountFilePath };

const fileVersion = 1;

/** The options of reading and writing an account file. */
export interface AccountFileStorage {
  /** Encrypts secrets; if undefined, they are stored as plain text. */
  readonly secretBox?: SecretBox | undefined;
  /** The file operations. Default: those of the host. */
  readonly disk?: Disk | undefined;
}

/** The content of an account file. */
export interface AccountFileContent<T> {
  /** The entries by name. */
  readonly entries: ReadonlyMap<string, T>;
  /** The number of secrets in plain text. */
  readonly clear: number;
  /** The version of the file: see `AccountFile.mark`. The content may be newer. */
  readonly mark: string | undefined;
}

/** The format of an account file. */
export interface AccountFileFormat<T> {
  /** The name of the file without its extension, and of the member with the entries. */
  readonly name: AccountFileName;
  /** The name of one entry. */
  readonly one: string;
  /** The purpose of an encrypted secret: with another purpose or name, it cannot be decrypted. */
  readonly sealedAs: string;
  /** Reads an entry. Throws CorruptionError if it is invalid. */
  read(value: unknown, reader: EntryReader): T;
  /** Returns the entry as JSON. `secret` returns the stored form of a secret. */
  write(entry: T, secret: (text: string) => unknown): object;
}

/** Helps to read one entry of an account file. */
export interface EntryReader {
  readonly document: JsonFields;
  readonly name: string;
  /** The entry in messages: `the user "ann"`. */
  readonly where: string;
  /** Reads a secret in plain text or as `{ "sealed": … }`. Throws SecretBoxError if it cannot be decrypted. */
  secret(value: unknown, where: string): string;
}

/** A file of the data directory with users, clients or consumers by name. Only its owner can read it. */
export class AccountFile<T> {
  readonly #format: AccountFileFormat<T>;

  constructor(format: AccountFileFormat<T>) {
    this.#format = format;
  }

  /** The name of the entries: `users`. */
  get name(): AccountFileFormat<T>['name'] {
    return this.#format.name;
  }

  /** The name of one entry: `user`. */
  get one(): string {
    return this.#format.one;
  }

  /** Returns the path of the file. */
  path(directory: string): string {
    return accountFilePath(directory, this.name);
  }

  /** Returns an identifier of the current version of the file; undefined if there is no file. */
  async mark(directory: string): Promise<string | undefined> {
    try {
      const { ino, mtimeNs, size } = await stat(this.path(directory), { bigint: true });
      return `${ino}.${mtimeNs}.${size}`;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /**
   * Reads the entries; none if there is no file. Throws CorruptionError if the file is corrupt, SecretBoxError if its
   * secrets cannot be decrypted.
   */
  async read(
    directory: string,
    { secretBox, disk = nodeDisk }: AccountFileStorage = {},
  ): Promise<AccountFileContent<T>> {
    const path = this.path(directory);
    // Read before the file: if the file is replaced meanwhile, the new version differs, and is read again.
    const mark = await this.mark(directory);
    const bytes = await disk.read(path);
    const reader = new AccountFileReader(path, this.#format, secretBox);
    const entries = bytes === undefined ? new Map<string, T>() : reader.read(bytes);
    return { entries, clear: reader.clear, mark };
  }

  /**
   * Replaces all entries. Resolves when they are on the disk. Throws StoreError.
   */
  async write(
    directory: string,
    entries: ReadonlyMap<string, T>,
    { secretBox, disk = nodeDisk }: AccountFileStorage = {},
  ): Promise<void> {
    const file = `${this.name}.json`;
    // Other processes may be writing theirs, so only temporary files of ended processes are removed.
    const hasEnded = async (pid: number) => pid !== process.pid && !(await isRunning({ pid }));
    await removeLeftovers(disk, directory, file, hasEnded);
    // Unlike an assignment, fromEntries also defines the name `__proto__`.
    const byName = Object.fromEntries(
      Array.from(entries, ([name, entry]) => [name, this.#formatEntry(name, entry, secretBox)]),
    );
    const content = [JSON.stringify({ version: fileVersion, [this.name]: byName }, null, 2), '\n'];
    await replaceFile(disk, { directory, name: file, content, sync: true });
  }

  #formatEntry(name: string, entry: T, secretBox: SecretBox | undefined): object {
    const as = [this.#format.sealedAs, name];
    return this.#format.write(entry, (text) =>
      secretBox === undefined ? text : { sealed: secretBox.seal(text, as) },
    );
  }
}

/** Reads the content of an account file. */
class AccountFileReader<T> {
  /** The number of secrets in plain text. */
  clear = 0;
  readonly #path: string;
  readonly #format: AccountFileFormat<T>;
  readonly #document: JsonFields;
  readonly #secretBox: SecretBox | undefined;

  constructor(path: string, format: AccountFileFormat<T>, secretBox: SecretBox | undefined) {
    this.#path = path;
    this.#format = format;
    this.#document = new JsonFields(path);
    this.#secretBox = secretBox;
  }

  read(bytes: Uint8Array): Map<string, T> {
    const { name: member } = this.#format;
    const root = this.#document.versioned(bytes, fileVersion, [member]);
    const entries = this.#document.members(root.get(member), member);
    return new Map(Array.from(entries, ([name, value]) => [name, this.#entry(name, value)]));
  }

  #entry(name: string, value: unknown): T {
    return this.#format.read(value, {
      document: this.#document,
      name,
      where: `the ${this.#format.one} ${JSON.stringify(name)}`,
      secret: (text, where) => this.#secret(name, text, where),
    });
  }

  #secret(name: string, value: unknown, where: string): string {
    const secret = this.#text(name, value, where);
    // With an empty secret, anyone could sign.
    if (secret === '') throw this.#corruption(`${where} is empty`);
    return secret;
  }

  #text(name: string, value: unknown, where: string): string {
    if (typeof value !== 'object' || value === null) {
      this.clear += 1;
      return this.#document.text(value, where);
    }
    const sealed = this.#document.object(value, where, ['sealed']).get('sealed');
    return this.#open(name, this.#document.text(sealed, where), where);
  }

  #open(name: string, sealed: string, where: string): string {
    if (this.#secretBox === undefined) throw new SecretBoxError(keyMissing(this.#path));
    const secret = this.#secretBox.open(sealed, [this.#format.sealedAs, name]);
    if (secret !== undefined) return secret;
    throw new SecretBoxError(`${this.#path}: ${where} ${encryptedWithOtherKey}`);
  }

  #corruption(what: string): CorruptionError {
    return this.#document.corruption(what);
  }
}

/** Returns the message for a file with encrypted secrets if there is no key. */
export function keyMissing(path: string): string {
  return `${path} has encrypted secrets, and there is no key: set --key-file FILE or COUNTERSIGN_KEY`;
}

/** The end of a message about a secret that cannot be decrypted. */
export const encryptedWithOtherKey =
  'cannot be decrypted: it was encrypted with another key, or it was changed. Nothing was changed.';
