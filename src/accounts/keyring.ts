// The keys with which a request may have been signed, and the decoys that stand in for missing ones.

import type { KeyObject } from 'node:crypto';
import { createDecoyKey, isRsa, type PublicKeyKind } from '../algorithms.ts';
import { createKey, type SigningKey } from '../hmac-sha256.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import { onceEach } from '../once.ts';
import type { Principal } from '../principal.ts';
import type { AccountKey } from './account-key.ts';
import type { Account, Accounts, Secret } from './accounts.ts';
import { isRsaLength } from './key-weakness.ts';

/** How a key signs: with a shared secret, or with a private key of an algorithm. */
export type KeyKind = 'secret' | PublicKeyKind;

/** A shared secret. */
interface SecretKey {
  readonly kind: 'secret';
  readonly secret: SigningKey;
  /** Expiry time (ms since 1970-01-01T00:00:00Z). Default: it does not expire. */
  readonly until?: number | undefined;
  /** The SHA-256 of the passphrase. Default: the key has none. */
  readonly passphrase?: Buffer | undefined;
}

/** A public key. */
interface PublicKey {
  readonly kind: PublicKeyKind;
  readonly publicKey: KeyObject;
  /** The length (bytes) of its signatures, if it is a key of RSA. */
  readonly rsaLength?: number | undefined;
  readonly until?: number | undefined;
}

export type Key = SecretKey | PublicKey;

/** Who a request is from if one of these keys signed it. */
export interface KeyHolder {
  readonly principal: Principal;
  readonly keys: readonly Key[];
  /** Why no key can have made a signature, for traces. Default: what the keys show. */
  readonly hint?: string | undefined;
}

/** Finds the holder of keys by the name of a user or the id of a key. */
type FindHolder = (named: { readonly user: string }) => MaybePromise<KeyHolder | undefined>;

/** Which keys of a user a scheme accepts if the request names the user, and if it names a key. */
interface KeyRule {
  /** Returns whether a key of the user may have signed a request that names only the user. */
  readonly ofUser: (key: AccountKey) => boolean;
  /** Returns whether a key may have signed a request that names it. */
  readonly byId: (key: AccountKey) => boolean;
}

/**
 * Creates a lookup. What it finds is cached by the object of the account or the key.
 *
 * @param rule The keys that are accepted beside the secrets of the user. Default: none.
 */
export function createKeyring(accounts: Accounts, scheme: string, rule?: KeyRule): FindHolder {
  const byKey = new WeakMap<AccountKey, KeyHolder>();
  const findByAccount = onceEach((account: Account): KeyHolder => {
    const keys = rule === undefined ? [] : Array.from(account.keys?.values() ?? []).filter(rule.ofUser);
    const principal = { name: account.name, scheme };
    return { principal, keys: [...account.secrets.map(toSecretKey), ...keys.map(toKey)] };
  });
  const findByKey = (account: Account, key: AccountKey): KeyHolder | undefined => {
    if (rule?.byId(key) !== true) return undefined;
    const known = byKey.get(key);
    if (known?.principal.name === account.name) return known;
    const holder = { principal: { name: account.name, scheme }, keys: [toKey(key)] };
    byKey.set(key, holder);
    return holder;
  };
  return ({ user: name }) =>
    andThen(accounts.find(name), (account) =>
      account === undefined
        ? andThen(rule && accounts.findKey?.(name), (found) =>
            found === undefined ? undefined : findByKey(found.account, found.key),
          )
        : findByAccount(account),
    );
}

function toSecretKey({ key, until }: Secret): SecretKey {
  return { kind: 'secret', secret: key, until };
}

/** Returns a key of an account as one that verifies. */
export function toKey(key: AccountKey): Key {
  if ('secret' in key)
    return { kind: 'secret', secret: key.secret, until: key.until, passphrase: key.passphrase };
  const { algorithm, publicKey, until } = key;
  const { modulusLength } = publicKey.asymmetricKeyDetails ?? {};
  const rsaLength = modulusLength === undefined ? undefined : Math.ceil(modulusLength / 8);
  return { kind: algorithm, publicKey, rsaLength, until };
}

/**
 * Returns whether the signatures of a key have the length of this one, in base64. A key of RSA refuses any other without computing
 * anything, so a decoy takes its place.
 */
export function fits(key: Key, signature = ''): boolean {
  if (key.kind === 'secret' || key.rsaLength === undefined) return true;
  return key.rsaLength === Buffer.byteLength(signature, 'base64');
}

/**
 * Returns signatures of a list, one for each length that a key of RSA can have; otherwise the first, because other kinds of keys
 * try each signature whatever its length.
 */
export function selectSamples(kind: KeyKind, signatures: readonly string[]): readonly (string | undefined)[] {
  if (!hasModulus(kind)) return [signatures[0]];
  const byLength = new Map(signatures.map((each) => [Buffer.byteLength(each, 'base64'), each]));
  return [...byLength].flatMap(([length, each]) => (isRsaLength(length) ? [each] : []));
}

/** Returns whether a key can have made one of the signatures, by their lengths. */
export function fitsOne(key: Key, signatures: readonly string[]): boolean {
  return selectSamples(key.kind, signatures).some((each) => fits(key, each));
}

function hasModulus(kind: KeyKind): boolean {
  return kind !== 'secret' && isRsa(kind);
}

/** Creates a function that derives a value from each prepared secret once. */
export function deriveOnce<Derived extends object>(
  derive: (secret: Buffer) => Derived,
): (key: SigningKey) => Derived {
  return onceEach((key) => key.derive(derive));
}

/** Returns whether a key has not expired. */
export function isCurrent({ until }: Key, now: number): boolean {
  return until === undefined || now < until;
}

/** The number of keys of a kind that a refusal tries at least: a user has at most two during a rotation. */
export const minKeys = 2;

/** The text of the secret that stands in for a missing one. */
const decoyText = 'no one has this secret';

/**
 * The keys that stand in for missing ones, so that a refusal takes the same time for an unknown user, a user without a key and a
 * wrong signature. Nobody has their private keys, and a signature by one of them is never accepted.
 */
export class Decoys {
  readonly #secret: SecretKey = {
    kind: 'secret',
    secret: createKey(decoyText),
    until: Number.NEGATIVE_INFINITY,
  };
  readonly #publicKeys = new Map<string, PublicKey>();

  /** Returns the decoy of a kind that can have made the signature. The time to verify one of RSA depends on its length. */
  of(kind: KeyKind, signature = ''): Key {
    if (kind === 'secret') return this.#secret;
    const signatureLength = Buffer.byteLength(signature, 'base64');
    const id = hasModulus(kind) ? `${kind} ${signatureLength}` : kind;
    const known = this.#publicKeys.get(id);
    if (known !== undefined) return known;
    const decoy: PublicKey = {
      kind,
      publicKey: createDecoyKey(kind, signatureLength),
      until: Number.NEGATIVE_INFINITY,
    };
    this.#publicKeys.set(id, decoy);
    return decoy;
  }
}
