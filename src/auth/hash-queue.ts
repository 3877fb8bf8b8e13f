import { Problem } from '../http/problem.ts';
import { setImmediate } from '../timers.ts';
import type { Throttle } from './throttle.ts';

/** Hashes that are computed at a time: of the four threads that Node.js has for such work, two stay free for files. */
const atOnce = 2;
/** Requests that wait for that. */
const room = 64;
/** Seconds after which somebody who found no room may try again. */
const crowdedFor = 2;

/** What became of an attempt: whether it was right; or it was not made for want of room, or because its peer is blocked. */
export type Attempted = boolean | 'crowded' | 'blocked';

/** How much is let in. */
export interface QueueOptions {
  /** Attempts that are made at a time. */
  readonly atOnce: number;
  /** Attempts that may wait. */
  readonly room: number;
  /** Whether an attempt of this peer is still made, while so many of its others are under way. */
  readonly allows: (peer: string, underway: number) => boolean;
}

interface Attempt {
  readonly peer: string;
  readonly make: () => Promise<boolean>;
  readonly settle: (result: Attempted | Promise<boolean>) => void;
}

/**
 * Lets expensive attempts through a few at a time. Peers take turns, and where there is no room the peer with the most
 * waiting gives way, so that one that floods the server holds up itself.
 */
export class HashQueue {
  readonly #options: QueueOptions;
  /** By peer, whose turn is next first. */
  readonly #waiting = new Map<string, Attempt[]>();
  readonly #underway = new Map<string, number>();
  readonly #results = new Map<string, Promise<Attempted>>();
  /** Peers of attempts that are through, but whose failure may not be counted yet. */
  readonly #leaving: string[] = [];
  #waitingCount = 0;
  #underwayCount = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Makes the attempt when its turn comes. Attempts of a peer that have the same `key` share one. */
  attempt(peer: string, key: string, make: () => Promise<boolean>): Promise<Attempted> {
    const name = `${peer} ${key}`;
    const shared = this.#results.get(name);
    if (shared !== undefined) return shared;
    const result = new Promise<Attempted>((settle) => this.#enter({ peer, make, settle }));
    this.#results.set(name, result);
    const forget = (): boolean => this.#results.delete(name);
    result.then(forget, forget);
    this.#proceed();
    return result;
  }

  #enter(attempt: Attempt): void {
    const own = this.#waiting.get(attempt.peer) ?? [];
    if (this.#waitingCount >= this.#options.room && !this.#makeRoomFor(own.length)) {
      attempt.settle('crowded');
      return;
    }
    own.push(attempt);
    this.#waiting.set(attempt.peer, own);
    this.#waitingCount += 1;
  }

  /** Turns away the latest attempt of the peer with the most, if that is not about as many as who asks has. */
  #makeRoomFor(own: number): boolean {
    let most: Attempt[] = [];
    for (const attempts of this.#waiting.values()) if (attempts.length > most.length) most = attempts;
    if (most.length <= own + 1) return false;
    most.pop()?.settle('crowded');
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

  #make({ peer, make, settle }: Attempt): void {
    this.#underwayCount += 1;
    this.#underway.set(peer, (this.#underway.get(peer) ?? 0) + 1);
    const made = make();
    settle(made);
    const leave = (): void => this.#leave(peer);
    made.then(leave, leave);
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
    this.#proceed();
  }
}

/** Makes the queue in which all of a service's passwords and secrets wait to be hashed, whoever presents them. */
export function createHashQueue(throttle: Throttle): HashQueue {
  return new HashQueue({ atOnce, room, allows: (peer, underway) => !throttle.blocksPeer(peer, underway) });
}

/** What an attempt is answered for which there was no room; `what` is to be checked. */
export function crowded(what: 'passwords' | 'secrets'): Problem {
  return new Problem('too-many-attempts', `Too many ${what} wait to be checked.`, {
    fields: [['Retry-After', String(crowdedFor)]],
  });
}
