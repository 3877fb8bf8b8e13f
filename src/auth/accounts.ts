import { isDeepStrictEqual } from 'node:util';
import { hasControlCharacter, hasLoneSurrogate } from '../http/syntax/control-character.ts';
import { keyOf, type SigningKey } from '../signature/hmac.ts';

/** A secret of a user, and until when it is valid. */
export interface Secret {
  readonly key: SigningKey;
  /** Milliseconds since 1970-01-01T00:00:00Z; left out, it does not expire. */
  readonly until?: number;
}

/** What a password is judged by: its scrypt hash where it is kept, or itself where configuration has it. */
export type KnownPassword = { readonly hash: string } | { readonly plain: string };

/** Somebody who can authenticate. */
export interface Account {
  readonly name: string;
  /** During a rotation there are two. */
  readonly secrets: readonly Secret[];
  /** Undefined where the user has none, and so only signs. */
  readonly password: KnownPassword | undefined;
  /** Since when (ms) the name is this user's: what was issued before was somebody else's. Undefined where nobody noted it. */
  readonly since?: number | undefined;
}

/** Where accounts are looked up; not at once where a directory on another machine stands behind it. */
export interface Accounts {
  /**
   * The account of that name, unless there is none or it is disabled. It is the same object as long as nothing
   * about the user changes: what is remembered of an account is remembered by the object.
   */
  find(name: string): Account | undefined | Promise<Account | undefined>;
  /**
   * The same for a name in Normalization Form C, as Basic has it (RFC 7617 §2.1): the account whose name is that, or comes to
   * that. A signature names its user byte for byte, for nonces are counted by what was sent.
   */
  findComposed(name: string): ReturnType<Accounts['find']>;
  /** The password hashes of all accounts; the same list as long as they are the same users. */
  readonly hashes: readonly string[];
}

/** Accounts in memory. */
export interface AccountsInMemory extends Accounts {
  /**
   * Puts these users in the place of all that were there: at once, for every request that is not judged yet.
   * Throws RangeError on a name that none can have, an empty secret, or two names that are one in Normalization Form C, with nothing changed.
   */
  replace(users: ReadonlyMap<string, UserDeclaration>): void;
}

/** A user as configuration and files have it. */
export interface UserDeclaration {
  readonly secrets: readonly { readonly secret: string; readonly until?: number | undefined }[];
  readonly password?: KnownPassword | undefined;
  readonly disabled?: boolean | undefined;
  /** When the user was added (ms); tokens that a namesake was given before are no good. */
  readonly since?: number | undefined;
}

interface Entry {
  /** A copy: whoever declares users may change the object and declare it again. */
  readonly declaration: UserDeclaration;
  readonly account: Account;
}

/** Why this cannot be a user's name, or undefined: 1 to 128 bytes of UTF-8, no colon, no control characters. */
export function userNameFault(name: string): string | undefined {
  const bytes = Buffer.byteLength(name);
  if (bytes < 1 || bytes > 128) return 'a user name has 1 to 128 bytes';
  if (name.includes(':')) return 'a user name has no colon';
  if (hasControlCharacter(name) || hasLoneSurrogate(name)) return 'a user name has no control characters';
  return undefined;
}

/** Makes accounts out of users. Throws RangeError as `replace` does. */
export function createAccounts(users: ReadonlyMap<string, UserDeclaration>): AccountsInMemory {
  let entries = entriesOf(users, new Map());
  let composed = composedOf(users.keys());
  let hashes = hashesOf(entries);
  return {
    find: (name) => entries.get(name)?.account,
    findComposed: (name) => entries.get(composed.get(name) ?? name)?.account,
    get hashes() {
      return hashes;
    },
    replace(others) {
      const names = composedOf(others.keys());
      entries = entriesOf(others, entries);
      composed = names;
      hashes = hashesOf(entries);
    },
  };
}

/** The names that are not in Normalization Form C, by what they are in it. Throws RangeError where two names are one there. */
function composedOf(names: Iterable<string>): ReadonlyMap<string, string> {
  const all = new Set(names);
  const composed = new Map<string, string>();
  for (const name of all) {
    const fault = userNameFault(name);
    if (fault !== undefined) throw new RangeError(`${JSON.stringify(name)}: ${fault}`);
    const form = name.normalize('NFC');
    if (form === name) continue;
    if (all.has(form) || composed.has(form))
      throw new RangeError(
        `two users have the name ${JSON.stringify(form)}, spelt with different characters`,
      );
    composed.set(form, name);
  }
  return composed;
}

function entriesOf(
  users: ReadonlyMap<string, UserDeclaration>,
  before: ReadonlyMap<string, Entry>,
): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const [name, user] of users) {
    if (user.disabled === true) continue;
    const declaration = copyOf(user);
    const known = before.get(name);
    const unchanged = known !== undefined && isDeepStrictEqual(known.declaration, declaration);
    entries.set(name, unchanged ? known : { declaration, account: accountOf(name, declaration) });
  }
  return entries;
}

function copyOf({ secrets, password, since }: UserDeclaration): UserDeclaration {
  return {
    secrets: secrets.map(({ secret, until }) => ({ secret, until })),
    password: password === undefined ? undefined : { ...password },
    since,
  };
}

function accountOf(name: string, { secrets, password, since }: UserDeclaration): Account {
  return { name, secrets: secrets.map(secretOf), password, since };
}

function hashesOf(entries: ReadonlyMap<string, Entry>): readonly string[] {
  return Array.from(entries.values(), ({ account: { password } }) => password).flatMap((password) =>
    password !== undefined && 'hash' in password ? [password.hash] : [],
  );
}

function secretOf({ secret, until }: { secret: string; until?: number | undefined }): Secret {
  return until === undefined ? { key: keyOf(secret) } : { key: keyOf(secret), until };
}
