import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../clock.ts';
import type { Request, Response } from '../../http/message.ts';
import type { RequestTrace } from '../../pipeline/call.ts';
import type { Next } from '../../pipeline/observer.ts';
import { claimedUser } from '../claimed-user.ts';
import { describeMatch, type Match } from '../match.ts';
import type { Snapshottable } from '../state/snapshot.ts';
import type { Fault } from './declaration.ts';
import { Delays } from './delays.ts';
import { connectionRefusal } from './in-process.ts';
import { type Plan, type PlanRecord, Plans } from './plans.ts';
import { corrupted, noResponse, substituteResponse, withoutConditions } from './response.ts';

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
  /** All that is planned for requests to come. */
  planned(): readonly PlannedFault[];
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
export interface FaultsPart extends Snapshottable<readonly PlanRecord[]> {
  readonly faults: Faults;
  /** The clock that the service goes by: `clock`, ahead by the skew while a request with a skewed date is judged. */
  readonly clock: Clock;
  /** Whether the nonce that is being claimed belongs to a request whose nonce counts as seen. */
  burnsNonce(): boolean;
  /** Has `answer` reply to a request, and carries out the fault that is planned for it. */
  intercept(request: Request, trace: RequestTrace, answer: Next): Promise<InterceptedResponse>;
  /** To be called for each new connection over TLS; gives whether it was presented a stale certificate. */
  connected(): boolean;
  /** What `fetch` throws where a request over TLS would have met a stale certificate; counts as a connection. */
  connect(): TypeError | undefined;
  /** Throws an Error that lists what is pending, if there is any. */
  assertMet(): void;
  /** Keeps the process alive for the delays while a caller in this process waits for `response`, which it returns. */
  awaited<T>(response: Promise<T>): Promise<T>;
  /** Ends all delays. */
  close(): void;
}

/** A reply, and what went wrong on purpose with it. */
export interface InterceptedResponse {
  readonly reply: Response;
  readonly fault: Fault | undefined;
  /** Whether the server has judged the request. */
  readonly acted: boolean;
}

/** What a fault changes while one request is judged. */
interface Circumstances {
  /** How far the clock is ahead (ms). */
  readonly skew: number;
  readonly burns: boolean;
}

/** Makes the faults of a double. */
export function createFaults(options: FaultsOptions): FaultsPart {
  const { clock, present } = options;
  const plans = new Plans();
  const delays = new Delays();
  const circumstances = new AsyncLocalStorage<Circumstances>();
  let presented: 'good' | 'stale' = 'good';

  const presentCertificate = (): void => {
    const due = plans.stale ? 'stale' : 'good';
    if (due === presented) return;
    presented = due;
    present?.(due);
  };
  const shown = (plan: Plan): PlannedFault =>
    plannedOf(plan, () => {
      plans.remove(plan);
      presentCertificate();
    });
  const add = (count: number, match: Match, fault: Fault): PlannedFault => {
    checkPossible(fault, options);
    const plan = plans.add(match, fault, count);
    presentCertificate();
    return shown(plan);
  };
  const connected = (): boolean => {
    const met = plans.takeConnection() !== undefined;
    presentCertificate();
    return met;
  };
  const pending = (): readonly PlannedFault[] => plans.pending().map(shown);

  const judged = (request: Request, trace: RequestTrace, answer: Next, fault: Fault): Promise<Response> => {
    const asked = fault.malformedXml === true ? withoutConditions(request) : request;
    const { skewedDate: skew = 0, nonceSeen: burns = false } = fault;
    if (skew === 0 && !burns) return answer(asked, trace);
    return circumstances.run({ skew, burns }, () => answer(asked, trace));
  };
  const carryOut = async (
    plan: Plan,
    request: Request,
    trace: RequestTrace,
    answer: Next,
  ): Promise<InterceptedResponse> => {
    const { fault } = plan;
    const { delay, before = false, status } = fault;
    await changeCredentials(fault, request, options);
    if (delay !== undefined && before) await delays.wait(delay);
    if (before && fault.reset === 'before') return { reply: noResponse, fault, acted: false };
    const acted = status === undefined;
    const reply = acted
      ? await judged(request, trace, answer, fault)
      : substituteResponse({ ...fault, status }, clock.now());
    if (delay !== undefined && !before) await delays.wait(delay);
    const marred = corrupted(reply, fault);
    if (marred === undefined) plans.giveBack(plan);
    return { reply: marred ?? reply, fault: marred && fault, acted };
  };

  return {
    faults: {
      next: (match, fault) => add(1, match, fault),
      times: (count, match, fault) => add(count, match, fault),
      always: (match, fault) => add(Number.POSITIVE_INFINITY, match, fault),
      clear() {
        plans.clear();
        presentCertificate();
      },
      planned: () => plans.left().map(shown),
      pending,
    },
    clock: {
      now: () => clock.now() + (circumstances.getStore()?.skew ?? 0),
      steady: () => clock.steady(),
    },
    burnsNonce: () => circumstances.getStore()?.burns ?? false,
    async intercept(request, trace, answer) {
      const plan = plans.take(request);
      if (plan !== undefined) return carryOut(plan, request, trace, answer);
      return { reply: await answer(request, trace), fault: undefined, acted: true };
    },
    connected,
    connect: () => (connected() ? connectionRefusal() : undefined),
    assertMet() {
      const left = pending();
      if (left.length > 0) throw new Error(unmet(left));
    },
    awaited: (response) => delays.awaited(response),
    close: () => delays.end(),
    snapshot: () => plans.snapshot(),
    restore(snapshot) {
      plans.restore(snapshot);
      presentCertificate();
    },
    reset() {
      plans.clear();
      delays.end();
      presentCertificate();
    },
  };
}

function plannedOf(plan: Plan, cancel: () => void): PlannedFault {
  const { match, fault } = plan;
  return {
    match,
    fault,
    get left() {
      return plan.left;
    },
    get met() {
      return plan.met;
    },
    cancel,
  };
}

/** Throws RangeError on a fault for which the double has nothing that could go wrong. */
function checkPossible(fault: Fault, { rotateSecret, expireToken, present }: FaultsOptions): void {
  const missing =
    (fault.rotatedSecret === true && rotateSecret === undefined && 'rotatedSecret') ||
    (fault.expiredToken === true && expireToken === undefined && 'expiredToken') ||
    (fault.staleCertificate === true && present === undefined && 'staleCertificate');
  if (missing !== false) throw new RangeError(`${missing} is a fault that this double cannot have`);
}

async function changeCredentials(fault: Fault, request: Request, options: FaultsOptions): Promise<void> {
  const user = fault.rotatedSecret === true ? claimedUser(request) : undefined;
  if (user !== undefined) options.rotateSecret?.(user);
  if (fault.expiredToken === true) await options.expireToken?.(request);
}

function unmet(left: readonly PlannedFault[]): string {
  const lines = left.map(({ match, fault, left: count, met }) => {
    const still = Number.isFinite(count) ? `${count} more` : 'any';
    return `  ${describeMatch(match)}: ${Object.keys(fault).join(', ')} (met ${met}, waits for ${still})`;
  });
  return ['These faults were planned and not met:', ...lines].join('\n');
}
