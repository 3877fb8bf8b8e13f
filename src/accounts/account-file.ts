import { describeFault, formatPath, type ShapeFault, type ShapePath } from '../shape/fault.ts';
import type { Shape } from '../shape/shape.ts';
import { CorruptionError } from '../store/corruption-error.ts';
import { formatIsoDate } from '../store/encoding/iso-date.ts';
import { decodeUtf8, Members, RecordFault, readTime } from '../store/encoding/members.ts';
import { type SecretBox, SecretBoxError } from './secret-box.ts';
import { type AccountFileName, type AccountPlace, createStoredFile, type StoredFile } from './stored-file.ts';

const fileVersion = 1;

/** The options of reading and writing an account file. */
export interface AccountFileStorage {
  /** Encrypts secrets; if undefined, they are stored as plain text. */
  readonly secretBox?: SecretBox | undefined;
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

/** A kind of records, which one account file contains by name. */
interface AccountKind<T> {
  /** The name of the file without its extension, and of the member with the records. */
  readonly name: AccountFileName;
  /** The name of one record. */
  readonly one: string;
  /** The purpose of an encrypted secret: with another purpose or name, it cannot be decrypted. */
  readonly sealedAs: string;
  /** Describes all records, with times in milliseconds since 1970-01-01T00:00:00Z and secrets in plain text. */
  readonly shape: Shape<Readonly<Record<string, T>>>;
  /** The paths of the times in a record, which the file contains as dates. `*` stands for each item or member. Default: none. */
  readonly times?: readonly string[];
  /** The paths of the secrets in a record, which the file contains in plain text or as `{ "sealed": … }`. Default: none. */
  readonly secrets?: readonly string[];
}

/** A file with users, clients or consumers by name. In a data directory, only its owner can read it. */
export class AccountFile<T> {
  readonly #kind: AccountKind<T>;

  constructor(kind: AccountKind<T>) {
    this.#kind = kind;
  }

  /** The name of the entries: `users`. */
  get name(): AccountFileName {
    return this.#kind.name;
  }

  /** The name of one entry: `user`. */
  get one(): string {
    return this.#kind.one;
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
  async read(place: AccountPlace, { secretBox }: AccountFileStorage = {}): Promise<AccountFileContent<T>> {
    const file = this.#in(place);
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
    return readEntries(content, path, this.#kind, secretBox);
  }

  /** Replaces all entries, whatever they are. Resolves when they are stored. Throws StoreError. */
  async write(
    place: AccountPlace,
    entries: ReadonlyMap<string, T>,
    { secretBox }: AccountFileStorage = {},
  ): Promise<void> {
    await this.#in(place).write(this.#formatFile(entries, secretBox));
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

  #in(place: AccountPlace): StoredFile {
    return createStoredFile(place, `${this.name}.json`);
  }

  #formatFile(entries: ReadonlyMap<string, T>, secretBox: SecretBox | undefined): string {
    const { name, sealedAs, times, secrets } = this.#kind;
    // Unlike an assignment, fromEntries also defines the name `__proto__`.
    let records: unknown = Object.fromEntries(entries);
    records = replaceAll(records, times, (time) => formatIsoDate(Number(time)));
    if (secretBox !== undefined)
      records = replaceAll(records, secrets, (text, [owner]) => ({
        sealed: secretBox.seal(String(text), [sealedAs, String(owner)]),
      }));
    return `${JSON.stringify({ version: fileVersion, [name]: records }, null, 2)}\n`;
  }
}

/** Reads the content of an account file, and counts the secrets in plain text. */
function readEntries<T>(
  bytes: Uint8Array,
  path: string,
  { name, one, sealedAs, shape, times, secrets }: AccountKind<T>,
  secretBox: SecretBox | undefined,
): Omit<AccountFileContent<T>, 'mark'> {
  let clear = 0;
  const label = ([owner, ...part]: ShapePath): string => {
    if (owner === undefined) return name;
    return `${part.length === 0 ? '' : `${formatPath(part)} of `}the ${one} ${JSON.stringify(owner)}`;
  };
  try {
    const document = Members.parse(decodeUtf8(bytes), 'the document');
    // Checked before the names, because another version may have other members.
    const version = document.count('version');
    if (version !== fileVersion)
      throw new RecordFault(`its version is ${version}, and this program reads ${fileVersion}`);
    let records = document.only(['version', name], 'the document').get(name);
    records = replaceAll(records, times, (date, at) => readTime(date, label(at)));
    records = replaceAll(records, secrets, (stored, at) => {
      const as = [sealedAs, String(at[0])];
      const { text, isClear } = openSecret(stored, label(at), path, secretBox, as);
      if (isClear) clear += 1;
      return text;
    });
    const read = shape.read(records);
    if ('value' in read) return { entries: new Map(Object.entries(read.value)), clear };
    throw new RecordFault(
      read.faults
        .slice(0, 1)
        .map((fault) => explain(fault, label))
        .join(),
    );
  } catch (error) {
    throw error instanceof RecordFault ? new CorruptionError(path, error.message) : error;
  }
}

/** Returns the message of a fault. It contains no name of an unknown member, because that may be a secret. */
function explain(fault: ShapeFault, label: (path: ShapePath) => string): string {
  if (fault.kind === 'unknown') return `${label(fault.path.slice(0, -1))} has a member that is not known`;
  return `${label(fault.path)} ${describeFault(fault)}`;
}

/** Replaces a part of a record, at a path that begins with the name of the record. */
type Replace = (part: unknown, path: ShapePath) => unknown;

/** Returns records by name, in which the parts at these paths of each record are replaced. */
function replaceAll(records: unknown, paths: readonly string[] = [], replace: Replace): unknown {
  return paths.reduce((all, path) => replaceAt(all, ['*', ...path.split('.')], replace), records);
}

/** Returns a value in which the parts at a path are replaced. Parts that are missing, or not where an object or array is, stay. */
function replaceAt(
  value: unknown,
  [step, ...steps]: readonly string[],
  replace: Replace,
  path: ShapePath = [],
): unknown {
  if (value === undefined) return undefined;
  if (step === undefined) return replace(value, path);
  if (Array.isArray(value)) {
    if (step !== '*') return value;
    return value.map((each: unknown, index) => replaceAt(each, steps, replace, [...path, index]));
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    step === '*' || step === name ? replaceAt(member, steps, replace, [...path, name]) : member,
  ]);
  return Object.fromEntries(members);
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
  const sealed = new Members(stored, where).only(['sealed'], where).get('sealed');
  if (typeof sealed !== 'string') throw new RecordFault(`sealed of ${where} is not a text`);
  if (secretBox === undefined) throw new SecretBoxError(keyMissing(path));
  const text = secretBox.open(sealed, as);
  if (text === undefined) throw new SecretBoxError(`${path}: ${where} ${encryptedWithOtherKey}`);
  return { text, isClear: false };
}

/** Returns the message for a file with encrypted secrets if there is no key. */
export function keyMissing(path: string): string {
  return `${path} has encrypted secrets, and there is no key: set --key-file FILE or COUNTERSIGN_KEY`;
}

/** The end of a message about a secret that cannot be decrypted. */
export const encryptedWithOtherKey =
  'cannot be decrypted: it was encrypted with another key, or it was changed. Nothing was changed.';
