import type { Clock } from '../clock.ts';
import { Problem } from '../http/problem.ts';
import { formatIpAddress, isMapped, masked, parseIpAddress } from '../http/syntax/ip-address.ts';

const minute = 60_000;

/** Maximum number of peers and of names counted in a minute. Further ones are not counted. */
const maxCounted = 100_000;

/** Prefix length of the smallest IPv6 network of a subscriber (RFC 6177 §2), who can use any address in it. */
const subscriberBits = 64;

/** Counts failed authentications and malformed credentials per minute: by peer, and failed ones also by user. */
export interface RateLimiter {
  /** Counts one failure of a peer, and of the user that it claimed to be. */
  fail(peer: string, user: string | undefined): void;
  /**
   * Returns whether a peer has failed too often. Its credentials are then not examined.
   *
   * @param active Attempts of the peer in progress, counted as failures. Default: 0.
   */
  blocksPeer(peer: string, active?: number): boolean;
  /** Returns whether a user has failed too often. Wrong credentials are then refused with 429; right ones are still accepted. */
  blocksUser(user: string): boolean;
  /** Returns whole seconds until the counts are reset. */
  retryAfter(): number;
}

/**
 * Creates a rate limiter that blocks after `limit` failures within one minute of the steady clock; 0: no limit. Throws RangeError
 * if `limit` is not an integer of at least 0.
 */
export function createRateLimiter(limit: number, clock: Clock): RateLimiter {
  if (!Number.isInteger(limit) || limit < 0)
    throw new RangeError('the limit of failed authentications must be an integer of at least 0');
  const peers = new Map<string, number>();
  const users = new Map<string, number>();
  let current = minuteOf(clock);

  const resetIfElapsed = (): void => {
    const now = minuteOf(clock);
    if (now === current) return;
    current = now;
    peers.clear();
    users.clear();
  };
  const count = (counts: Map<string, number>, key: string): void => {
    const before = counts.get(key);
    if (before !== undefined || counts.size < maxCounted) counts.set(key, (before ?? 0) + 1);
  };
  return {
    fail(peer, user) {
      if (limit === 0) return;
      resetIfElapsed();
      count(peers, rateLimitKey(peer));
      if (user !== undefined) count(users, user);
    },
    blocksPeer(peer, active = 0) {
      if (limit === 0 || (peers.size === 0 && active === 0)) return false;
      resetIfElapsed();
      return (peers.get(rateLimitKey(peer)) ?? 0) + active >= limit;
    },
    blocksUser(user) {
      if (limit === 0 || users.size === 0) return false;
      resetIfElapsed();
      return (users.get(user) ?? 0) >= limit;
    },
    retryAfter: () => Math.max(1, Math.ceil(((minuteOf(clock) + 1) * minute - clock.steady()) / 1000)),
  };
}

/** Uses the steady clock, because setting the wall clock would reset all counts. */
function minuteOf(clock: Clock): number {
  return Math.floor(clock.steady() / minute);
}

/** Returns the key under which a peer is counted: its address, or for IPv6 the network of a subscriber. */
export function rateLimitKey(peer: string): string {
  if (!peer.includes(':')) return peer;
  const address = parseIpAddress(peer);
  if (address === undefined) return peer;
  return formatIpAddress(isMapped(address) ? address : masked(address, subscriberBits));
}

/** Returns the Problem (429) for a peer or user that has failed too often. */
export function tooManyFailures(rateLimiter: RateLimiter): Problem {
  return new Problem('too-many-failures', 'Too many failed authentications within one minute.', {
    fields: [['Retry-After', String(rateLimiter.retryAfter())]],
  });
}
