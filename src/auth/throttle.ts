import type { Clock } from '../clock.ts';

const minute = 60_000;

/** How many peers and names are counted at most in a minute; more are let pass uncounted. */
const mostCounted = 100_000;

/** Counts failed authentications by the minute, by peer and by user. */
export interface Throttle {
  /** Counts one failure of this peer, and of the user that it claimed to be. */
  fail(peer: string, user: string | undefined): void;
  /** Whether the peer has failed too often: nothing that it sends is looked at. */
  blocksPeer(peer: string): boolean;
  /** Whether the user has: then wrong credentials are not told why, and right ones still pass. */
  blocksUser(user: string): boolean;
  /** Whole seconds until the count begins anew. */
  retryAfter(): number;
}

/** Makes a throttle that blocks after `limit` failures within a minute of the clock; 0 never blocks. */
export function createThrottle(limit: number, clock: Clock): Throttle {
  const peers = new Map<string, number>();
  const users = new Map<string, number>();
  let current = Math.floor(clock.now() / minute);

  const turn = (): void => {
    const now = Math.floor(clock.now() / minute);
    if (now === current) return;
    current = now;
    peers.clear();
    users.clear();
  };
  const count = (counts: Map<string, number>, key: string): void => {
    const before = counts.get(key);
    if (before !== undefined || counts.size < mostCounted) counts.set(key, (before ?? 0) + 1);
  };
  const blocks = (counts: Map<string, number>, key: string): boolean => {
    if (limit === 0) return false;
    turn();
    return (counts.get(key) ?? 0) >= limit;
  };
  return {
    fail(peer, user) {
      turn();
      count(peers, peer);
      if (user !== undefined) count(users, user);
    },
    blocksPeer: (peer) => blocks(peers, peer),
    blocksUser: (user) => blocks(users, user),
    retryAfter: () => Math.max(1, Math.ceil(((current + 1) * minute - clock.now()) / 1000)),
  };
}
