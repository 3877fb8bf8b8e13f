import { Problem } from '../http/problem.ts';
import { formatIpAddress, isMapped, masked, parseIpAddress } from '../http/syntax/ip-address.ts';
import { setImmediate } from '../timers.ts';
import type { RateLimiter } from './rate-limit.ts';

/** Hashes that are computed at a time, of the four threads that Node.js has; gzip takes one (`gzip-queue.ts`), files have the rest. */
const atOnce = 2;
/** Requests that wait for that. */
const room = 64;
/** Networks whose attempts are counted; further ones are not. */
const mostCounted = 100_000;
/** Bits of an IPv6 network that one organization is given (RFC 6177 §2). */
const organizationBits = 48;
/** Seconds after which somebody who found no room may try again. */
const crowdedFor = 2;

/** What became of an attempt: whether it was right; or it was not made for want of room, or because its peer is blocked. */
export type HashAttempt = boolean | 'crowded' | 'blocked';

/** How much is let in. */
export interface QueueOptions {
  /** Attempts that are made at a time. */
  readonly atOnce: number;
  /** Attempts that may wait. */
  readonly room: number;
  /** Whether an attempt of this peer is still made, while so many of its others are under way. */
  readonly allows: (peer: string, underway: number) => boolean;
  /** The network of a peer; each peer is its own network where this is left out. */
  readonly networkOf?: (peer: string) => string;
}

interface Attempt {
  readonly peer: string;
  readonly network: string;
  readonly make: () => Promise<boolean>;
  readonly settle: (result: HashAttempt | Promise<boolean>) => void;
}

/**
 * Makes expensive attempts a few at a time. Peers take turns. Where there is no room, the network with the most attempts since
 * the queue was last empty gives way to one with fewer; successful attempts are not counted. Strangers who fill the queue have
 * tried before, and a user who logs in for the first time has not, so that user is admitted.
 *
 * Nothing here depends on whether a user is known. A share reserved for known users would show which names these are: by
 * refusals, by the time until a response, or, if both were the same, by the load on the other threads.
 */
export class HashQueue {
  readonly #options: QueueOptions;
  /** By peer, whose turn is next first. */
  readonly #waiting = new Map<string, Attempt[]>();
  readonly #underway = new Map<string, number>();
  /** Attempts by network since the queue was last empty, without the successful ones. */
  readonly #tried = new Map<string, number>();
  readonly #results = new Map<string, Promise<HashAttempt>>();
  /** Peers of attempts that are through, but whose failure may not be counted yet. */
  readonly #leaving: string[] = [];
  #waitingCount = 0;
  #underwayCount = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Makes the attempt when its turn comes. Attempts of a peer that have the same `key` share one. */
  attempt(peer: string, key: string, make: () => Promise<boolean>): Promise<HashAttempt> {
    const name = `${peer} ${key}`;
    const shared = this.#results.get(name);
    if (shared !== undefined) return shared;
    const network = this.#options.networkOf?.(peer) ?? peer;
    const result = new Promise<HashAttempt>((settle) => this.#enter({ peer, network, make, settle }));
    this.#results.set(name, result);
    const forget = (): boolean => this.#results.delete(name);
    result.then(forget, forget);
    this.#proceed();
    return result;
  }

  #enter(attempt: Attempt): void {
    const own = this.#waiting.get(attempt.peer) ?? [];
    const tried = this.#count(attempt.network, 1);
    if (this.#waitingCount >= this.#options.room && !this.#makeRoomFor(tried, own.length)) {
      attempt.settle('crowded');
      return;
    }
    own.push(attempt);
    this.#waiting.set(attempt.peer, own);
    this.#waitingCount += 1;
  }

  /** Changes the number of attempts of a network, and returns it. */
  #count(network: string, change: number): number {
    const count = (this.#tried.get(network) ?? 0) + change;
    if (count <= 0) this.#tried.delete(network);
    else if (this.#tried.has(network) || this.#tried.size < mostCounted) this.#tried.set(network, count);
    return count;
  }

  /**
   * Refuses the latest waiting attempt of the network with the most attempts, and of its peer with the most waiting.
   * @param tried attempts of the network that needs room
   * @param own attempts of the peer that wait already
   * @returns whether there was one that has to give way
   */
  #makeRoomFor(tried: number, own: number): boolean {
    let most: Attempt[] = [];
    let mostTried = tried;
    for (const attempts of this.#waiting.values()) {
      const count = this.#tried.get(attempts[0]?.network ?? '') ?? 0;
      const more = count === mostTried && attempts.length > Math.max(most.length, own + 1);
      if (count > mostTried || more) [most, mostTried] = [attempts, count];
    }
    const last = most.pop();
    if (last === undefined) return false;
    if (most.length === 0) this.#waiting.delete(last.peer);
    last.settle('crowded');
    this.#waitingCount -= 1;
    return true;
  }

  #proceed(): void {
    while (this.#underwayCount < this.#options.atOnce) {
      const next = this.#take();
      if (next === undefined) return;
      if (this.#options.allows(next.peer, this.#underway.get(next.peer) ?? 0)) this.#make(next);
      else next.settle('blocked');
    }
  }

  #take(): Attempt | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const [peer, attempts] = first;
    const next = attempts.shift();
    this.#waitingCount -= 1;
    this.#waiting.delete(peer);
    if (attempts.length > 0) this.#waiting.set(peer, attempts);
    return next;
  }

  #make({ peer, network, make, settle }: Attempt): void {
    this.#underwayCount += 1;
    this.#underway.set(peer, (this.#underway.get(peer) ?? 0) + 1);
    const made = make();
    settle(made);
    const leave = (): void => this.#leave(peer);
    made.then((right) => {
      if (right) this.#count(network, -1);
      leave();
    }, leave);
  }

  /** Who waits for a result counts a failure first; were the next attempt let in before, it would not know of it. */
  #leave(peer: string): void {
    if (this.#leaving.length === 0) setImmediate(() => this.#left());
    this.#leaving.push(peer);
  }

  /** All that are through at once, so that none is counted as a failure and as under way too. */
  #left(): void {
    for (const peer of this.#leaving.splice(0)) {
      this.#underwayCount -= 1;
      const left = (this.#underway.get(peer) ?? 1) - 1;
      if (left === 0) this.#underway.delete(peer);
      else this.#underway.set(peer, left);
    }
    if (this.#waitingCount === 0) this.#tried.clear();
    this.#proceed();
  }
}

/** Makes the queue in which all of a service's passwords and secrets wait to be hashed, whoever presents them. */
export function createHashQueue(rateLimiter: RateLimiter): HashQueue {
  const allows = (peer: string, underway: number): boolean => !rateLimiter.blocksPeer(peer, underway);
  return new HashQueue({ atOnce, room, allows, networkOf });
}

/** The network that a peer is counted with: of IPv6 what one organization is given, of IPv4 the address. */
function networkOf(peer: string): string {
  const address = peer.includes(':') ? parseIpAddress(peer) : undefined;
  if (address === undefined || isMapped(address)) return peer;
  return formatIpAddress(masked(address, organizationBits));
}

/** What an attempt is answered for which there was no room; `what` is to be checked. */
export function queueFull(what: 'passwords' | 'secrets'): Problem {
  return new Problem('too-many-attempts', `Too many ${what} wait to be checked.`, {
    fields: [['Retry-After', String(crowdedFor)]],
  });
}
