import type { Clock } from '../clock.ts';
import { Problem } from '../http/problem.ts';
import { formatIpAddress, isMapped, masked, parseIpAddress } from '../http/syntax/ip-address.ts';

const minute = 60_000;

/** How many peers and names are counted at most in a minute; more are let pass uncounted. */
const mostCounted = 100_000;

/** What one subscriber is given of IPv6 at least (RFC 6177 §2): within it an attacker has as many addresses as he likes. */
const subscriberBits = 64;

/** Counts failed authentications and malformed attempts by the minute: by peer, and failed ones by user too. */
export interface RateLimiter {
  /** Counts one failure of this peer, and of the user that it claimed to be. */
  fail(peer: string, user: string | undefined): void;
  /**
   * Whether the peer has failed too often: nothing that it sends is looked at. `underway` are those of its attempts
   * whose outcome is still open: they may all fail.
   */
  blocksPeer(peer: string, underway?: number): boolean;
  /** Whether the user has: then wrong credentials are not told why, and right ones still pass. */
  blocksUser(user: string): boolean;
  /** Whole seconds until the count begins anew. */
  retryAfter(): number;
}

/**
 * Makes a throttle that blocks after `limit` failures within a minute of time as it passes; 0 never blocks.
 * Throws RangeError for a limit that is no whole number from 0.
 */
export function createRateLimiter(limit: number, clock: Clock): RateLimiter {
  if (!Number.isInteger(limit) || limit < 0)
    throw new RangeError('the limit of failed authentications is not a whole number from 0');
  const peers = new Map<string, number>();
  const users = new Map<string, number>();
  let current = minuteOf(clock);

  const turn = (): void => {
    const now = minuteOf(clock);
    if (now === current) return;
    current = now;
    peers.clear();
    users.clear();
  };
  const count = (counts: Map<string, number>, key: string): void => {
    const before = counts.get(key);
    if (before !== undefined || counts.size < mostCounted) counts.set(key, (before ?? 0) + 1);
  };
  return {
    fail(peer, user) {
      if (limit === 0) return;
      turn();
      count(peers, rateLimitKey(peer));
      if (user !== undefined) count(users, user);
    },
    blocksPeer(peer, underway = 0) {
      if (limit === 0 || (peers.size === 0 && underway === 0)) return false;
      turn();
      return (peers.get(rateLimitKey(peer)) ?? 0) + underway >= limit;
    },
    blocksUser(user) {
      if (limit === 0 || users.size === 0) return false;
      turn();
      return (users.get(user) ?? 0) >= limit;
    },
    retryAfter: () => Math.max(1, Math.ceil(((minuteOf(clock) + 1) * minute - clock.steady()) / 1000)),
  };
}

/** Not by the time of day: setting that would forgive all failures. */
function minuteOf(clock: Clock): number {
  return Math.floor(clock.steady() / minute);
}

/** The name under which a peer is counted: its address, of IPv6 the network that one subscriber is given. */
export function rateLimitKey(peer: string): string {
  if (!peer.includes(':')) return peer;
  const address = parseIpAddress(peer);
  if (address === undefined) return peer;
  return formatIpAddress(isMapped(address) ? address : masked(address, subscriberBits));
}

/** The refusal of a peer or a user that failed too often. */
export function tooManyFailures(rateLimiter: RateLimiter): Problem {
  return new Problem('too-many-failures', 'Too many authentications failed within this minute.', {
    fields: [['Retry-After', String(rateLimiter.retryAfter())]],
  });
}
