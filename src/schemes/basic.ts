import crypto from 'node:crypto';
import type { Account, Accounts } from '../accounts/accounts.ts';
import { blockedAttempt, type HashQueue, queueFull } from '../accounts/hash-queue.ts';
import { type RateLimiter, rateLimitKey, refusePair } from '../accounts/rate-limit.ts';
import { SigningKey } from '../hmac-sha256.ts';
import { formatChallenge } from '../http/headers/authorization.ts';
import {
  type BasicCredentials,
  describeMalformedBasic,
  parseBasicCredentials,
  preparePassword,
} from '../http/headers/basic-credentials.ts';
import { isConfidential } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import { octetsOf, toOctets } from '../http/syntax/octets.ts';
import { describeSentForm, undoChanges } from './explain/sent-keys.ts';
import { describeUnknown } from './known-secrets.ts';
import { basicScheme } from './sent-credentials.ts';
import type { AuthenticationTrace, TraceKnowledge } from './trace.ts';
import type { Verdict, Verifier } from './verifier.ts';

/** How passwords are hashed. */
export interface PasswordHashing {
  /** Resolves to whether a password matches a hash. */
  verify(password: string, hash: string): Promise<boolean>;
  /**
   * Returns a hash that no password matches and that takes as long to verify as `hash`. Hashes of equal cost have the same
   * decoy.
   */
  buildDecoy(hash: string): string;
  /** The decoy if no account has a hash. */
  readonly decoy: string;
}

/** Options of the scheme. */
interface BasicOptions {
  readonly realm: string;
  readonly accounts: Accounts;
  readonly hashing: PasswordHashing;
  /** Queue in which passwords wait to be hashed. */
  readonly queue: HashQueue;
  readonly rateLimiter: RateLimiter;
  /** 32 random bytes: the key of the digests of verified passwords. */
  readonly key: Uint8Array;
  /** Whether errors explain what the server checked. */
  readonly explain: boolean;
}

/**
 * Creates the verifier of Basic (RFC 7617). A verified password is cached as a keyed digest until its account changes. Any other
 * password takes the same time, whether the user exists or not, with or without a password: one hash for each cost that a stored
 * hash has.
 */
export function createBasicVerifier(options: BasicOptions): Verifier {
  const { accounts, queue, rateLimiter } = options;
  const cache = createPasswordCache(options.key);
  const verify = createVerification(options);
  const challenge = formatChallenge('Basic', [
    ['realm', options.realm],
    ['charset', 'UTF-8'],
  ]);

  const verifyCredentials = (
    presented: BasicCredentials,
    account: Account | undefined,
    peer: string,
    authTrace: AuthenticationTrace | undefined,
  ): Verdict | Promise<Verdict> => {
    authTrace?.pass('parse');
    const digest = cache.computeDigest(presented);
    if (cache.holds(account, digest)) return acceptUser(account, authTrace);
    return verifyUncached(presented, account, digest, peer, authTrace);
  };

  const verifyUncached = async (
    { user, password }: BasicCredentials,
    account: Account | undefined,
    digest: Buffer,
    peer: string,
    authTrace: AuthenticationTrace | undefined,
  ): Promise<Verdict> => {
    // The key includes the hash, so that a request after a change of users does not share an earlier result.
    const key = `${octetsOf(digest)} ${findHash(account)}`;
    const right = await queue.attempt(
      rateLimitKey(peer),
      key,
      async () =>
        // Another request may have verified the same password meanwhile.
        cache.holds(account, digest) || (await verify(password, account)),
      user,
    );
    if (right === 'full') return { outcome: 'bad', problem: queueFull('passwords') };
    if (right === 'blocked') return { outcome: 'bad', problem: blockedAttempt(rateLimiter, peer) };
    // The user may have been changed or removed meanwhile.
    const present = right ? await accounts.findComposed(user) : undefined;
    if (present === undefined || findHash(present) !== findHash(account)) {
      if (account !== undefined) authTrace?.pass('user');
      authTrace?.fail(account === undefined ? 'user' : 'password', () => {
        const hint = authTrace.knowledge && findMistake({ user, password }, authTrace.knowledge);
        return hint === undefined ? {} : { hint };
      });
      // The response does not reveal whether the user exists.
      return refuse(user, options.explain ? { check: 'password' } : {});
    }
    cache.keep(present, digest);
    return acceptUser(present, authTrace);
  };

  return {
    ...basicScheme,
    authenticate({ connection }, rest = '', authTrace) {
      const presented = parseBasicCredentials(rest);
      if (typeof presented === 'string') return refuseMalformed(presented, rest, options.explain, authTrace);
      const blocked = refusePair(rateLimiter, connection.peer, presented.user);
      if (blocked !== undefined) return { outcome: 'bad', problem: blocked };
      const found = accounts.findComposed(presented.user);
      return found === undefined || 'name' in found
        ? verifyCredentials(presented, found, connection.peer, authTrace)
        : found.then((account) => verifyCredentials(presented, account, connection.peer, authTrace));
    },
    challenge: (connection) => (isConfidential(connection) ? challenge : undefined),
  };
}

function acceptUser({ name }: Account, authTrace: AuthenticationTrace | undefined): Verdict {
  authTrace?.pass('user');
  authTrace?.pass('password');
  return { outcome: 'good', principal: { name, scheme: 'basic' } };
}

function refuse(user: string, members: Readonly<Record<string, string>>): Verdict {
  const problem = new Problem('credentials-refused', 'The user or the password is wrong.', { members });
  return { outcome: 'bad', problem, claimed: user };
}

/** Returns the mistake in a wrong user or password, with all that a test double knows. */
function findMistake({ user, password }: BasicCredentials, knowledge: TraceKnowledge): string | undefined {
  if (!knowledge.userNames.includes(user)) return describeUnknown('user', user, knowledge);
  const known = knowledge.secrets.filter(({ owner, secret }) => owner === 'user' && secret === password);
  const own = known.find(({ name }) => name === user);
  if (own !== undefined && !own.isPassword) return `the secret of ${user} was sent instead of the password`;
  if (own !== undefined) return `a former password of ${user} was sent`;
  const [other] = known;
  if (other !== undefined) return `the password or secret of another user, ${other.name}, was sent`;
  const secrets = knowledge.secrets.filter(({ name }) => name === user).map(({ secret }) => secret);
  for (const [hint, meant] of undoChanges(password, 'password')) if (secrets.includes(meant)) return hint;
  return describeSentForm(password, 'password');
}

/** Refuses credentials that cannot be read. The hint contains nothing of what was sent. */
function refuseMalformed(
  fault: string,
  sent: string,
  explain: boolean,
  authTrace: AuthenticationTrace | undefined,
): Verdict {
  const detail = `${fault}.`;
  const hint = describeMalformedBasic(sent);
  const members = hint === undefined ? {} : { hint };
  authTrace?.fail('parse', { detail, ...members });
  return {
    outcome: 'bad',
    problem: new Problem('malformed-credentials', detail, { members: explain ? members : {} }),
  };
}

function findHash(account: Account | undefined): string | undefined {
  const password = account?.password;
  return password !== undefined && 'hash' in password ? password.hash : undefined;
}

/** Digests of passwords that are known to be right without computing a hash. */
interface PasswordCache {
  computeDigest(presented: BasicCredentials): Buffer;
  holds(account: Account | undefined, digest: Buffer): account is Account;
  keep(account: Account, digest: Buffer): void;
}

function createPasswordCache(key: Uint8Array): PasswordCache {
  const digests = new WeakMap<Account, Buffer>();
  const noDigest = Buffer.alloc(32);
  const signingKey = new SigningKey(key);
  // Neither contains control characters, so the separator is unambiguous.
  const computeDigest = ({ user, password }: BasicCredentials): Buffer => {
    const octets = toOctets(`${user}\0${password}`);
    return Buffer.from(signingKey.digest([octets]), 'base64');
  };
  const keep = (account: Account, digest: Buffer): Buffer => {
    digests.set(account, digest);
    return digest;
  };
  const computeExpectedDigest = (account: Account): Buffer | undefined => {
    const digest = digests.get(account);
    const { name, password } = account;
    if (digest !== undefined || password === undefined || 'hash' in password) return digest;
    const user = name.normalize('NFC');
    return keep(account, computeDigest({ user, password: preparePassword(password.plain) }));
  };
  return {
    computeDigest,
    holds(account, digest): account is Account {
      const expected = account === undefined ? undefined : computeExpectedDigest(account);
      return crypto.timingSafeEqual(expected ?? noDigest, digest) && expected !== undefined;
    },
    keep,
  };
}

/**
 * Creates the function that compares a password with the hash of an account. It computes one hash of each cost, in the same order
 * for every account, with the account's own hash in place of its decoy. So the time does not reveal why the password is wrong.
 */
function createVerification({ accounts, hashing }: BasicOptions) {
  let hashes: readonly string[] = [];
  let decoyByHash = new Map<string, string>();
  let decoys: ReadonlySet<string> = new Set([hashing.decoy]);
  const renew = (): void => {
    if (hashes === accounts.hashes) return;
    hashes = accounts.hashes;
    decoyByHash = new Map(hashes.map((hash) => [hash, hashing.buildDecoy(hash)]));
    decoys = new Set(hashes.length === 0 ? [hashing.decoy] : decoyByHash.values());
  };
  return async (password: string, account: Account | undefined): Promise<boolean> => {
    renew();
    const own = findHash(account) ?? hashing.decoy;
    const ownDecoy = decoyByHash.get(own);
    for (const decoy of decoys) {
      if (await hashing.verify(password, decoy === ownDecoy ? own : decoy)) return true;
    }
    return false;
  };
}
