import type { KeyObject } from 'node:crypto';
import type { KeyDeclaration } from '../../auth/account-key.ts';
import { toAccountRecord, type UserDeclaration } from '../../auth/user-declaration.ts';
import { didYouMean } from '../../did-you-mean.ts';
import { checkUser } from '../../service/user-checks.ts';
import { anything, either, listOf, mapOf, read, text } from '../../shape/shape.ts';
import type { SignatureAlgorithm } from '../../signature/algorithms.ts';
import { generateKey, type KeyPair } from './generate-key.ts';
import type { Snapshottable } from './state.ts';

/** A user of a double. Without secret and password, both are generated. With a secret only, there is no password. */
export type DoubleUser = UserDeclaration;

/** Users by name, or the names of users whose secrets and passwords are generated. */
export type DoubleUsersOption =
  | Readonly<Record<string, DoubleUser>>
  | ReadonlyMap<string, DoubleUser>
  | readonly string[];

/** The credentials of a user. */
export interface UserCredentials {
  /** The newest secret, with which requests are signed. */
  readonly secret: string;
  /** Undefined if there is none, or if only its hash is known. */
  readonly password: string | undefined;
}

type Users = ReadonlyMap<string, UserDeclaration>;

/** The users of a double, which can change while it runs. */
export interface DoubleUsers extends Snapshottable<Users> {
  readonly all: Users;
  /** Returns the newest secret and the password of a user. Throws RangeError if there is no such user. */
  credentials(name: string): UserCredentials;
  /** Adds or replaces a user. Returns the user's credentials. */
  set(name: string, user?: DoubleUser): UserCredentials;
  /** Removes a user. Throws RangeError if there is no such user. */
  remove(name: string): void;
  /** Replaces the secret of a user. The former one stays valid until `until` (ms), if present. Returns the new secret. */
  rotate(name: string, secret?: string, until?: number): string;
  /** Adds or replaces a key of a user. Throws RangeError if the key is invalid, or another user has one with this id. */
  addKey(name: string, id: string, key: KeyDeclaration): void;
  /** Generates a key pair, adds the public key to a user like `addKey`, and keeps the private key. */
  generateKey(name: string, id: string, algorithm: SignatureAlgorithm): KeyPair;
  /** Returns all private keys that were generated, in PEM: the same array until one is added. */
  listPrivateKeys(): readonly string[];
  /** Removes a key of a user. Throws RangeError if there is no such key. */
  removeKey(name: string, id: string): void;
  /** Returns the keys of a user by id, in the order in which they were added. Throws RangeError if there is no such user. */
  keys(name: string): Readonly<Record<string, KeyDeclaration>>;
  /** Returns the private key of a key that was generated; undefined for others. */
  findPrivateKey(key: KeyDeclaration): KeyObject | undefined;
  /** Returns the user of this name, or the one with a key of this id; undefined if there is none. */
  ownerOf(id: string): string | undefined;
  /** Sets the function that is called before each change with all users. */
  onChange(listener: (users: Users) => void): void;
}

/** Creates the users of a double. */
export function createDoubleUsers(
  declared: DoubleUsersOption,
  random: (size: number) => Uint8Array,
): DoubleUsers {
  const generateSecret = (): string => Buffer.from(random(24)).toString('base64url');
  const completeUser = (name: string, user: DoubleUser): UserDeclaration => {
    checkUser(name, user, true);
    if ('secrets' in user) return user;
    if (user.secret !== undefined) return { ...user, secret: user.secret };
    return { ...user, secret: generateSecret(), password: user.password ?? generateSecret() };
  };
  const initial: Users = new Map(
    listEntries(declared).map(([name, user]) => [name, completeUser(name, user)]),
  );
  let users = initial;
  let notify: (users: Users) => void = () => {};

  const change = (next: Users): void => {
    notify(next);
    users = next;
  };
  const found = (name: string): UserDeclaration => {
    read(text(), name, 'the name of a user');
    const user = users.get(name);
    if (user === undefined)
      throw new RangeError(`the double has no user ${name}${didYouMean(name, [...users.keys()])}`);
    return user;
  };
  const credentials = (name: string): UserCredentials => toCredentials(name, found(name));
  const addKey = (name: string, id: string, key: KeyDeclaration): void => {
    const user = toAccountRecord(found(name));
    read(text(), id, 'the id of a key');
    checkUser(name, { keys: { [id]: key } }, true);
    change(new Map(users).set(name, { ...user, keys: { ...user.keys, [id]: key } }));
  };
  /** By public key, so that a restored user has its private keys again. */
  const privateKeys = new Map<string, KeyObject>();
  let privateTexts: readonly string[] = [];
  return {
    get all() {
      return users;
    },
    credentials,
    set(name, user = {}) {
      change(new Map(users).set(name, completeUser(name, user)));
      return credentials(name);
    },
    remove(name) {
      found(name);
      change(new Map([...users].filter(([each]) => each !== name)));
    },
    rotate(name, secret = generateSecret(), until) {
      const { secrets, ...others } = toAccountRecord(found(name));
      checkUser(name, { secret }, false);
      const former = until === undefined ? [] : secrets.slice(0, 1).map((each) => ({ ...each, until }));
      change(new Map(users).set(name, { ...others, secrets: [{ secret }, ...former] }));
      return secret;
    },
    addKey,
    generateKey(name, id, algorithm) {
      found(name);
      const { pair, privateKey } = generateKey(algorithm, random);
      privateTexts = [...privateTexts, pair.privateKey];
      addKey(name, id, { algorithm, publicKey: pair.publicKey });
      privateKeys.set(pair.publicKey, privateKey);
      return pair;
    },
    keys: (name) => toAccountRecord(found(name)).keys ?? {},
    findPrivateKey: (key) =>
      'publicKey' in key && typeof key.publicKey === 'string' ? privateKeys.get(key.publicKey) : undefined,
    ownerOf(id) {
      if (users.has(id)) return id;
      return [...users].find(([, { keys = {} }]) => Object.hasOwn(keys, id))?.[0];
    },
    listPrivateKeys: () => privateTexts,
    removeKey(name, id) {
      const { keys = {}, ...user } = toAccountRecord(found(name));
      read(text(), id, 'the id of a key');
      const { [id]: key, ...others } = keys;
      if (key === undefined)
        throw new RangeError(`the user ${name} has no key ${id}${didYouMean(id, Object.keys(keys))}`);
      change(new Map(users).set(name, { ...user, keys: others }));
    },
    onChange(listener) {
      notify = listener;
    },
    snapshot: () => users,
    restore: change,
    reset: () => change(initial),
  };
}

function listEntries(declared: DoubleUsersOption): (readonly [string, DoubleUser])[] {
  if (declared instanceof Map) return [...declared];
  read(usersShape, declared, ['users']);
  return isList(declared) ? declared.map((name) => [name, {}]) : Object.entries(declared);
}

const usersShape = either(
  listOf(text()),
  mapOf(anything, undefined, { expected: "an object such as { johndoe: {} } or ['johndoe']" }),
);

function isList(declared: DoubleUsersOption): declared is readonly string[] {
  return Array.isArray(declared);
}

function toCredentials(name: string, user: UserDeclaration): UserCredentials {
  const { secrets, password } = toAccountRecord(user);
  const secret = secrets[0]?.secret;
  if (secret === undefined) throw new RangeError(`${name} has no secret`);
  return { secret, password: password !== undefined && 'plain' in password ? password.plain : undefined };
}
