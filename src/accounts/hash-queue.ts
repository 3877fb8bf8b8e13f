import { Problem } from '../http/problem.ts';
import { formatIpAddress, isMapped, maskAddress, parseIpAddress } from '../http/syntax/ip-address.ts';
import { setImmediate } from '../timers.ts';
import { type RateLimiter, tooManyFailures } from './rate-limit.ts';

/** Hashes computed concurrently. Node.js has four threads by default: gzip uses one (`gzip-queue.ts`), file access the rest. */
const concurrency = 2;
/** Maximum number of waiting requests. */
const capacity = 64;
/** Maximum number of networks whose attempts are counted. */
const maxCounted = 100_000;
/** Prefix length of an IPv6 network of one organization (RFC 6177 §2). */
const organizationBits = 48;
/** Retry-After (seconds) of a request that was refused because the queue is full. */
const retryAfterFull = 2;

/** The result of an attempt: whether it was right, or why it was not made: the queue is full, or the peer is blocked. */
export type HashAttempt = boolean | 'full' | 'blocked';

/** Limits of a queue. */
export interface QueueOptions {
  /** Maximum number of concurrent attempts. */
  readonly concurrency: number;
  /** Maximum number of waiting attempts. */
  readonly capacity: number;
  /**
   * Returns whether another attempt of a peer for a user may start while `active` attempts of the peer, `activeForUser` of them for
   * this user, are in progress.
   */
  readonly allows: (peer: string, active: number, user: string, activeForUser: number) => boolean;
  /** Returns the network of a peer. Default: each peer is its own network. */
  readonly findNetwork?: ((peer: string) => string) | undefined;
}

interface Attempt {
  readonly peer: string;
  readonly user: string;
  readonly network: string;
  readonly run: () => Promise<boolean>;
  readonly settle: (result: HashAttempt | Promise<boolean>) => void;
}

/**
 * Runs expensive attempts, a few at a time, with the peers in turn. When the queue is full, a new attempt replaces one of the
 * network with the most attempts since the queue was last empty, if its own network has fewer. Successful attempts are not
 * counted. So attackers that fill the queue cannot keep out a user that logs in for the first time.
 *
 * The queue does not depend on whether a user exists. A share reserved for existing users would reveal their names: by refusals,
 * by response times, or by the load on the other threads.
 */
export class HashQueue {
  readonly #options: QueueOptions;
  /** Waiting attempts by peer. The peer whose turn is next comes first. */
  readonly #waiting = new Map<string, Attempt[]>();
  /** Users of the attempts in progress, by peer. */
  readonly #active = new Map<string, string[]>();
  /** Attempts by network since the queue was last empty, except successful ones. */
  readonly #attempts = new Map<string, number>();
  /** Results of pending attempts, by peer and key. */
  readonly #results = new Map<string, Promise<HashAttempt>>();
  /** Completed attempts whose failure may not be counted yet. */
  readonly #finished: Attempt[] = [];
  #waitingCount = 0;
  #activeCount = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /**
   * Runs an attempt when its turn comes. Concurrent attempts of a peer with the same `key` share one result.
   *
   * @param user The user or client whose password or secret is verified.
   */
  attempt(peer: string, key: string, run: () => Promise<boolean>, user = ''): Promise<HashAttempt> {
    const name = `${peer} ${key}`;
    const shared = this.#results.get(name);
    if (shared !== undefined) return shared;
    const network = this.#options.findNetwork?.(peer) ?? peer;
    const result = new Promise<HashAttempt>((settle) => this.#enter({ peer, user, network, run, settle }));
    this.#results.set(name, result);
    const forget = (): boolean => this.#results.delete(name);
    result.then(forget, forget);
    this.#proceed();
    return result;
  }

  #enter(attempt: Attempt): void {
    const own = this.#waiting.get(attempt.peer) ?? [];
    const networkAttempts = this.#count(attempt.network, 1);
    if (this.#waitingCount >= this.#options.capacity && !this.#evictFor(networkAttempts, own.length)) {
      attempt.settle('full');
      return;
    }
    own.push(attempt);
    this.#waiting.set(attempt.peer, own);
    this.#waitingCount += 1;
  }

  /** Changes the number of attempts of a network, and returns the new number. */
  #count(network: string, change: number): number {
    const count = (this.#attempts.get(network) ?? 0) + change;
    if (count <= 0) this.#attempts.delete(network);
    else if (this.#attempts.has(network) || this.#attempts.size < maxCounted)
      this.#attempts.set(network, count);
    return count;
  }

  /**
   * Evicts the latest waiting attempt of the network with the most attempts; in it, of the peer with the most waiting ones.
   *
   * @param networkAttempts Attempts of the network of the new attempt.
   * @param own Waiting attempts of its peer.
   * @returns Whether an attempt was evicted.
   */
  #evictFor(networkAttempts: number, own: number): boolean {
    let most: Attempt[] = [];
    let maxAttempts = networkAttempts;
    for (const attempts of this.#waiting.values()) {
      const count = this.#attempts.get(attempts[0]?.network ?? '') ?? 0;
      const more = count === maxAttempts && attempts.length > Math.max(most.length, own + 1);
      if (count > maxAttempts || more) [most, maxAttempts] = [attempts, count];
    }
    const last = most.pop();
    if (last === undefined) return false;
    if (most.length === 0) this.#waiting.delete(last.peer);
    last.settle('full');
    this.#waitingCount -= 1;
    return true;
  }

  #proceed(): void {
    while (this.#activeCount < this.#options.concurrency) {
      const next = this.#take();
      if (next === undefined) return;
      if (this.#allows(next)) this.#run(next);
      else next.settle('blocked');
    }
  }

  #allows({ peer, user }: Attempt): boolean {
    const active = this.#active.get(peer) ?? [];
    const activeForUser = active.filter((each) => each === user).length;
    return this.#options.allows(peer, active.length, user, activeForUser);
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

  #run(attempt: Attempt): void {
    const { peer, user, network, run, settle } = attempt;
    this.#activeCount += 1;
    this.#active.set(peer, [...(this.#active.get(peer) ?? []), user]);
    const made = run();
    settle(made);
    const finish = (): void => this.#finish(attempt);
    made.then((right) => {
      if (right) this.#count(network, -1);
      finish();
    }, finish);
  }

  /** Releases the slot of a peer after the caller has counted the failure, so that the next attempt takes it into account. */
  #finish(attempt: Attempt): void {
    if (this.#finished.length === 0) setImmediate(() => this.#releaseFinished());
    this.#finished.push(attempt);
  }

  /** Releases all completed attempts at once, so that none counts both as failed and as active. */
  #releaseFinished(): void {
    for (const { peer, user } of this.#finished.splice(0)) {
      this.#activeCount -= 1;
      const users = this.#active.get(peer) ?? [];
      const left = users.toSpliced(users.indexOf(user), 1);
      if (left.length === 0) this.#active.delete(peer);
      else this.#active.set(peer, left);
    }
    if (this.#waitingCount === 0) this.#attempts.clear();
    this.#proceed();
  }
}

/** Creates the queue in which all passwords and client secrets of a service wait to be hashed. */
export function createHashQueue(rateLimiter: RateLimiter): HashQueue {
  const allows: QueueOptions['allows'] = (peer, active, user, activeForUser) =>
    !rateLimiter.blocksPair(peer, user, activeForUser) && !rateLimiter.blocksPeer(peer, active);
  return new HashQueue({ concurrency, capacity, allows, findNetwork });
}

/** Returns the network of a peer: for IPv6 the network of an organization, for IPv4 the address. */
function findNetwork(peer: string): string {
  const address = peer.includes(':') ? parseIpAddress(peer) : undefined;
  if (address === undefined || isMapped(address)) return peer;
  return formatIpAddress(maskAddress(address, organizationBits));
}

/** Returns the Problem for an attempt that was refused because the queue is full. */
export function queueFull(what: 'passwords' | 'secrets'): Problem {
  return new Problem('too-many-attempts', `Too many ${what} are waiting to be verified.`, {
    headers: [['Retry-After', String(retryAfterFull)]],
  });
}

/** Returns the Problem for an attempt of a peer that was not made because of its failures. */
export function blockedAttempt(rateLimiter: RateLimiter, peer: string): Problem {
  return tooManyFailures(rateLimiter, rateLimiter.blocksPeer(peer) ? 'peer' : 'peer-and-user');
}
