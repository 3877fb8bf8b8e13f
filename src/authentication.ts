import { createAccounts, type UserDeclaration } from './auth/accounts.ts';
import { type Authenticator, createAuthenticator } from './auth/authenticate.ts';
import { createHmacScheme } from './auth/hmac.ts';
import { createThrottle } from './auth/throttle.ts';
import type { Clock } from './clock.ts';
import type { ServiceOptions, UserOption } from './service-options.ts';
import { createNonces } from './store/nonces.ts';

type Users = NonNullable<ServiceOptions['users']>;

/** Who is asking, composed out of accounts, nonces and every scheme that is offered. */
export interface Authentication {
  readonly authenticator: Authenticator;
  /** Puts these users in the place of all that were there. Throws RangeError on an empty secret. */
  replaceUsers(users: Users): void;
}

/** Composes the authentication of a service. Throws RangeError on options that cannot be. */
export function createAuthentication(
  options: ServiceOptions,
  clock: Clock,
  random: (size: number) => Uint8Array,
): Authentication {
  const window = (options.window ?? 600) * 1000;
  const accounts = createAccounts(declarationsOf(options.users ?? {}));
  const hmac = createHmacScheme({
    realm: options.realm ?? 'Countersign',
    accounts,
    nonces: createNonces({
      bucketSpan: Math.max(1000, window / 4),
      max: options.maxNonces ?? 10_000_000,
      key: random(16),
      monotonic: () => clock.steady(),
    }),
    clock,
    window,
    simple: options.hmacSimple ?? 'safe',
    requireBodyDigest: options.requireBodyDigest ?? false,
    explain: options.explain ?? false,
  });
  return {
    authenticator: createAuthenticator([hmac], createThrottle(options.maxAuthFailures ?? 100, clock)),
    replaceUsers: (users) => accounts.replace(declarationsOf(users)),
  };
}

function declarationsOf(users: Users): ReadonlyMap<string, UserDeclaration> {
  const entries = users instanceof Map ? [...users] : Object.entries(users);
  return new Map(entries.map(([name, user]) => [name, declarationOf(user)]));
}

function declarationOf(user: UserOption): UserDeclaration {
  if (!('secret' in user)) return user;
  const { secret, password } = user;
  return { secrets: [{ secret }], password: password === undefined ? undefined : { plain: password } };
}
