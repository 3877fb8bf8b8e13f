import { CorruptionError } from '../store/corruption-error.ts';
import { formatIsoDate } from '../store/encoding/iso-date.ts';
import { decodeUtf8, Members, RecordFault } from '../store/encoding/members.ts';
import type { Disk } from '../store/files/disk.ts';
import { type SecretBox, SecretBoxError } from './secret-box.ts';
import { type AccountFileName, type AccountPlace, createStoredFile, type StoredFile } from './stored-file.ts';

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
interface AccountFileFormat<T> {
  /** The name of the file without its extension, and of the member with the entries. */
  readonly name: AccountFileName;
  /** The name of one entry. */
  readonly one: string;
  /** The purpose of an encrypted secret: with another purpose or name, it cannot be decrypted. */
  readonly sealedAs: string;
  /** Reads an entry. Throws RecordFault if it is invalid. */
  read(entry: Members, reader: EntryReader): T;
  /** Returns the entry as JSON, in which undefined members are omitted. `secret` returns the stored form of a secret. */
  write(entry: T, secret: (text: string) => unknown): object;
}

/** Helps to read one entry of an account file. */
export interface EntryReader {
  readonly name: string;
  /** The entry in messages: `the user "ann"`. */
  readonly where: string;
  /** Reads a secret in plain text or as `{ "sealed": … }`. Throws SecretBoxError if it cannot be decrypted. */
  secret(value: unknown, where: string): string;
}

/** A file with users, clients or consumers by name. In a data directory, only its owner can read it. */
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

  /** Returns the path of the file, or the name and the location of the document. */
  path(place: AccountPlace): string {
    return this.#in(place).path;
  }

  /** Returns an identifier of the current version of the file; undefined if there is no file. */
  mark(place: AccountPlace): Promise<string | undefined> {
    return this.#in(place).mark();
  }

  /**
   * Reads the entries; none if there is no file. Throws CorruptionError if the file is corrupt, SecretBoxError if its
   * secrets cannot be decrypted, StoreError if documents cannot be reached.
   */
  async read(
    place: AccountPlace,
    { secretBox, disk }: AccountFileStorage = {},
  ): Promise<AccountFileContent<T>> {
    const file = this.#in(place, disk);
    const { content, mark } = await file.read();
    return { ...this.parse(content, file.path, secretBox), mark };
  }

  /**
   * Reads the entries of a content.
   *
   * @param content undefined if there is no file
   * @param path the name of the file in messages
   */
  parse(
    content: Uint8Array | undefined,
    path: string,
    secretBox: SecretBox | undefined,
  ): Omit<AccountFileContent<T>, 'mark'> {
    const reader = new AccountFileReader(path, this.#format, secretBox);
    const entries = content === undefined ? new Map<string, T>() : reader.read(content);
    return { entries, clear: reader.clear };
  }

  /** Replaces all entries, whatever they are. Resolves when they are stored. Throws StoreError. */
  async write(
    place: AccountPlace,
    entries: ReadonlyMap<string, T>,
    { secretBox, disk }: AccountFileStorage = {},
  ): Promise<void> {
    await this.#in(place, disk).write(this.#formatFile(entries, secretBox));
  }

  /**
   * Changes the entries as one atomic step, and returns the new mark of the file. Creates the data directory if it does not
   * exist. Encrypts secrets if there is a key.
   *
   * @param change changes the entries; if it throws, nothing is written. It is called again if another process has
   *   changed the file meanwhile
   */
  change(
    place: AccountPlace,
    secretBox: SecretBox | undefined,
    change: (entries: Map<string, T>) => unknown,
  ): Promise<string | undefined> {
    const file = this.#in(place);
    return file.update((content) => {
      const entries = new Map(this.parse(content, file.path, secretBox).entries);
      change(entries);
      return this.#formatFile(entries, secretBox);
    });
  }

  #in(place: AccountPlace, disk?: Disk): StoredFile {
    return createStoredFile(place, `${this.name}.json`, disk);
  }

  #formatFile(entries: ReadonlyMap<string, T>, secretBox: SecretBox | undefined): string {
    // Unlike an assignment, fromEntries also defines the name `__proto__`.
    const byName = Object.fromEntries(
      Array.from(entries, ([name, entry]) => [name, this.#formatEntry(name, entry, secretBox)]),
    );
    return `${JSON.stringify({ version: fileVersion, [this.name]: byName }, null, 2)}\n`;
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
  readonly #secretBox: SecretBox | undefined;

  constructor(path: string, format: AccountFileFormat<T>, secretBox: SecretBox | undefined) {
    this.#path = path;
    this.#format = format;
    this.#secretBox = secretBox;
  }

  read(bytes: Uint8Array): Map<string, T> {
    try {
      return this.#read(Members.parse(decodeUtf8(bytes), 'the document'));
    } catch (error) {
      throw error instanceof RecordFault ? new CorruptionError(this.#path, error.message) : error;
    }
  }

  #read(document: Members): Map<string, T> {
    const { name: member } = this.#format;
    // Checked before the names, because another version may have other members.
    const version = document.count('version');
    if (version !== fileVersion)
      throw new RecordFault(`its version is ${version}, and this program reads ${fileVersion}`);
    const entries = document.only(['version', member], 'the document').object(member).entries();
    return new Map(entries.map(([name, value]) => [name, this.#entry(name, value)]));
  }

  #entry(name: string, value: unknown): T {
    const where = `the ${this.#format.one} ${JSON.stringify(name)}`;
    return this.#format.read(Members.of(value, where), {
      name,
      where,
      secret: (text, where) => this.#secret(name, text, where),
    });
  }

  #secret(name: string, value: unknown, where: string): string {
    const secret = this.#text(name, value, where);
    // With an empty secret, anyone could sign.
    if (secret === '') throw new RecordFault(`${where} is empty`);
    return secret;
  }

  #text(name: string, value: unknown, where: string): string {
    if (typeof value === 'object' && value !== null)
      return this.#open(name, Members.of(value, where).only(['sealed'], where).text('sealed'), where);
    this.clear += 1;
    if (typeof value !== 'string') throw new RecordFault(`${where} is not a text`);
    return value;
  }

  #open(name: string, sealed: string, where: string): string {
    if (this.#secretBox === undefined) throw new SecretBoxError(keyMissing(this.#path));
    const secret = this.#secretBox.open(sealed, [this.#format.sealedAs, name]);
    if (secret !== undefined) return secret;
    throw new SecretBoxError(`${this.#path}: ${where} ${encryptedWithOtherKey}`);
  }
}

/** Returns a time (ms) as an account file has it. */
export function formatTime(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : formatIsoDate(ms);
}

/** Returns the message for a file with encrypted secrets if there is no key. */
export function keyMissing(path: string): string {
  return `${path} has encrypted secrets, and there is no key: set --key-file FILE or COUNTERSIGN_KEY`;
}

/** The end of a message about a secret that cannot be decrypted. */
export const encryptedWithOtherKey =
  'cannot be decrypted: it was encrypted with another key, or it was changed. Nothing was changed.';
