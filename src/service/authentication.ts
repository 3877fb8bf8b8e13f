import { decoyFor, decoyOf, isPasswordHash, verifyPassword } from '../accounts/passwords.ts';
import { createAccounts, type UserDeclaration } from '../auth/accounts.ts';
import { type Authenticator, createAuthenticator } from '../auth/authenticate.ts';
import { createBasicScheme } from '../auth/basic.ts';
import { createHashQueue } from '../auth/hash-queue.ts';
import { createHmacScheme } from '../auth/hmac/scheme.ts';
import { createRateLimiter } from '../auth/rate-limit.ts';
import type { Clock } from '../clock.ts';
import { defaultLifetimes } from '../oauth/lifetimes.ts';
import type { GrantEvent } from '../oauth/records.ts';
import type { Origins } from '../pipeline/origin.ts';
import type { Principal } from '../principal.ts';
import { bucketSpanFor, createNonces } from '../store/nonces/nonces.ts';
import type { Store } from '../store/store.ts';
import { type AuthorizationServer, createAuthorizationServer } from './authorization-server.ts';
import type { ServiceOptions, UserOption } from './options.ts';
import { defaultLimits } from './options.ts';

type Users = NonNullable<ServiceOptions['users']>;

/** Who is asking, composed out of accounts, nonces and every scheme that is offered. */
export interface Authentication {
  readonly authenticator: Authenticator;
  readonly oauth: AuthorizationServer;
  /**
   * Sees to it that the nonce of a request is kept before its reply, where no change kept it; undefined when there is
   * nothing to wait for. `durably` is on the medium too. Rejects with StoreError.
   */
  keepNonce(principal: Principal | undefined, durably: boolean): Promise<void> | undefined;
  /** Puts these users in the place of all that were there. Throws RangeError on an empty secret or password or a hash that is none. */
  replaceUsers(users: Users): void;
}

/** What the service gives to it. */
export interface AuthenticationParts {
  readonly store: Store;
  readonly origins: Origins;
  /** Told of what happens to grants and tokens. */
  readonly granted?: ((event: GrantEvent) => void) | undefined;
}

/** What verifying a password costs where no user has a hash (N of RFC 7914): a few milliseconds. */
const costWithoutHashes = 1024;

/** Composes the authentication of a service. Throws RangeError on options that cannot be. */
export function createAuthentication(
  options: ServiceOptions,
  clock: Clock,
  random: (size: number) => Uint8Array,
  { store, origins, granted }: AuthenticationParts,
): Authentication {
  const window = windowOf(options) * 1000;
  const { realm = 'Countersign', explain = false } = options;
  const declared = declarationsOf(options.users ?? {});
  const accounts = createAccounts(declared);
  const rateLimiter = createRateLimiter(options.maxAuthFailures ?? 100, clock);
  const hashQueue = createHashQueue(rateLimiter);
  const nonceWindow = nonceWindowOf(window, options);
  const nonces =
    options.nonces ??
    createNonces({
      bucketSpan: bucketSpanFor(nonceWindow),
      max: options.maxNonces ?? 10_000_000,
      maxPerUser: options.maxNoncesPerUser,
      key: random(16),
      monotonic: () => clock.steady(),
    });
  const hmac = createHmacScheme({
    realm,
    accounts,
    nonces,
    clock,
    window,
    nonceWindow,
    notBefore: options.notBefore,
    simple: simpleOf(options),
    requireBodyDigest: options.requireBodyDigest ?? false,
    explain,
  });
  const basic = createBasicScheme({
    realm,
    accounts,
    queue: hashQueue,
    hashing: { verify: verifyPassword, decoyOf, decoy: decoyFor(costWithoutHashes) },
    rateLimiter,
    key: random(32),
    explain,
  });
  const { notBefore } = options;
  const bodyLimit = options.limits?.body ?? defaultLimits.body;
  const oauth = createAuthorizationServer(options, {
    ...{
      store,
      granted,
      basic,
      realm,
      clock,
      random,
      accounts,
      rateLimiter,
      nonces,
      nonceWindow,
      origins,
      notBefore,
      explain,
      bodyLimit,
      users: declared.keys(),
    },
    verifySecret: verifyPassword,
    hashQueue,
  });
  return {
    // Browsers look at the first challenge of a line, and Basic is what they have.
    authenticator: createAuthenticator([basic, hmac, ...oauth.schemes], rateLimiter),
    oauth,
    keepNonce(principal, durably) {
      const held = principal?.nonce;
      return held === undefined ? undefined : nonces.release(held, durably);
    },
    replaceUsers(users) {
      const all = declarationsOf(users);
      accounts.replace(all);
      oauth.departures.setNames('user', all.keys());
    },
  };
}

/** The longest window there is, in seconds: a year. */
const longestWindow = 31_536_000;

// Whoever calls from JavaScript is not held by the types, and what is no option must not open a door.
function windowOf({ window = 600 }: ServiceOptions): number {
  if (window >= 0 && window <= longestWindow) return window;
  throw new RangeError(`window is not a number of seconds from 0 to ${longestWindow}`);
}

/**
 * How far from the clock (ms) the dates and timestamps may be that nonces come with. All are counted with the longest of them,
 * as what keeps them in files does when it takes over those of another window.
 */
function nonceWindowOf(window: number, { lifetimes }: ServiceOptions): number {
  return Math.max(window, lifetimes?.oauth1Window ?? defaultLifetimes.oauth1Window);
}

function simpleOf({ hmacSimple = 'safe' }: ServiceOptions): 'safe' | 'all' | 'off' {
  if (hmacSimple === 'safe' || hmacSimple === 'all' || hmacSimple === 'off') return hmacSimple;
  throw new RangeError('hmacSimple is not one of safe, all, off');
}

function declarationsOf(users: Users): ReadonlyMap<string, UserDeclaration> {
  const entries = users instanceof Map ? [...users] : Object.entries(users);
  return new Map(entries.map(([name, user]) => [name, declarationOf(name, user)]));
}

function declarationOf(name: string, user: UserOption): UserDeclaration {
  if ('secret' in user) {
    const { secret, password, disabled } = user;
    const plain = password === undefined ? undefined : { plain: password };
    return withPassword(name, { secrets: [{ secret }], password: plain, disabled });
  }
  return withPassword(name, user);
}

function withPassword(name: string, user: UserDeclaration): UserDeclaration {
  const { password, disabled } = user;
  // Taken for false, a text would leave the user enabled.
  if (disabled !== undefined && typeof disabled !== 'boolean')
    throw new RangeError(`disabled of the user ${JSON.stringify(name)} is neither true nor false`);
  if (password === undefined) return user;
  if ('hash' in password && !isPasswordHash(password.hash))
    throw new RangeError(`the password hash of the user ${JSON.stringify(name)} is not one of scrypt`);
  if ('plain' in password && (typeof password.plain !== 'string' || password.plain === ''))
    throw new RangeError(
      `the password of the user ${JSON.stringify(name)} is not a text of at least one character`,
    );
  return user;
}
