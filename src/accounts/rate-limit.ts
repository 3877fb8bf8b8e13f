import { hash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { Problem } from '../http/problem.ts';
import { formatIpAddress, isMapped, maskAddress, parseIpAddress } from '../http/syntax/ip-address.ts';

const minute = 60_000;

/** Maximum number of peers, of users, and of pairs of both that are counted in a minute. Further ones are not counted. */
const maxCounted = 100_000;

/** Prefix length of the smallest IPv6 network of a subscriber (RFC 6177 §2), who can use any address in it. */
const subscriberBits = 64;

/**
 * Counts failed authentications and malformed credentials per minute: by peer, and failed ones also by user, and by peer and user
 * together. One client with wrong credentials blocks only itself, not the other clients behind the same address.
 */
export interface RateLimiter {
  /** Counts one failure of a peer, and of the user that it claimed to be. */
  fail(peer: string, user: string | undefined): void;
  /**
   * Returns whether a peer has failed too often. Its credentials are then not examined. All failures of the user for which it
   * failed most often count as one: `blocksPair` limits those.
   *
   * @param active Attempts of the peer in progress, counted as failures. Default: 0.
   */
  blocksPeer(peer: string, active?: number): boolean;
  /**
   * Returns whether a peer has failed too often for one user. Credentials of this user from this peer are then not examined.
   *
   * @param active Attempts of the peer for this user in progress, counted as failures. Default: 0.
   */
  blocksPair(peer: string, user: string | undefined, active?: number): boolean;
  /** Returns whether a user has failed too often. Wrong credentials are then refused with 429; right ones are still accepted. */
  blocksUser(user: string): boolean;
  /** Returns whole seconds until the counts are reset. */
  retryAfter(): number;
}

/** The failures of a peer. */
interface PeerFailures {
  total: number;
  /** The failures for the user for which the peer failed most often. */
  maxForOneUser: number;
}

/**
 * Creates a rate limiter that blocks after `limit` failures within one minute of the steady clock; 0: no limit. Throws RangeError
 * if `limit` is not an integer of at least 0.
 */
export function createRateLimiter(limit: number, clock: Clock): RateLimiter {
  if (!Number.isInteger(limit) || limit < 0)
    throw new RangeError('the limit of failed authentications must be an integer of at least 0');
  const peers = new Map<string, PeerFailures>();
  const pairs = new Map<string, number>();
  const users = new Map<string, number>();
  let current = computeMinute(clock);

  const resetIfElapsed = (): void => {
    const now = computeMinute(clock);
    if (now === current) return;
    current = now;
    peers.clear();
    pairs.clear();
    users.clear();
  };
  /** Returns the new count; 0 if it is not counted. */
  const count = (counts: Map<string, number>, key: string): number => {
    const before = counts.get(key);
    if (before === undefined && counts.size >= maxCounted) return 0;
    counts.set(key, (before ?? 0) + 1);
    return (before ?? 0) + 1;
  };
  const countPeer = (key: string, forUser: number): void => {
    const failures = peers.get(key);
    if (failures !== undefined) {
      failures.total += 1;
      failures.maxForOneUser = Math.max(failures.maxForOneUser, forUser);
    } else if (peers.size < maxCounted) peers.set(key, { total: 1, maxForOneUser: forUser });
  };
  return {
    fail(peer, user) {
      if (limit === 0) return;
      resetIfElapsed();
      const key = rateLimitKey(peer);
      countPeer(key, user === undefined ? 0 : count(pairs, pairKey(key, user)));
      if (user !== undefined) count(users, userKey(user));
    },
    blocksPeer(peer, active = 0) {
      if (limit === 0 || (peers.size === 0 && active === 0)) return false;
      resetIfElapsed();
      const { total, maxForOneUser } = peers.get(rateLimitKey(peer)) ?? { total: 0, maxForOneUser: 0 };
      return total - Math.max(0, maxForOneUser - 1) + active >= limit;
    },
    blocksPair(peer, user, active = 0) {
      if (limit === 0 || user === undefined || (pairs.size === 0 && active === 0)) return false;
      resetIfElapsed();
      const key = rateLimitKey(peer);
      // The name is hashed only if the peer has failed, so that other requests do not wait for it.
      if (active === 0 && !peers.has(key)) return false;
      return (pairs.get(pairKey(key, user)) ?? 0) + active >= limit;
    },
    blocksUser(user) {
      if (limit === 0 || users.size === 0) return false;
      resetIfElapsed();
      return (users.get(userKey(user)) ?? 0) >= limit;
    },
    retryAfter: () => Math.max(1, Math.ceil(((computeMinute(clock) + 1) * minute - clock.steady()) / 1000)),
  };
}

/** Uses the steady clock, because setting the wall clock would reset all counts. */
function computeMinute(clock: Clock): number {
  return Math.floor(clock.steady() / minute);
}

/** Returns the key under which a peer is counted: its address, or for IPv6 the network of a subscriber. */
export function rateLimitKey(peer: string): string {
  if (!peer.includes(':')) return peer;
  const address = parseIpAddress(peer);
  if (address === undefined) return peer;
  return formatIpAddress(isMapped(address) ? address : maskAddress(address, subscriberBits));
}

/** Returns the key under which a user is counted. It has a fixed size, because a client may claim a name of tens of kilobytes. */
function userKey(user: string): string {
  return hash('sha256', user, 'base64url');
}

/** Returns the key of a peer and a user. The key of a peer has no space. */
function pairKey(peerKey: string, user: string): string {
  return userKey(`${peerKey} ${user}`);
}

/** The subject whose failures were counted: a peer, a user, or a user at a peer. */
type CountedSubject = 'peer' | 'user' | 'peer-and-user';

const counted: Readonly<Record<CountedSubject, string>> = {
  peer: 'from this address, for several users or with malformed credentials',
  user: 'for this user or client, from several addresses',
  'peer-and-user': 'for this user or client from this address',
};

/** Returns the Problem (429) for a peer, a user or both that have failed too often. It names which of them was counted. */
export function tooManyFailures(rateLimiter: RateLimiter, subject: CountedSubject): Problem {
  const detail = `Too many failed authentications within one minute ${counted[subject]}.`;
  return new Problem('too-many-failures', detail, {
    headers: [['Retry-After', String(rateLimiter.retryAfter())]],
    members: { counted: subject },
  });
}

/** Throws a Problem (429) if a peer has failed too often. Called before its credentials are examined. */
export function requireUnblocked(rateLimiter: RateLimiter, peer: string): void {
  if (rateLimiter.blocksPeer(peer)) throw tooManyFailures(rateLimiter, 'peer');
}

/** Returns a Problem (429) if a peer has failed too often for a user, whose credentials are then not examined. */
export function refusePair(
  rateLimiter: RateLimiter,
  peer: string,
  user: string | undefined,
): Problem | undefined {
  return rateLimiter.blocksPair(peer, user) ? tooManyFailures(rateLimiter, 'peer-and-user') : undefined;
}

/** Counts wrong credentials. Returns the Problem (429) that takes the place of the refusal if the user has failed too often before. */
export function countRefusal(
  rateLimiter: RateLimiter,
  peer: string,
  user: string | undefined,
): Problem | undefined {
  const isBlocked = user !== undefined && rateLimiter.blocksUser(user);
  rateLimiter.fail(peer, user);
  return isBlocked ? tooManyFailures(rateLimiter, 'user') : undefined;
}
