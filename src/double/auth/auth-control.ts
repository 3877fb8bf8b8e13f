import type { Clock } from '../../clock.ts';
import type { Grants } from '../../oauth/grants.ts';
import { type Duration, lengthOf } from '../state/clock.ts';
import type { DoubleNonces } from '../state/nonces.ts';
import type { Credentials, DoubleUser, DoubleUsers } from '../state/users.ts';
import { expireTokens, type TokenChoice } from './tokens.ts';

/** How a secret is rotated. */
export interface Rotation {
  /** The new one; drawn when left out. */
  readonly secret?: string;
  /** For how long the one before stays valid; not at all when left out. */
  readonly grace?: Duration;
}

/** What a test does with users, secrets, nonces and tokens. */
export interface AuthControl {
  /** What a user proves itself with now. Throws RangeError where there is no such user. */
  credentials(user: string): Credentials;
  /** Adds a user, or puts another in its place; what is left out is drawn. Gives what it proves itself with. */
  setUser(name: string, user?: DoubleUser): Credentials;
  /** Takes a user away. */
  removeUser(name: string): void;
  /**
   * Gives a user another secret, as an administrator would; gives the new one.
   * @example double.auth.rotateSecret('johndoe'); // the client's next request is refused
   */
  rotateSecret(user: string, rotation?: Rotation): string;
  /**
   * Counts the next nonces as seen, so that good requests are refused as replays.
   * @example double.auth.burnNext('nonce', 2);
   */
  burnNext(what: 'nonce', times?: number): void;
  /** Makes tokens of either OAuth expire now: one, or all that fit; all there are when nothing is said. Gives how many. */
  expireTokens(choice?: TokenChoice): Promise<number>;
}

/** Makes the control of users, secrets, nonces and tokens. */
export function createAuthControl(parts: {
  readonly users: DoubleUsers;
  readonly nonces: Pick<DoubleNonces, 'burn'>;
  readonly grants: Grants;
  readonly clock: Clock;
}): AuthControl {
  const { users, nonces, grants, clock } = parts;
  return {
    credentials: (user) => users.credentials(user),
    setUser: (name, user) => users.set(name, user),
    removeUser: (name) => users.remove(name),
    rotateSecret: (user, { secret, grace } = {}) =>
      users.rotate(user, secret, grace === undefined ? undefined : clock.now() + lengthOf(grace)),
    burnNext(what, times = 1) {
      if (what !== 'nonce')
        throw new RangeError(`only a nonce can be burnt, and not ${JSON.stringify(what)}`);
      if (!Number.isInteger(times) || times < 0) throw new RangeError('times is not a whole number from 0');
      nonces.burn(times);
    },
    expireTokens: (choice = {}) => expireTokens(grants, choice),
  };
}
