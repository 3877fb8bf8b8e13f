import { isUtf8 } from 'node:buffer';
import type { KeyObject } from 'node:crypto';
import type { Fields } from '../http/fields.ts';
import { hasControlCharacter } from '../http/syntax/control-character.ts';
import { andThen } from '../maybe-promise.ts';
import type { SigningKey } from '../signature/hmac.ts';
import type { AccountKey } from './account-key.ts';
import type { Account, Accounts, FoundKey, Secret } from './accounts.ts';

/**
 * Returns the user that a request names, or the only user. Undefined if the field is absent, sent twice, or not 1 to 128 bytes of
 * UTF-8 without control characters.
 */
export function userOf(user: { readonly field: string } | string, fields: Fields): string | undefined {
  if (typeof user === 'string') return user;
  const name = user.field.toLowerCase();
  const value = fields.get(name);
  if (value === undefined || (fields.repeated && fields.lines(name).length > 1)) return undefined;
  return readUserName(value);
}

/** Reads a user name from octets. Returns undefined if it is not 1 to 128 bytes of UTF-8 without control characters. */
export function readUserName(value: string): string | undefined {
  if (value.length === 0 || value.length > 128) return undefined;
  if (/^[!-~]*$/.test(value)) return value;
  const bytes = Buffer.from(value, 'latin1');
  const text = isUtf8(bytes) ? bytes.toString('utf8') : undefined;
  return text === undefined || hasControlCharacter(text) ? undefined : text;
}

/** A public key with its expiry time (ms). */
export interface PublicKey {
  readonly key: KeyObject;
  readonly until?: number | undefined;
}

/** The account that a request names, and the keys with which it may have signed. */
export interface KeyHolder {
  readonly account: Account;
  readonly secrets: readonly Secret[];
  /** Ed25519 keys. */
  readonly publicKeys: readonly PublicKey[];
}

/** Finds accounts by their name, or by the id of one of their keys. */
export interface KeyHolders {
  find(name: string): KeyHolder | undefined | Promise<KeyHolder | undefined>;
}

/** Creates a lookup, which caches what it finds by the object of the account or the key. */
export function createKeyHolders(accounts: Accounts): KeyHolders {
  const byAccount = new WeakMap<Account, KeyHolder>();
  const byKey = new WeakMap<AccountKey, KeyHolder>();
  const ofAccount = (account: Account): KeyHolder => {
    const known = byAccount.get(account);
    if (known !== undefined) return known;
    const keys = Array.from(account.keys?.values() ?? []);
    const holder = { account, secrets: account.secrets, publicKeys: keys.flatMap(publicKeyOf) };
    byAccount.set(account, holder);
    return holder;
  };
  const ofKey = (found: FoundKey | undefined): KeyHolder | undefined => {
    if (found === undefined) return undefined;
    const { account, key } = found;
    const known = byKey.get(key);
    if (known?.account === account) return known;
    const holder = { account, secrets: secretOf(key), publicKeys: publicKeyOf(key) };
    byKey.set(key, holder);
    return holder;
  };
  return {
    find: (name) =>
      andThen(accounts.find(name), (account) =>
        account === undefined ? andThen(accounts.findKey?.(name), ofKey) : ofAccount(account),
      ),
  };
}

function secretOf(key: AccountKey): Secret[] {
  if (key.algorithm !== 'hmac-sha256') return [];
  return [key.until === undefined ? { key: key.secret } : { key: key.secret, until: key.until }];
}

function publicKeyOf(key: AccountKey): PublicKey[] {
  return key.algorithm === 'ed25519' ? [{ key: key.publicKey, until: key.until }] : [];
}

/** Returns whether a key has not expired. */
export function isCurrent({ until }: { readonly until?: number | undefined }, now: number): boolean {
  return until === undefined || now < until;
}

/** Creates a function that derives a value from each prepared secret once. */
export function derivedOnce<Derived extends object>(
  derive: (secret: Buffer) => Derived,
): (key: SigningKey) => Derived {
  const cache = new WeakMap<SigningKey, Derived>();
  return (key) => {
    const known = cache.get(key);
    if (known !== undefined) return known;
    const derived = key.derive(derive);
    cache.set(key, derived);
    return derived;
  };
}
