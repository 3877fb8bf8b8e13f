import { stat } from 'node:fs/promises';
import type { CorruptionError } from '../store/corruption-error.ts';
import { JsonFields } from '../store/encoding/json-fields.ts';
import { removeLeftovers, replaceFile } from '../store/files/atomic-write.ts';
import { type Disk, errorCode, nodeDisk } from '../store/files/disk.ts';
import { isRunning } from '../store/files/process-liveness.ts';
import { accountFilePath } from './account-file-path.ts';
import { type SecretBox, SecretBoxError } from './secret-box.ts';

export { accountFilePath };

const fileVersion = 1;

/** How a roster is read and written. */
export interface AccountFileStorage {
  /** What secrets are sealed with; undefined keeps them in the clear. */
  readonly seal?: SecretBox | undefined;
  /** The file operations; the host's own by default. */
  readonly disk?: Disk | undefined;
}

/** What the file of a roster says. */
export interface AccountFileContent<T> {
  /** By their names. */
  readonly entries: ReadonlyMap<string, T>;
  /** How many secrets stand there in the clear. */
  readonly clear: number;
  /** As `mark` gives it: of this content, or of one that it came after. */
  readonly mark: string | undefined;
}

/** How the entries of a roster are kept. */
export interface AccountFileFormat<T> {
  /** What they are called: `users` are in `users.json`, under that name. */
  readonly name: 'users' | 'clients' | 'consumers';
  /** What one of them is called. */
  readonly one: string;
  /** What a secret is sealed as: so it opens as nothing else, and for no other name. */
  readonly sealedAs: string;
  /** Reads an entry. Throws CorruptionError, by the reader, for one that cannot be used. */
  read(value: unknown, reader: EntryReader): T;
  /** The entry as JSON; `secret` gives what stands for a secret in it. */
  write(entry: T, secret: (text: string) => unknown): object;
}

/** Reads one entry of a roster. */
export interface EntryReader {
  readonly document: JsonFields;
  readonly name: string;
  /** Which one it is, for messages: `the user "ann"`. */
  readonly where: string;
  /** A secret that stands there in the clear, or as `{ "sealed": … }`. Throws SecretBoxError for one that does not open. */
  secret(value: unknown, where: string): string;
}

/** Entries by names in a file of the data directory that only its owner reads. */
export class AccountFile<T> {
  readonly #form: AccountFileFormat<T>;

  constructor(form: AccountFileFormat<T>) {
    this.#form = form;
  }

  /** What its entries are called: `users`. */
  get name(): AccountFileFormat<T>['name'] {
    return this.#form.name;
  }

  /** What one of them is called: `user`. */
  get one(): string {
    return this.#form.one;
  }

  /** Where the file is. */
  path(directory: string): string {
    return accountFilePath(directory, this.name);
  }

  /** Tells what the file is now from all that was in its place before; undefined when there is none. */
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
   * Reads the entries; none when there is no file. Throws CorruptionError when there is one that cannot be used,
   * SecretBoxError when its secrets are sealed and cannot be opened.
   */
  async read(
    directory: string,
    { seal: secretBox, disk = nodeDisk }: AccountFileStorage = {},
  ): Promise<AccountFileContent<T>> {
    const path = this.path(directory);
    // Before the file is: what takes its place meanwhile has another mark, and is read again.
    const mark = await this.mark(directory);
    const bytes = await disk.read(path);
    const reader = new RosterReader(path, this.#form, secretBox);
    const entries = bytes === undefined ? new Map<string, T>() : reader.read(bytes);
    return { entries, clear: reader.clear, mark };
  }

  /**
   * Puts these entries in the place of all that were kept; on the medium when it resolves.
   * Throws StoreError when they could not be kept.
   */
  async write(
    directory: string,
    entries: ReadonlyMap<string, T>,
    { seal: secretBox, disk = nodeDisk }: AccountFileStorage = {},
  ): Promise<void> {
    const file = `${this.name}.json`;
    // Other processes may be writing their own, so only what an ended one left is taken away.
    const ended = async (pid: number) => pid !== process.pid && !(await isRunning({ pid }));
    await removeLeftovers(disk, directory, file, ended);
    // fromEntries defines each name, `__proto__` too, where an assignment would not.
    const byName = Object.fromEntries(
      Array.from(entries, ([name, entry]) => [name, this.#written(name, entry, secretBox)]),
    );
    const content = [JSON.stringify({ version: fileVersion, [this.name]: byName }, null, 2), '\n'];
    await replaceFile(disk, { directory, name: file, content, sync: true });
  }

  #written(name: string, entry: T, secretBox: SecretBox | undefined): object {
    const as = [this.#form.sealedAs, name];
    return this.#form.write(entry, (text) =>
      secretBox === undefined ? text : { sealed: secretBox.seal(text, as) },
    );
  }
}

/** Reads one file. */
class RosterReader<T> {
  /** How many secrets were in the clear. */
  clear = 0;
  readonly #path: string;
  readonly #form: AccountFileFormat<T>;
  readonly #document: JsonFields;
  readonly #seal: SecretBox | undefined;

  constructor(path: string, form: AccountFileFormat<T>, secretBox: SecretBox | undefined) {
    this.#path = path;
    this.#form = form;
    this.#document = new JsonFields(path);
    this.#seal = secretBox;
  }

  read(bytes: Uint8Array): Map<string, T> {
    const { name: member } = this.#form;
    const root = this.#document.versioned(bytes, fileVersion, [member]);
    const entries = this.#document.members(root.get(member), member);
    return new Map(Array.from(entries, ([name, value]) => [name, this.#entry(name, value)]));
  }

  #entry(name: string, value: unknown): T {
    return this.#form.read(value, {
      document: this.#document,
      name,
      where: `the ${this.#form.one} ${JSON.stringify(name)}`,
      secret: (text, where) => this.#secret(name, text, where),
    });
  }

  #secret(name: string, value: unknown, where: string): string {
    const secret = this.#text(name, value, where);
    // With an empty secret anybody could sign.
    if (secret === '') throw this.#damage(`${where} is empty`);
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
    if (this.#seal === undefined) throw new SecretBoxError(keyMissing(this.#path));
    const secret = this.#seal.open(sealed, [this.#form.sealedAs, name]);
    if (secret !== undefined) return secret;
    throw new SecretBoxError(`${this.#path}: ${where} ${encryptedWithOtherKey}`);
  }

  #damage(what: string): CorruptionError {
    return this.#document.damage(what);
  }
}

/** That a file has sealed texts and nothing opens them. */
export function keyMissing(path: string): string {
  return `${path} has encrypted secrets, and no key is given: --key-file FILE or COUNTERSIGN_KEY does that`;
}

/** The end of a sentence on a sealed text that does not open. */
export const encryptedWithOtherKey =
  'cannot be decrypted: it was encrypted with another key, or changed since. Nothing was changed.';
