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
    if (content === undefined) return { entries: new Map(), clear: 0 };
    return readEntries(content, path, this.#format, secretBox);
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

/** Reads the content of an account file, and counts the secrets in plain text. */
function readEntries<T>(
  bytes: Uint8Array,
  path: string,
  format: AccountFileFormat<T>,
  secretBox: SecretBox | undefined,
): Omit<AccountFileContent<T>, 'mark'> {
  let clear = 0;
  const readEntry = (name: string, value: unknown): T => {
    const owner = `the ${format.one} ${JSON.stringify(name)}`;
    const secret = (stored: unknown, where: string): string => {
      const { text, isClear } = openSecret(stored, where, path, secretBox, [format.sealedAs, name]);
      if (isClear) clear += 1;
      // With an empty secret, anyone could sign.
      if (text === '') throw new RecordFault(`${where} is empty`);
      return text;
    };
    return format.read(Members.of(value, owner), { name, where: owner, secret });
  };
  try {
    const document = Members.parse(decodeUtf8(bytes), 'the document');
    // Checked before the names, because another version may have other members.
    const version = document.count('version');
    if (version !== fileVersion)
      throw new RecordFault(`its version is ${version}, and this program reads ${fileVersion}`);
    const members = document.only(['version', format.name], 'the document').object(format.name).entries();
    const entries = new Map(members.map(([name, value]) => [name, readEntry(name, value)]));
    return { entries, clear };
  } catch (error) {
    throw error instanceof RecordFault ? new CorruptionError(path, error.message) : error;
  }
}

/** Returns a stored secret: a text, or `{ "sealed": … }`. Throws RecordFault or SecretBoxError. */
function openSecret(
  stored: unknown,
  where: string,
  path: string,
  secretBox: SecretBox | undefined,
  as: readonly string[],
): { readonly text: string; readonly isClear: boolean } {
  if (typeof stored === 'string') return { text: stored, isClear: true };
  if (typeof stored !== 'object' || stored === null) throw new RecordFault(`${where} is not a text`);
  const sealed = Members.of(stored, where).only(['sealed'], where).text('sealed');
  if (secretBox === undefined) throw new SecretBoxError(keyMissing(path));
  const text = secretBox.open(sealed, as);
  if (text === undefined) throw new SecretBoxError(`${path}: ${where} ${encryptedWithOtherKey}`);
  return { text, isClear: false };
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
