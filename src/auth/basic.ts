import { createHmac, timingSafeEqual } from 'node:crypto';
import { formatChallenge } from '../http/headers/authorization.ts';
import {
  type BasicCredentials,
  parseBasicCredentials,
  preparePassword,
} from '../http/headers/basic-credentials.ts';
import { Problem } from '../http/problem.ts';
import type { Account, Accounts } from './accounts.ts';
import { type HashQueue, queueFull } from './hash-queue.ts';
import { type RateLimiter, rateLimitKey, tooManyFailures } from './rate-limit.ts';
import type { Scheme, Verdict } from './scheme.ts';
import type { AuthenticationTrace } from './trace.ts';

/** How passwords are hashed. */
export interface PasswordHashing {
  /** Whether this is the password that was hashed. */
  verify(password: string, hash: string): Promise<boolean>;
  /** A hash that no password has and that costs as much to verify as this one; hashes of equal cost have the same. */
  decoyOf(hash: string): string;
  /** The decoy where no account has a hash. */
  readonly decoy: string;
}

/** What the scheme goes by. */
export interface BasicOptions {
  readonly realm: string;
  readonly accounts: Accounts;
  readonly hashing: PasswordHashing;
  /** Where passwords wait to be hashed. */
  readonly queue: HashQueue;
  readonly throttle: RateLimiter;
  /** 32 random bytes, for what is remembered of passwords. */
  readonly key: Uint8Array;
  /** Whether a refusal shows what was checked. */
  readonly explain: boolean;
}

/**
 * Basic (RFC 7617). A password that was right once is remembered as a keyed digest for as long as its account does not
 * change. Every other one costs the same, be the user known or not, with or without a password: one computation for
 * each cost that a hash here has.
 */
export function createBasicScheme(options: BasicOptions): Scheme {
  const { accounts, queue, throttle: rateLimiter } = options;
  const memory = createMemory(options.key);
  const verify = createVerification(options);
  const challenge = formatChallenge('Basic', [
    ['realm', options.realm],
    ['charset', 'UTF-8'],
  ]);

  const judge = (
    presented: BasicCredentials,
    account: Account | undefined,
    peer: string,
    authTrace: AuthenticationTrace | undefined,
  ): Verdict | Promise<Verdict> => {
    authTrace?.pass('parse');
    const digest = memory.digestOf(presented);
    if (memory.holds(account, digest)) return good(account, authTrace);
    return judgeAnew(presented, account, digest, peer, authTrace);
  };

  const judgeAnew = async (
    { user, password }: BasicCredentials,
    account: Account | undefined,
    digest: Buffer,
    peer: string,
    authTrace: AuthenticationTrace | undefined,
  ): Promise<Verdict> => {
    // With the hash, so that who comes after a change of users does not share what was asked before it.
    const key = `${digest.toString('latin1')} ${hashOf(account)}`;
    const right = await queue.attempt(
      rateLimitKey(peer),
      key,
      async () =>
        // Another request may have brought the same password meanwhile.
        memory.holds(account, digest) || (await verify(password, account)),
    );
    if (right === 'crowded') return { outcome: 'bad', problem: queueFull('passwords') };
    if (right === 'blocked') return { outcome: 'bad', problem: tooManyFailures(rateLimiter) };
    // While this waited, the user may have got another password, or have gone.
    const present = right ? await accounts.findComposed(user) : undefined;
    if (present === undefined || hashOf(present) !== hashOf(account)) {
      if (account !== undefined) authTrace?.pass('user');
      authTrace?.fail(account === undefined ? 'user' : 'password');
      // Whether there is such a user is told to nobody who does not know the password.
      return refuse(user, options.explain ? { check: 'password' } : {});
    }
    memory.keep(present, digest);
    return good(present, authTrace);
  };

  return {
    name: 'basic',
    authenticate({ connection }, rest, authTrace) {
      const presented = parseBasicCredentials(rest);
      if (typeof presented === 'string')
        return { outcome: 'bad', problem: new Problem('malformed-credentials', `${presented}.`) };
      const found = accounts.findComposed(presented.user);
      return found === undefined || 'name' in found
        ? judge(presented, found, connection.peer, authTrace)
        : found.then((account) => judge(presented, account, connection.peer, authTrace));
    },
    challenge: ({ secure }) => (secure ? challenge : undefined),
  };
}

function good({ name }: Account, authTrace: AuthenticationTrace | undefined): Verdict {
  authTrace?.pass('user');
  authTrace?.pass('password');
  return { outcome: 'good', principal: { name, scheme: 'basic' } };
}

function refuse(user: string, members: Readonly<Record<string, string>>): Verdict {
  const problem = new Problem('credentials-refused', 'User and password do not fit.', { members });
  return { outcome: 'bad', problem, claimed: user };
}

function hashOf(account: Account | undefined): string | undefined {
  const password = account?.password;
  return password !== undefined && 'hash' in password ? password.hash : undefined;
}

/** Which password is right for an account, as far as that is known without computing its hash. */
interface Memory {
  digestOf(presented: BasicCredentials): Buffer;
  holds(account: Account | undefined, digest: Buffer): account is Account;
  keep(account: Account, digest: Buffer): void;
}

function createMemory(key: Uint8Array): Memory {
  const digests = new WeakMap<Account, Buffer>();
  const nothing = Buffer.alloc(32);
  // No control character is in either, so nothing of the one can pass for the other's.
  const digestOf = ({ user, password }: BasicCredentials): Buffer =>
    createHmac('sha256', key).update(`${user}\0${password}`, 'utf8').digest();
  const keep = (account: Account, digest: Buffer): Buffer => {
    digests.set(account, digest);
    return digest;
  };
  const known = (account: Account): Buffer | undefined => {
    const digest = digests.get(account);
    const { name, password } = account;
    if (digest !== undefined || password === undefined || 'hash' in password) return digest;
    const user = name.normalize('NFC');
    return keep(account, digestOf({ user, password: preparePassword(password.plain) }));
  };
  return {
    digestOf,
    holds(account, digest): account is Account {
      const expected = account === undefined ? undefined : known(account);
      return timingSafeEqual(expected ?? nothing, digest) && expected !== undefined;
    },
    keep,
  };
}

/**
 * Whether a password is the one that the account has a hash of. One hash of each cost is computed, in the same order
 * for everybody, and only the account's own takes the place of its decoy: so the time does not tell why it is wrong.
 */
function createVerification({ accounts, hashing }: BasicOptions) {
  let hashes: readonly string[] = [];
  let decoyByHash = new Map<string, string>();
  let decoys: ReadonlySet<string> = new Set([hashing.decoy]);
  const renew = (): void => {
    if (hashes === accounts.hashes) return;
    hashes = accounts.hashes;
    decoyByHash = new Map(hashes.map((hash) => [hash, hashing.decoyOf(hash)]));
    decoys = new Set(hashes.length === 0 ? [hashing.decoy] : decoyByHash.values());
  };
  return async (password: string, account: Account | undefined): Promise<boolean> => {
    renew();
    const own = hashOf(account) ?? hashing.decoy;
    const ownDecoy = decoyByHash.get(own);
    for (const decoy of decoys) {
      if (await hashing.verify(password, decoy === ownDecoy ? own : decoy)) return true;
    }
    return false;
  };
}
