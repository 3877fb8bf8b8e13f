import type { KeyDeclaration } from '../../auth/account-key.ts';
import type { Clock } from '../../clock.ts';
import type { Duration } from '../../duration.ts';
import { anything, number, object, optional, read, type ShapesOf } from '../../shape/shape.ts';
import type { SignatureAlgorithm } from '../../signature/algorithms.ts';
import { toMilliseconds } from '../state/clock.ts';
import type { KeyPair } from '../state/generate-key.ts';
import type { BurnableNonces } from '../state/nonces.ts';
import type { DoubleUser, DoubleUsers, UserCredentials } from '../state/users.ts';

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

/** Creates the control of users, secrets, keys and nonces. */
export function createAuthControl(parts: {
  readonly users: DoubleUsers;
  readonly nonces: Pick<BurnableNonces, 'burn'>;
  readonly clock: Clock;
}): DoubleAuth {
  const { users, nonces, clock } = parts;
  return {
    credentials: (user) => users.credentials(user),
    setUser: (name, user) => users.set(name, user),
    removeUser: (name) => users.remove(name),
    rotateSecret(user, rotation = {}) {
      read(rotationShape, rotation, 'a rotation');
      const { secret, grace } = rotation;
      return users.rotate(
        user,
        secret,
        grace === undefined ? undefined : clock.now() + toMilliseconds(grace),
      );
    },
    addKey: (user, id, key) => users.addKey(user, id, key),
    generateKey: (user, id, algorithm = 'ed25519') => users.generateKey(user, id, algorithm),
    removeKey: (user, id) => users.removeKey(user, id),
    burnNonces(count = 1) {
      nonces.burn(read(number({ min: 0 }), count, 'the number of nonces'));
    },
  };
}
