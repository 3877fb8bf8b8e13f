import type { Clock } from '../clock.ts';
import type { Reply, Request } from '../http/message.ts';
import type { Known } from '../judged-call.ts';
import type { Answer } from '../observer.ts';
import type { Fault } from './faults-declaration.ts';
import type { Match } from './match.ts';
import type { Stateful } from './stateful.ts';

/** A fault that was planned. */
export interface PlannedFault {
  readonly match: Match;
  readonly fault: Fault;
  /** How many requests it is still for; Infinity for always. */
  readonly left: number;
  /** How many requests it has met. */
  readonly met: number;
  /** Takes it back. */
  cancel(): void;
}

/**
 * What goes wrong on purpose. The first plan that a request fits is carried out, and no other. Time is the host's: a
 * client's timeout waits for that one, too.
 */
export interface Faults {
  /**
   * For the next request that fits.
   * @example double.faults.next({ method: 'GET' }, { status: 503, retryAfter: 2 });
   */
  next(match: Match, fault: Fault): PlannedFault;
  /** For the next `count` requests that fit. */
  times(count: number, match: Match, fault: Fault): PlannedFault;
  /** For every request that fits, until it is taken back. */
  always(match: Match, fault: Fault): PlannedFault;
  /** Takes back all that is planned. What is under way goes on. */
  clear(): void;
  /** What was planned for requests that have not all come; of `always`, what none has met. */
  pending(): readonly PlannedFault[];
}

/** What faults need of the double that they are of. */
export interface FaultsOptions {
  readonly clock: Clock;
  /** Gives the user another secret and another password. */
  readonly rotateSecret?: (user: string) => void;
  /** Ends the token that a request carries. */
  readonly expireToken?: (request: Request) => void | Promise<void>;
  /** Has new connections over TLS be shown this certificate. */
  readonly present?: (certificate: 'good' | 'stale') => void;
}

/** Faults with what the double does with them. */
export interface FaultsPart extends Stateful {
  readonly faults: Faults;
  /** What the service goes by: `clock`, but for a request with a skewed date. */
  readonly clock: Clock;
  /** Whether the nonce that is being claimed is one of a request whose nonce counts as seen. Asked by who keeps nonces. */
  burnsNonce(): boolean;
  /** Has a request answered, with the fault that is planned for it. */
  handle(request: Request, known: Known, answer: Answer): Promise<Answered>;
  /** To be told of each connection over TLS that got its certificate. */
  connected(): void;
  /** What `fetch` throws where a request over TLS would have met a stale certificate; counts as a connection. */
  connect(): TypeError | undefined;
  /** Throws an Error that lists what is pending, if there is any. */
  assertMet(): void;
  /** Ends what is delayed. */
  close(): void;
}

/** A reply, and what went wrong on purpose with it. */
export interface Answered {
  readonly reply: Reply;
  readonly fault: Fault | undefined;
}
