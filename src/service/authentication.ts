import { createAccounts } from '../accounts/accounts.ts';
import { createHashQueue } from '../accounts/hash-queue.ts';
import { buildDecoy, decoyFor, isPasswordHash, verifyPassword } from '../accounts/passwords.ts';
import { Quotas } from '../accounts/quota.ts';
import { createRateLimiter } from '../accounts/rate-limit.ts';
import { listRegistered } from '../accounts/registered.ts';
import { type AccountRecord, toAccountRecord } from '../accounts/user-declaration.ts';
import { UserRights } from '../accounts/user-rights.ts';
import { type Clock, readTime } from '../clock.ts';
import { requireSeconds } from '../duration.ts';
import type { IncomingRequest } from '../http/message.ts';
import { onceWindow, readLifetimes } from '../oauth/lifetimes.ts';
import type { Alterations } from '../oauth/oauth2/alterations.ts';
import type { OAuth2Settings } from '../oauth/oauth2-options.ts';
import type { TokenEvent } from '../oauth/records.ts';
import { once } from '../once.ts';
import { httpsOrigin, type Origins } from '../pipeline/origin.ts';
import { type AuthScheme, listAuthorizationNames } from '../schemes/auth-scheme.ts';
import { createAuthenticator } from '../schemes/authenticate.ts';
import { createBasicVerifier } from '../schemes/basic.ts';
import { checkSchemeNames, readSchemes } from '../schemes/configured-schemes.ts';
import { createVerifier } from '../schemes/create-verifier.ts';
import { createHmacScheme } from '../schemes/hmac/scheme.ts';
import { limitNonces } from '../store/nonces/limited.ts';
import { bucketSpanFor, createNonces, type NonceStore } from '../store/nonces/nonces.ts';
import type { Store } from '../store/store.ts';
import { createAuthorizationServer } from './authorization-server.ts';
import { isHealthCheck } from './health.ts';
import type { ServiceOptions, UserDeclaration } from './options.ts';
import { defaultLimits } from './options.ts';
import { checkUser } from './user-checks.ts';

type Users = NonNullable<ServiceOptions['users']>;

/** The parts of the service that authentication needs. */
interface AuthenticationParts {
  readonly store: Store;
  readonly origins: Origins;
  /** Called for each event of a grant or token. */
  readonly onGrantEvent?: ((event: TokenEvent) => void) | undefined;
  /** Makes responses of the authorization server wrong. Default: none is. */
  readonly alterations?: Alterations | undefined;
  /** The options of OAuth 2.0. */
  readonly settings: OAuth2Settings;
}

/** The cost of verifying a password if no user has a hash (N of RFC 7914): a few milliseconds. */
const costWithoutHashes = 1024;

/** The hash that is verified for users without a password, if no user has a hash. */
const usualDecoy = once(() => decoyFor(costWithoutHashes));

/** The default of `maxNonces`. */
const defaultMaxNonces = 10_000_000;

/** Creates the authentication of a service: accounts, nonces and the schemes that it offers. Throws RangeError on invalid options. */
export function createAuthentication(
  options: ServiceOptions,
  clock: Clock,
  random: (size: number) => Uint8Array,
  { store, origins, onGrantEvent, alterations, settings }: AuthenticationParts,
) {
  const window = readWindow(options);
  const notBefore = readNotBefore(options);
  const { realm = 'Countersign', explain = false } = options;
  const declared = readDeclarations(options.users ?? {});
  const accounts = createAccounts(declared);
  const rateLimiter = createRateLimiter(options.maxAuthFailures ?? 100, clock);
  const quotas = new Quotas({ quota: options.quota, clock, exempt: createExemption(options) });
  quotas.replaceUsers(declared);
  const configured = listSchemes(options);
  checkUserSchemes(options.users ?? {}, configured);
  const limits = new UserRights();
  limits.replaceUsers(declared);
  const hashQueue = createHashQueue(rateLimiter);
  const nonceWindow = computeNonceWindow(options, configured);
  const nonces =
    selectStoredNonces(options, nonceWindow) ??
    createNonces({
      bucketSpan: bucketSpanFor(nonceWindow),
      max: options.maxNonces ?? defaultMaxNonces,
      maxPerUser: options.maxNoncesPerUser,
      key: random(16),
      monotonic: () => clock.steady(),
    });
  const basic = createBasicVerifier({
    realm,
    accounts,
    queue: hashQueue,
    hashing: { verify: verifyPassword, buildDecoy, decoy: usualDecoy() },
    rateLimiter,
    key: random(32),
    explain,
  });
  const { onError = (error) => console.error(error) } = options;
  const bodyLimit = options.limits?.body ?? defaultLimits.body;
  const schemeContext = {
    realm,
    accounts,
    nonces,
    rateLimiter,
    clock,
    nonceWindow,
    notBefore,
    explain,
    publicOrigin: options.publicUrl === undefined ? undefined : httpsOrigin(options.publicUrl),
    bodyLimit,
    onError,
  };
  const hmac = createHmacScheme({
    window,
    simple: readSimple(options),
    requireBodyDigest: options.requireBodyDigest ?? false,
  });
  const verifiers = [hmac, ...configured].map((scheme) => createVerifier(scheme, schemeContext));
  const oauth = createAuthorizationServer(options, {
    store,
    onGrantEvent,
    alterations,
    settings,
    basic,
    realm,
    clock,
    random,
    accounts,
    rateLimiter,
    limits,
    nonces,
    nonceWindow,
    origins,
    notBefore,
    explain,
    bodyLimit,
    users: declared.keys(),
    verifySecret: verifyPassword,
    hashQueue,
  });
  const ownBasic = findOwner(configured, 'basic');
  if (ownBasic !== undefined && [...declared.values()].some(({ password }) => password !== undefined))
    throw new RangeError(
      `schemes.${ownBasic}: Authorization: Basic is that of passwords, and users have some`,
    );
  const ownBearer = findOwner(configured, 'bearer');
  /** Throws RangeError if there are clients of OAuth 2.0, and a configured scheme has its bearer tokens. */
  const checkClients = (clients: { readonly size: number }): void => {
    if (ownBearer !== undefined && clients.size > 0)
      throw new RangeError(
        `schemes.${ownBearer}: Authorization: Bearer is that of OAuth 2.0, and clients are registered`,
      );
  };
  checkClients(oauth.clients);
  const replaced = [
    ...(ownBasic === undefined ? [] : ['basic']),
    ...(ownBearer === undefined ? [] : ['bearer']),
  ];
  const offered = [basic, ...verifiers, ...oauth.schemes].filter(({ name }) => !replaced.includes(name));
  return {
    // Browsers use the first challenge that they support, which is Basic.
    authenticator: createAuthenticator(offered, rateLimiter, limits, explain),
    /** The configured schemes. */
    configured,
    oauth,
    checkClients,
    /** The quotas of principals and peers. */
    quotas,
    /** Replaces all users. Throws RangeError on an empty secret or password, or a malformed password hash. */
    replaceUsers(users: Users): void {
      const all = readDeclarations(users);
      checkUserSchemes(users, configured);
      accounts.replace(all);
      limits.replaceUsers(all);
      quotas.replaceUsers(all);
      oauth.departures.setNames('user', all.keys());
    },
  };
}

/** Returns the name of the configured scheme that has the credentials of a built-in one in Authorization. */
function findOwner(configured: readonly AuthScheme[], builtIn: string): string | undefined {
  return configured.find((scheme) => listAuthorizationNames(scheme).includes(builtIn))?.name;
}

/** Returns whether a request is a health check, which is not counted; undefined if there are none. */
function createExemption({ health }: ServiceOptions): ((request: IncomingRequest) => boolean) | undefined {
  return health === undefined ? undefined : (request) => isHealthCheck(health, request);
}

/** Returns the seconds by which the date of a signature may differ from the clock, by scheme. */
export function listDateWindows(
  options: Pick<ServiceOptions, 'window' | 'lifetimes'>,
  schemes: readonly AuthScheme[],
): Readonly<Record<string, number>> {
  const { oauth1Window } = readLifetimes(options.lifetimes);
  return {
    hmac: readWindow(options) / 1000,
    oauth: oauth1Window / 1000,
    ...Object.fromEntries(schemes.map(({ name, dateWindow }) => [name, dateWindow / 1000])),
  };
}

/** The longest window, in seconds: a year. */
const longestWindow = 31_536_000;

// A caller in JavaScript can pass any value, and an invalid one must not weaken a check.
function readWindow({ window = 600 }: Pick<ServiceOptions, 'window'>): number {
  return requireSeconds(window, 'window', 0, longestWindow);
}

function readNotBefore({ notBefore }: ServiceOptions): number | undefined {
  const time = readTime(notBefore);
  if (notBefore === undefined || time !== undefined) return time;
  throw new RangeError("notBefore is not a time such as '2026-03-01T12:00:00Z', a Date or ms since 1970");
}

/**
 * Returns how far (ms) the dates and timestamps that come with nonces may be from the clock. All nonces are counted with the
 * longest of these windows, as the file store does when it opens nonces of another window.
 */
export function computeNonceWindow(
  options: Pick<ServiceOptions, 'window' | 'lifetimes' | 'oauth2'>,
  schemes: readonly AuthScheme[],
): number {
  const { oauth1Window } = readLifetimes(options.lifetimes);
  const windows = schemes.map((scheme) => scheme.window);
  return Math.max(readWindow(options), oauth1Window, onceWindow(options.oauth2), ...windows);
}

/**
 * Returns the nonces of the options or of the store.
 * @throws RangeError if these are stored for a shorter window (ms), or have higher limits than the options
 */
function selectStoredNonces(
  { nonces, store, maxNonces, maxNoncesPerUser }: ServiceOptions,
  window: number,
): NonceStore | undefined {
  const stored = nonces ?? store?.nonces;
  if (stored === undefined) return undefined;
  if (stored.window !== undefined && stored.window * 1000 < window)
    throw new RangeError(
      `nonces are stored for ${stored.window} s, and dates are valid for ${window / 1000} s: open the store with that window`,
    );
  if (stored.limits === undefined) {
    const max = maxNonces ?? defaultMaxNonces;
    return limitNonces(stored, { bucketSpan: bucketSpanFor(window), max, maxPerUser: maxNoncesPerUser });
  }
  requireLimit('maxNonces', maxNonces, stored.limits.max);
  requireLimit('maxNoncesPerUser', maxNoncesPerUser, stored.limits.maxPerUser);
  return stored;
}

function requireLimit(name: string, max: number | undefined, own: number): void {
  if (max !== undefined && own > max)
    throw new RangeError(
      `${name} is ${max}, and that of the nonces is ${own}: open the store with that limit`,
    );
}

/** Returns the schemes of the options. Throws RangeError if one is invalid. */
export function listSchemes({ schemes = {} }: Pick<ServiceOptions, 'schemes'>): readonly AuthScheme[] {
  return readSchemes(schemes);
}

function readSimple({ hmacSimple = 'safe' }: ServiceOptions): 'safe' | 'all' | 'off' {
  if (hmacSimple === 'safe' || hmacSimple === 'all' || hmacSimple === 'off') return hmacSimple;
  throw new RangeError('hmacSimple is not one of safe, all, off');
}

function readDeclarations(users: Users): ReadonlyMap<string, AccountRecord> {
  return new Map(listRegistered(users).map(([name, user]) => [name, readRecord(name, user)]));
}

/**
 * Checks the schemes of users. Those of a data directory may name schemes that this server does not have: a name that is no longer
 * configured must not prevent a start.
 * @throws RangeError with the nearest known name
 */
function checkUserSchemes(users: Users, configured: readonly AuthScheme[]): void {
  for (const [name, user] of listRegistered(users))
    if (!('secrets' in user))
      checkSchemeNames(user.schemes, configured, `schemes of the user ${JSON.stringify(name)}`);
}

/** Returns a user that was checked. Throws RangeError on anything else, and on a password hash that is not one of scrypt. */
function readRecord(name: string, user: UserDeclaration): AccountRecord {
  checkUser(name, user, false);
  const record = toAccountRecord(user);
  const { password } = record;
  if (password !== undefined && 'hash' in password && !isPasswordHash(password.hash))
    throw new RangeError(`the password hash of the user ${JSON.stringify(name)} is not a scrypt hash`);
  return record;
}
