import type { UserDeclaration } from '../../auth/accounts.ts';
import { didYouMean } from '../../did-you-mean.ts';
import type { UserOption } from '../../service/options.ts';
import type { Snapshottable } from './snapshot.ts';

/** A user of a double. What of secret and password is left out by both is drawn; with a secret alone there is no password. */
export type DoubleUser =
  | UserDeclaration
  | { readonly secret?: string; readonly password?: string; readonly disabled?: boolean };

/** Users by their names, or the names of users whose secrets and passwords are to be drawn. */
export type DoubleUsersOption =
  | Readonly<Record<string, DoubleUser>>
  | ReadonlyMap<string, DoubleUser>
  | readonly string[];

/** What a user authenticates with. */
export interface Credentials {
  readonly secret: string;
  /** Undefined where there is none, or only its hash is known. */
  readonly password: string | undefined;
}

type Users = ReadonlyMap<string, UserOption>;

/** The users of a double as they are now. */
export interface DoubleUsers extends Snapshottable<Users> {
  readonly all: Users;
  /** The newest secret of a user, and its password. Throws RangeError where there is no such user. */
  credentials(name: string): Credentials;
  /** Puts a user in the place of the one of that name, or adds it; gives what it proves itself with. */
  set(name: string, user?: DoubleUser): Credentials;
  /** All their secrets and passwords, for redaction. */
  words(): string[];
  /** Takes a user away. Throws RangeError where there is none. */
  remove(name: string): void;
  /** Gives a user another secret; the one before stays valid until `until` (ms), where that is given. Gives the new one. */
  rotate(name: string, secret?: string, until?: number): string;
  /** Has `told` called with all users whenever one changes. */
  follow(told: (users: Users) => void): void;
}

/** Makes the users of a double. */
export function createDoubleUsers(
  declared: DoubleUsersOption,
  random: (size: number) => Uint8Array,
): DoubleUsers {
  const word = (): string => Buffer.from(random(24)).toString('base64url');
  const completed = (user: DoubleUser): UserOption => {
    if ('secrets' in user) return user;
    if (user.secret !== undefined) return { ...user, secret: user.secret };
    return { ...user, secret: word(), password: user.password ?? word() };
  };
  const begun: Users = new Map(entriesOf(declared).map(([name, user]) => [name, completed(user)]));
  let users = begun;
  let told: (users: Users) => void = () => {};

  const change = (next: Users): void => {
    told(next);
    users = next;
  };
  const found = (name: string): UserOption => {
    const user = users.get(name);
    if (user === undefined)
      throw new RangeError(`${name} is no user of this double${didYouMean(name, [...users.keys()])}`);
    return user;
  };
  const credentials = (name: string): Credentials => credentialsOf(name, found(name));
  return {
    get all() {
      return users;
    },
    credentials,
    set(name, user = {}) {
      change(new Map(users).set(name, completed(user)));
      return credentials(name);
    },
    words: () => [...users.values()].flatMap(wordsOf),
    remove(name) {
      found(name);
      change(new Map([...users].filter(([each]) => each !== name)));
    },
    rotate(name, secret = word(), until) {
      const { secrets, password, disabled } = declarationOf(found(name));
      const former = until === undefined ? [] : secrets.slice(0, 1).map((each) => ({ ...each, until }));
      change(new Map(users).set(name, { secrets: [{ secret }, ...former], password, disabled }));
      return secret;
    },
    follow(listener) {
      told = listener;
    },
    snapshot: () => users,
    restore: change,
    reset: () => change(begun),
  };
}

function entriesOf(declared: DoubleUsersOption): (readonly [string, DoubleUser])[] {
  if (declared instanceof Map) return [...declared];
  return isList(declared) ? declared.map((name) => [name, {}]) : Object.entries(declared);
}

function isList(declared: DoubleUsersOption): declared is readonly string[] {
  return Array.isArray(declared);
}

function wordsOf(user: UserOption): string[] {
  const { secrets, password } = declarationOf(user);
  const words = secrets.map(({ secret }) => secret);
  return password !== undefined && 'plain' in password ? [...words, password.plain] : words;
}

function declarationOf(user: UserOption): UserDeclaration {
  if ('secrets' in user) return user;
  const { secret, password, disabled } = user;
  return {
    secrets: [{ secret }],
    password: password === undefined ? undefined : { plain: password },
    disabled,
  };
}

function credentialsOf(name: string, user: UserOption): Credentials {
  const { secrets, password } = declarationOf(user);
  const secret = secrets[0]?.secret;
  if (secret === undefined) throw new RangeError(`${name} has no secret`);
  return { secret, password: password !== undefined && 'plain' in password ? password.plain : undefined };
}
