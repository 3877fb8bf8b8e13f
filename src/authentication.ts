import { createAccounts, type UserDeclaration } from './auth/accounts.ts';
import { type Authenticator, createAuthenticator } from './auth/authenticate.ts';
import { createBasicScheme } from './auth/basic.ts';
import { createHmacScheme } from './auth/hmac.ts';
import { createThrottle } from './auth/throttle.ts';
import type { Clock } from './clock.ts';
import type { Principal } from './principal.ts';
import type { ServiceOptions, UserOption } from './service-options.ts';
import { bucketSpanFor, createNonces } from './store/nonces.ts';
import { decoyFor, decoyOf, isPasswordHash, verifyPassword } from './store/passwords.ts';

type Users = NonNullable<ServiceOptions['users']>;

/** Who is asking, composed out of accounts, nonces and every scheme that is offered. */
export interface Authentication {
  readonly authenticator: Authenticator;
  /**
   * Sees to it that the nonce of a request is kept before its reply, where no change kept it; undefined when there is
   * nothing to wait for. `durably` is on the medium too. Rejects with StoreError.
   */
  keepNonce(principal: Principal | undefined, durably: boolean): Promise<void> | undefined;
  /** Puts these users in the place of all that were there. Throws RangeError on an empty secret or a hash that is none. */
  replaceUsers(users: Users): void;
}

/** What verifying a password costs where no user has a hash (N of RFC 7914): a few milliseconds. */
const costWithoutHashes = 1024;

/** Composes the authentication of a service. Throws RangeError on options that cannot be. */
export function createAuthentication(
  options: ServiceOptions,
  clock: Clock,
  random: (size: number) => Uint8Array,
): Authentication {
  const window = (options.window ?? 600) * 1000;
  const { realm = 'Countersign', explain = false } = options;
  const accounts = createAccounts(declarationsOf(options.users ?? {}));
  const throttle = createThrottle(options.maxAuthFailures ?? 100, clock);
  const nonces =
    options.nonces ??
    createNonces({
      bucketSpan: bucketSpanFor(window),
      max: options.maxNonces ?? 10_000_000,
      key: random(16),
      monotonic: () => clock.steady(),
    });
  const hmac = createHmacScheme({
    realm,
    accounts,
    nonces,
    clock,
    window,
    notBefore: options.notBefore,
    simple: options.hmacSimple ?? 'safe',
    requireBodyDigest: options.requireBodyDigest ?? false,
    explain,
  });
  const basic = createBasicScheme({
    realm,
    accounts,
    hashing: { verify: verifyPassword, decoyOf, decoy: decoyFor(costWithoutHashes) },
    throttle,
    key: random(32),
    explain,
  });
  return {
    authenticator: createAuthenticator([hmac, basic], throttle),
    keepNonce(principal, durably) {
      const held = principal?.nonce;
      return held === undefined ? undefined : nonces.release(held, durably);
    },
    replaceUsers: (users) => accounts.replace(declarationsOf(users)),
  };
}

function declarationsOf(users: Users): ReadonlyMap<string, UserDeclaration> {
  const entries = users instanceof Map ? [...users] : Object.entries(users);
  return new Map(entries.map(([name, user]) => [name, declarationOf(name, user)]));
}

function declarationOf(name: string, user: UserOption): UserDeclaration {
  if (!('secret' in user)) {
    if (user.password !== undefined && 'hash' in user.password && !isPasswordHash(user.password.hash))
      throw new RangeError(`the password hash of the user ${JSON.stringify(name)} is not one of scrypt`);
    return user;
  }
  const { secret, password } = user;
  return { secrets: [{ secret }], password: password === undefined ? undefined : { plain: password } };
}
