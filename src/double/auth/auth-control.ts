import type { KeyDeclaration, SignatureAlgorithm } from '../../auth/account-key.ts';
import type { Clock } from '../../clock.ts';
import type { Duration } from '../../duration.ts';
import type { Grants } from '../../oauth/grants.ts';
import { checkMembers, shown } from '../../service/argument-checks.ts';
import { lengthOf } from '../state/clock.ts';
import type { KeyPair } from '../state/generate-key.ts';
import type { DoubleNonces } from '../state/nonces.ts';
import type { DoubleUser, DoubleUsers, UserCredentials } from '../state/users.ts';
import { checkChoice, expireTokens, type KnownNames, type TokenChoice } from './tokens.ts';

/** Options of a secret's rotation. */
export interface Rotation {
  /** The new secret. Default: generated. */
  readonly secret?: string;
  /** How long the former secret stays valid. Default: not at all. */
  readonly grace?: Duration;
}

/** The names of the members. The type checks that the list is complete. */
const rotationNames: Readonly<Record<keyof Rotation, true>> = { secret: true, grace: true };

/** Controls users, secrets, nonces and tokens. */
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
   * Treats the next `times` nonces (default: 1) as used, so that valid requests are refused as replays.
   * @example double.auth.burnNext('nonce', 2);
   */
  burnNext(what: 'nonce', times?: number): void;
  /**
   * Makes tokens of OAuth 1.0a and 2.0 expire now: one token, or all that match. Default: all. Returns their number. Rejects with
   * RangeError if the filter contains an unknown name.
   */
  expireTokens(choice?: TokenChoice): Promise<number>;
}

/** Creates the control of users, secrets, nonces and tokens. */
export function createAuthControl(parts: {
  readonly users: DoubleUsers;
  readonly nonces: Pick<DoubleNonces, 'burn'>;
  readonly grants: Grants;
  readonly clock: Clock;
  /** The names that a token filter may contain. */
  readonly names: KnownNames;
}): DoubleAuth {
  const { users, nonces, grants, clock, names } = parts;
  return {
    credentials: (user) => users.credentials(user),
    setUser: (name, user) => users.set(name, user),
    removeUser: (name) => users.remove(name),
    rotateSecret(user, rotation = {}) {
      checkMembers(rotation, Object.keys(rotationNames), 'a rotation', 'such as { secret: … }');
      const { secret, grace } = rotation;
      return users.rotate(user, secret, grace === undefined ? undefined : clock.now() + lengthOf(grace));
    },
    addKey: (user, id, key) => users.addKey(user, id, key),
    generateKey: (user, id, algorithm = 'ed25519') => users.generateKey(user, id, algorithm),
    removeKey: (user, id) => users.removeKey(user, id),
    burnNext(what, times = 1) {
      if (what !== 'nonce') throw new RangeError(`only 'nonce' can be burnt, not ${shown(what)}`);
      if (!Number.isInteger(times) || times < 0) throw new RangeError('times must be a non-negative integer');
      nonces.burn(times);
    },
    async expireTokens(choice = {}) {
      checkChoice(choice, names);
      return expireTokens(grants, choice);
    },
  };
}
