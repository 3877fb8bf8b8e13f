import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { createKey, type SigningKey } from '../hmac-sha256.ts';
import type { AccountKey } from './account-key.ts';
import { parseAccountKey } from './parse-account-key.ts';
import { type AccountRecord, type KnownPassword, passwordFault } from './user-declaration.ts';
import { userNameFault } from './user-name.ts';

/** A secret of a user. */
export interface Secret {
  readonly key: SigningKey;
  /** Expiry time (ms since 1970-01-01T00:00:00Z). Default: it does not expire. */
  readonly until?: number;
}

/** A user that can authenticate. */
export interface Account {
  readonly name: string;
  /** Two during a rotation. */
  readonly secrets: readonly Secret[];
  /** Undefined if the user has no password and can only sign. */
  readonly password: KnownPassword | undefined;
  /**
   * Registration time (ms). Tokens issued earlier belong to a removed user of the same name. Undefined if it was not recorded.
   */
  readonly since?: number | undefined;
  /** The keys of the user by id. Default: none. */
  readonly keys?: ReadonlyMap<string, AccountKey>;
  /** The claims of the user, of which tokens carry some. Default: none. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
}

/** A key, and the account that has it. */
interface FoundKey {
  readonly account: Account;
  readonly key: AccountKey;
}

/** Looks up accounts. A lookup returns a promise if the accounts are on another machine. */
export interface Accounts {
  /**
   * Returns the account of a name, or undefined if there is none or it is disabled. Returns the same object until the user
   * changes, so that callers can cache data by object.
   */
  find(name: string): Account | undefined | Promise<Account | undefined>;
  /**
   * Returns the account whose name in Normalization Form C is `name`, as Basic requires (RFC 7617 §2.1). A signature names its
   * user byte for byte, because nonces are stored by the name as sent.
   */
  findComposed(name: string): ReturnType<Accounts['find']>;
  /** Returns the key with an id, and its account; undefined if no enabled user has it. Optional: without it, there are no keys. */
  findKey?(id: string): FoundKey | undefined | Promise<FoundKey | undefined>;
  /**
   * Returns the name of the user, or the id of the key, that has a secret, by the SHA-256 of the secret in base64; undefined if no
   * enabled user has it, or if several have. Optional: without it, no secret identifies a user.
   */
  findSecret?(digest: string): string | undefined | Promise<string | undefined>;
  /** The password hashes of all accounts. The same array until the users change. */
  readonly hashes: readonly string[];
}

/** Accounts in memory. */
interface AccountsInMemory extends Accounts {
  /**
   * Replaces all users, with effect on every request that is not authenticated yet. Throws RangeError, without any change, on an
   * invalid name, an empty secret, a plain password that Basic refuses, or two names with the same Normalization Form C.
   */
  replace(users: ReadonlyMap<string, AccountRecord>): void;
}

interface Entry {
  /** A copy, because the caller may change the object and declare it again. */
  readonly declaration: AccountRecord;
  readonly account: Account;
}

/** Creates accounts from declared users. Throws RangeError like `replace`. */
export function createAccounts(users: ReadonlyMap<string, AccountRecord>): AccountsInMemory {
  let entries = buildEntries(users, new Map());
  let keys = listKeys(entries);
  let composed = composeNames(users.keys());
  let hashes = listHashes(entries);
  // Only schemes in which a secret identifies its user look for one.
  let secrets: ReadonlyMap<string, string | undefined> | undefined;
  return {
    find: (name) => entries.get(name)?.account,
    findKey: (id) => keys.get(id),
    findSecret(digest) {
      secrets ??= listOwners(entries);
      return secrets.get(digest);
    },
    findComposed: (name) => entries.get(composed.get(name) ?? name)?.account,
    get hashes() {
      return hashes;
    },
    replace(next) {
      const names = composeNames(next.keys());
      const replaced = buildEntries(next, entries);
      keys = listKeys(replaced);
      entries = replaced;
      secrets = undefined;
      composed = names;
      hashes = listHashes(entries);
    },
  };
}

/**
 * Returns the names that are not in Normalization Form C, by that form. Throws RangeError on an invalid name or two names with
 * the same form.
 */
function composeNames(names: Iterable<string>): ReadonlyMap<string, string> {
  const all = new Set(names);
  const composed = new Map<string, string>();
  for (const name of all) {
    const fault = userNameFault(name);
    if (fault !== undefined) throw new RangeError(`${JSON.stringify(name)}: ${fault}`);
    const form = name.normalize('NFC');
    if (form === name) continue;
    if (all.has(form) || composed.has(form))
      throw new RangeError(`two users have the name ${JSON.stringify(form)} in Unicode Normalization Form C`);
    composed.set(form, name);
  }
  return composed;
}

function buildEntries(
  users: ReadonlyMap<string, AccountRecord>,
  before: ReadonlyMap<string, Entry>,
): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const [name, user] of users) {
    checkPassword(name, user);
    if (user.disabled === true) continue;
    const declaration = copyAccount(user);
    const previous = before.get(name);
    const unchanged = previous !== undefined && isDeepStrictEqual(previous.declaration, declaration);
    entries.set(name, unchanged ? previous : { declaration, account: buildAccount(name, declaration) });
  }
  return entries;
}

/** Throws RangeError if the plain password of a user could never be used to log in. */
function checkPassword(name: string, { password }: AccountRecord): void {
  const fault = password !== undefined && 'plain' in password ? passwordFault(password.plain) : undefined;
  if (fault !== undefined)
    throw new RangeError(
      `the password of the user ${JSON.stringify(name)} cannot be used with Basic: ${fault}`,
    );
}

/**
 * Returns all keys by their id. Throws RangeError if two users have a key of one id, or a key has the name of another user:
 * credentials that name a key or a user would be ambiguous.
 */
function listKeys(entries: ReadonlyMap<string, Entry>): ReadonlyMap<string, FoundKey> {
  const keys = new Map<string, FoundKey>();
  for (const [name, { account }] of entries)
    for (const [id, key] of account.keys ?? []) {
      const other = keys.get(id)?.account.name ?? (id !== name && entries.has(id) ? id : undefined);
      if (other !== undefined)
        throw new RangeError(
          `the users ${JSON.stringify(name)} and ${JSON.stringify(other)} have the same key id ${JSON.stringify(id)}`,
        );
      keys.set(id, { account, key });
    }
  return keys;
}

/** Returns the name of the user, or the id of the key, by the digest of each secret; undefined for one that several have. */
function listOwners(entries: ReadonlyMap<string, Entry>): ReadonlyMap<string, string | undefined> {
  const owners = new Map<string, string | undefined>();
  const add = (key: SigningKey, owner: string): void => {
    const digest = key.derive((secret) => createHash('sha256').update(secret).digest('base64'));
    owners.set(digest, owners.has(digest) && owners.get(digest) !== owner ? undefined : owner);
  };
  for (const [name, { account }] of entries) {
    for (const { key } of account.secrets) add(key, name);
    for (const [id, key] of account.keys ?? [])
      if ('secret' in key && key.algorithm === 'hmac-sha256') add(key.secret, id);
  }
  return owners;
}

function copyAccount({ secrets, password, since, keys, claims }: AccountRecord): AccountRecord {
  return {
    secrets: secrets.map(({ secret, until }) => ({ secret, until })),
    password: password === undefined ? undefined : { ...password },
    since,
    keys: keys === undefined ? undefined : structuredClone(keys),
    ...(claims !== undefined && { claims: structuredClone(claims) }),
  };
}

function buildAccount(name: string, { secrets, password, since, keys = {}, claims }: AccountRecord): Account {
  const parsed = Object.entries(keys).map(([id, key]) => {
    const what = `the key ${JSON.stringify(id)} of the user ${JSON.stringify(name)}`;
    return [id, parseAccountKey(id, key, what)] as const;
  });
  return { name, secrets: secrets.map(prepareSecret), password, since, keys: new Map(parsed), claims };
}

function listHashes(entries: ReadonlyMap<string, Entry>): readonly string[] {
  return Array.from(entries.values(), ({ account: { password } }) => password).flatMap((password) =>
    password !== undefined && 'hash' in password ? [password.hash] : [],
  );
}

function prepareSecret({ secret, until }: { secret: string; until?: number | undefined }): Secret {
  return until === undefined ? { key: createKey(secret) } : { key: createKey(secret), until };
}
