import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { KeyDeclaration } from '../../accounts/account-key.ts';
import { listRegistered } from '../../accounts/registered.ts';
import { toAccountRecord, type UserDeclaration } from '../../accounts/user-declaration.ts';
import { generateKeys, type SignatureAlgorithm, signatureAlgorithms } from '../../algorithms.ts';
import type { Clock } from '../../clock.ts';
import { didYouMean } from '../../did-you-mean.ts';
import type { Duration } from '../../duration.ts';
import { checkUser } from '../../service/user-checks.ts';
import {
  anything,
  either,
  isList,
  listOf,
  mapOf,
  object,
  optional,
  read,
  type ShapesOf,
  text,
  word,
} from '../../shape/shape.ts';
import { toMilliseconds } from './clock.ts';

/** A generated key pair. */
export interface KeyPair {
  /** PEM (SPKI). */
  readonly publicKey: string;
  /** PEM (PKCS #8). */
  readonly privateKey: string;
}

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

/** Options of a secret's rotation. */
interface Rotation {
  /** The new secret. Default: generated. */
  readonly secret?: string;
  /** How long the former secret stays valid: ms, or a duration such as `1h`. Default: not at all. */
  readonly grace?: Duration;
}

const rotationShape = object(
  { secret: optional(anything), grace: optional(anything) } satisfies ShapesOf<Rotation>,
  undefined,
  { expected: 'an object such as { secret: … }' },
);

/** Controls users, secrets, keys and nonces. Everything is changed at once; tokens are controlled by `oauth2` and `oauth1`. */
export interface DoubleAuth {
  /** Returns the current credentials of a user. Throws RangeError if there is no such user. */
  credentials(user: string): UserCredentials;
  /** Adds or replaces a user. Secret and password are generated if both are missing. Returns the user's credentials. */
  setUser(name: string, user?: DoubleUser): UserCredentials;
  /** Removes a user. Throws RangeError if there is no such user. */
  removeUser(name: string): void;
  /**
   * Replaces the secret of a user, as an administrator would. Returns the new secret.
   * @example double.auth.rotateSecret('johndoe'); // the client's next request is refused
   */
  rotateSecret(user: string, rotation?: Rotation): string;
  /**
   * Adds or replaces a key of a user, which requests name by its id. Two keys of a user can be valid during a rotation.
   * @example double.auth.addKey('johndoe', 'key-1', { algorithm: 'ed25519', publicKey: pem });
   * @throws RangeError on a private or invalid key, or if another user has a key or the name `id`
   */
  addKey(user: string, id: string, key: KeyDeclaration): void;
  /**
   * Generates a key pair, and adds its public key to a user like `addKey`. The double keeps the private key for `as`. Keys of
   * Ed25519 follow from the option `randomSeed`; others are different in every run.
   *
   * @param algorithm Default: `ed25519`.
   * @returns the pair in PEM, with the private key for the client under test
   * @example
   * double.auth.generateKey('johndoe', 'key-1', 'ed25519');
   * await double.as('johndoe', { scheme: 'message-signatures' }).fetch('/articles');
   */
  generateKey(user: string, id: string, algorithm?: SignatureAlgorithm): KeyPair;
  /** Removes a key of a user. Throws RangeError if there is no such key. */
  removeKey(user: string, id: string): void;
  /**
   * Treats the next `count` nonces as used, so that valid requests are refused as replays.
   * @param count Default: 1.
   * @throws RangeError unless `count` is a non-negative integer
   * @example double.auth.burnNonces(2);
   */
  burnNonces(count?: number): void;
}

/** The users of a double, which can change while it runs. */
export type DoubleUsers = ReturnType<typeof createDoubleUsers>;

/** Creates the users of a double. */
export function createDoubleUsers(
  declared: DoubleUsersOption,
  random: (size: number) => Uint8Array,
  clock: Clock,
) {
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
  const control: Omit<DoubleAuth, 'burnNonces'> = {
    credentials,
    setUser(name, user = {}) {
      change(new Map(users).set(name, completeUser(name, user)));
      return credentials(name);
    },
    removeUser(name) {
      found(name);
      change(new Map([...users].filter(([each]) => each !== name)));
    },
    rotateSecret(name, rotation = {}) {
      read(rotationShape, rotation, 'a rotation');
      const { secret = generateSecret(), grace } = rotation;
      const until = grace === undefined ? undefined : clock.now() + toMilliseconds(grace);
      const { secrets, ...others } = toAccountRecord(found(name));
      checkUser(name, { secret }, false);
      const former = until === undefined ? [] : secrets.slice(0, 1).map((each) => ({ ...each, until }));
      change(new Map(users).set(name, { ...others, secrets: [{ secret }, ...former] }));
      return secret;
    },
    addKey,
    generateKey(name, id, algorithm = 'ed25519') {
      found(name);
      const { pair, privateKey } = generateKey(algorithm, random);
      privateTexts = [...privateTexts, pair.privateKey];
      addKey(name, id, { algorithm, publicKey: pair.publicKey });
      privateKeys.set(pair.publicKey, privateKey);
      return pair;
    },
    removeKey(name, id) {
      const { keys = {}, ...user } = toAccountRecord(found(name));
      read(text(), id, 'the id of a key');
      const { [id]: key, ...others } = keys;
      if (key === undefined)
        throw new RangeError(`the user ${name} has no key ${id}${didYouMean(id, Object.keys(keys))}`);
      change(new Map(users).set(name, { ...user, keys: others }));
    },
  };
  return {
    get all(): Users {
      return users;
    },
    /** The functions with which a test controls users. */
    control,
    /** Returns the keys of a user by id, in the order in which they were added. Throws RangeError if there is no such user. */
    keys: (name: string): Readonly<Record<string, KeyDeclaration>> => toAccountRecord(found(name)).keys ?? {},
    /** Returns the private key of a key that was generated; undefined for others. */
    findPrivateKey: (key: KeyDeclaration): KeyObject | undefined =>
      'publicKey' in key && typeof key.publicKey === 'string' ? privateKeys.get(key.publicKey) : undefined,
    /** Returns the user of this name, or the one with a key of this id; undefined if there is none. */
    ownerOf(id: string): string | undefined {
      if (users.has(id)) return id;
      return [...users].find(([, { keys = {} }]) => Object.hasOwn(keys, id))?.[0];
    },
    /** Returns all private keys that were generated, in PEM: the same array until one is added. */
    listPrivateKeys: () => privateTexts,
    /** Sets the function that is called before each change with all users. */
    onChange(listener: (users: Users) => void): void {
      notify = listener;
    },
    snapshot: () => users,
    restore: change,
    reset: () => change(initial),
  };
}

function listEntries(declared: DoubleUsersOption): readonly (readonly [string, DoubleUser])[] {
  read(usersShape, declared, ['users']);
  return isList(declared) ? declared.map((name) => [name, {}]) : listRegistered(declared);
}

const usersShape = either(
  listOf(text()),
  mapOf(anything, undefined, { expected: "an object such as { johndoe: {} } or ['johndoe']", orMap: true }),
);

/** Returns the password of a user. Throws RangeError if it is not known. */
export function requirePassword({ control }: DoubleUsers, user: string): string {
  const { password } = control.credentials(user);
  if (password !== undefined) return password;
  throw new RangeError(`the password of ${user} is not known; set it in the option users`);
}

function toCredentials(name: string, user: UserDeclaration): UserCredentials {
  const { secrets, password } = toAccountRecord(user);
  const secret = secrets[0]?.secret;
  if (secret === undefined) throw new RangeError(`${name} has no secret`);
  return { secret, password: password !== undefined && 'plain' in password ? password.plain : undefined };
}

/** The beginning of an Ed25519 private key in DER (PKCS #8, RFC 8410 §7); 32 bytes follow. */
const ed25519Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Generates a private key. One of Ed25519 is determined by the random bytes. */
function generatePrivateKey(algorithm: SignatureAlgorithm, random: (size: number) => Uint8Array): KeyObject {
  if (algorithm !== 'ed25519') return generateKeys(algorithm).privateKey;
  return createPrivateKey({ key: Buffer.concat([ed25519Prefix, random(32)]), format: 'der', type: 'pkcs8' });
}

/** Generates a key pair. Throws RangeError on an unknown algorithm, with the nearest known name. */
function generateKey(
  algorithm: SignatureAlgorithm,
  random: (size: number) => Uint8Array,
): { readonly pair: KeyPair; readonly privateKey: KeyObject } {
  read(word(signatureAlgorithms, undefined, 'an algorithm with a public key'), algorithm, 'algorithm');
  const privateKey = generatePrivateKey(algorithm, random);
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
  const pair = { publicKey, privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
  return { pair, privateKey };
}
