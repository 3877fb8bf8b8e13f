import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../clock.ts';
import { readDuration } from '../../duration.ts';
import type { IncomingRequest, Response } from '../../http/message.ts';
import type { RequestTrace } from '../../pipeline/call.ts';
import type { Next } from '../../pipeline/observer.ts';
import { type ReportError, writeError } from '../callback.ts';
import type { ClaimedUser } from '../claimed-user.ts';
import { DoubleError } from '../error.ts';
import { checkName, type RuleHandle } from '../match.ts';
import type { MatchedRequests, RuleNeeds } from '../matched-requests.ts';
import { ContentNeeded, describeRequestMatch, type RequestMatch } from '../request-match.ts';
import { toMilliseconds } from '../state/clock.ts';
import type { Snapshottable } from '../state/snapshot.ts';
import type { Fault } from './declaration.ts';
import { Delays } from './delays.ts';
import { certificateError } from './in-process.ts';
import { checkCount, checkPlan, type Plan, type PlanRecord, Plans } from './plans.ts';
import { applyFault, createSubstituteResponse, noResponse, removeAcceptEncoding } from './response.ts';

/** A planned fault with its match, for lists. */
export interface PlannedFault extends RuleHandle {
  /** The requests to which it is applied. */
  readonly match: RequestMatch;
  /** The fault itself. */
  readonly fault: Fault;
}

/**
 * Plans faults. A request gets the first planned fault that it matches, and no other. Delays are in the host's time,
 * like the timeouts of clients. All methods that plan a fault throw RangeError if it is invalid.
 */
export interface DoubleFaults {
  /**
   * Plans a fault for the next matching request.
   * @example double.faults.next({ method: 'GET' }, { status: 503, retryAfter: 2 });
   * @example double.faults.next({ path: '/articles/{id}' }, { reset: 'amid' });
   * @example double.faults.next(({ headers }) => headers.has('If-Match'), { status: 412 });
   */
  next<Path extends string>(match: RequestMatch<Path>, fault: Fault): RuleHandle;
  /**
   * Plans a fault for the next `count` matching requests.
   * @example double.faults.times(2, {}, { delay: 200 });
   */
  times<Path extends string>(count: number, match: RequestMatch<Path>, fault: Fault): RuleHandle;
  /**
   * Plans a fault for every matching request until it is removed.
   * @example using _slow = double.faults.always({ path: '/articles' }, { delay: 200 });
   */
  always<Path extends string>(match: RequestMatch<Path>, fault: Fault): RuleHandle;
  /** Returns the planned faults that were not applied to all their requests. One for `always` is pending until applied once. */
  pending(): readonly PlannedFault[];
  /** Removes all planned faults. A fault that is being applied is not interrupted. */
  clear(): void;
}

/** The parts of a double that faults change. */
export interface FaultsOptions {
  readonly clock: Clock;
  /** Returns the names of all users and clients, which a match may contain. Default: any name is accepted. */
  readonly names?: (() => readonly string[]) | undefined;
  /** Returns the user that the credentials of a request name. */
  readonly claimedUser: ClaimedUser;
  /** Reads of a request what it is compared with. */
  readonly matched: MatchedRequests;
  /** Returns what other rules have to know of a request. */
  readonly needs: () => RuleNeeds;
  /** Called with the errors of functions that select requests. Default: writes them to standard error. */
  readonly onError?: ReportError | undefined;
  /** Adds to the response of a fault what the service adds to every response. */
  readonly complete?:
    | ((response: Response, request: IncomingRequest, trace: RequestTrace) => void)
    | undefined;
  /** Rotates the secret of a user. */
  readonly rotateSecret?: ((user: string) => void) | undefined;
  /** Makes the token of a request expire. */
  readonly expireToken?: ((request: IncomingRequest) => void | Promise<void>) | undefined;
  /** Returns what sets the certificate for new TLS connections; undefined if there are none. */
  readonly presenter?: (() => ((certificate: 'good' | 'stale') => void) | undefined) | undefined;
}

/** The faults as a part of a double. */
export interface FaultsPart extends Snapshottable<readonly PlanRecord[]> {
  readonly faults: DoubleFaults;
  /** Returns all planned faults that can still be applied. */
  planned(): readonly PlannedFault[];
  /** The clock of the service: `clock`, moved by the skew while a request with the fault `skewedDate` is processed. */
  readonly clock: Clock;
  /** Returns whether the nonce that is being claimed must count as used. */
  burnsNonce(): boolean;
  /** Responds to a request by `answer`, and applies the fault that is planned for it. */
  intercept(request: IncomingRequest, trace: RequestTrace, answer: Next): Promise<InterceptedResponse>;
  /** Must be called for each new TLS connection. Returns whether it was presented a stale certificate. */
  connected(): boolean;
  /** Counts an in-process request over TLS as a connection. Returns the error that `fetch` throws for a stale certificate. */
  connect(): TypeError | undefined;
  /** Throws DoubleError (`pending-faults`), which lists the pending faults, if there are any. */
  assertApplied(): void;
  /** Keeps the process alive for the delays while a caller in this process waits for `response`. Returns `response`. */
  awaited<T>(response: Promise<T>): Promise<T>;
  /** Ends all delays. */
  close(): void;
}

/** A response with the fault that was applied. */
export interface InterceptedResponse {
  readonly response: Response;
  readonly fault: Fault | undefined;
  /** Whether the server has processed the request. */
  readonly acted: boolean;
}

/** What a fault changes while one request is processed. */
interface Circumstances {
  /** How far the clock is ahead, in ms. */
  readonly skew: number;
  /** Whether the nonce counts as used. */
  readonly burns: boolean;
}

/** Creates the faults of a double. */
export function createFaults(options: FaultsOptions): FaultsPart {
  const { clock, presenter, matched, onError = writeError } = options;
  const plans = new Plans(onError);
  const delays = new Delays();
  const circumstances = new AsyncLocalStorage<Circumstances>();
  let presented: 'good' | 'stale' = 'good';

  const presentCertificate = (): void => {
    const due = plans.stale ? 'stale' : 'good';
    if (due === presented) return;
    presented = due;
    presenter?.()?.(due);
  };
  const toPlannedFault = (plan: Plan): PlannedFault =>
    createPlannedFault(plan, () => {
      plans.remove(plan);
      presentCertificate();
    });
  const add = (count: number, match: RequestMatch, fault: Fault, call: string): PlannedFault => {
    checkPlan(match, fault, call);
    const known = options.names?.();
    if (typeof match !== 'function' && known !== undefined) checkName(match, known);
    checkPossible(fault, options);
    const plan = plans.add(match, fault, count);
    presentCertificate();
    return toPlannedFault(plan);
  };
  const connected = (): boolean => {
    const isStale = plans.takeConnection() !== undefined;
    presentCertificate();
    return isStale;
  };
  const pending = (): readonly PlannedFault[] => plans.pending().map(toPlannedFault);

  const respond = (
    request: IncomingRequest,
    trace: RequestTrace,
    answer: Next,
    fault: Fault,
  ): Promise<Response> => {
    const prepared = fault.malformedXml === true ? removeAcceptEncoding(request) : request;
    const { skewedDate = 0, nonceSeen: burns = false } = fault;
    const skew = toMilliseconds(skewedDate);
    if (skew === 0 && !burns) return answer(prepared, trace);
    return circumstances.run({ skew, burns }, () => answer(prepared, trace));
  };
  const takePlan = async (request: IncomingRequest): Promise<Plan | undefined> => {
    const [own, others] = [plans.needs, options.needs()];
    const needs = { user: own.user || others.user, content: own.content || others.content };
    if (needs.user || needs.content) await matched.prepare(request, needs);
    try {
      return plans.take(() => matched.view(request));
    } catch (error) {
      if (!(error instanceof ContentNeeded)) throw error;
      await matched.prepare(request, { user: false, content: true });
      return plans.take(() => matched.view(request));
    }
  };
  const applyPlan = async (
    plan: Plan,
    request: IncomingRequest,
    trace: RequestTrace,
    answer: Next,
  ): Promise<InterceptedResponse> => {
    const { fault } = plan;
    const { before = false, status } = fault;
    const delay = readDuration(fault.delay, 1);
    await changeCredentials(fault, request, options);
    if (delay !== undefined && before) await delays.wait(delay);
    if (before && fault.reset === 'before') return { response: noResponse, fault, acted: false };
    const acted = status === undefined;
    const response = acted
      ? await respond(request, trace, answer, fault)
      : createSubstituteResponse({ ...fault, status }, clock.now());
    if (!acted) options.complete?.(response, request, trace);
    if (delay !== undefined && !before) await delays.wait(delay);
    const faulty = applyFault(response, fault, request);
    if (faulty === undefined) plans.undo(plan);
    return { response: faulty ?? response, fault: faulty && fault, acted };
  };

  const skew = (): number => circumstances.getStore()?.skew ?? 0;
  return {
    faults: {
      next: (match, fault) => add(1, match, fault, 'next('),
      times(count, match, fault) {
        checkCount(count);
        return add(count, match, fault, `times(${count}, `);
      },
      always: (match, fault) => add(Number.POSITIVE_INFINITY, match, fault, 'always('),
      clear() {
        plans.clear();
        presentCertificate();
      },
      pending,
    },
    planned: () => plans.remaining().map(toPlannedFault),
    clock: {
      now: () => clock.now() + skew(),
      ahead: () => (clock.ahead?.() ?? 0) + skew(),
      steady: () => clock.steady(),
    },
    burnsNonce: () => circumstances.getStore()?.burns ?? false,
    async intercept(request, trace, answer) {
      const plan = await takePlan(request);
      if (plan !== undefined) return applyPlan(plan, request, trace, answer);
      return { response: await answer(request, trace), fault: undefined, acted: true };
    },
    connected,
    connect: () => (connected() ? certificateError() : undefined),
    assertApplied() {
      const faults = pending();
      if (faults.length > 0) throw new DoubleError('pending-faults', describePending(faults));
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

function createPlannedFault(plan: Plan, remove: () => void): PlannedFault {
  const { match, fault } = plan;
  return {
    match,
    fault,
    get remaining() {
      return plan.remaining;
    },
    get count() {
      return plan.count;
    },
    remove,
    [Symbol.dispose]: remove,
  };
}

/** Throws RangeError if a fault requires a part that this double does not have. */
function checkPossible(fault: Fault, { rotateSecret, expireToken, presenter }: FaultsOptions): void {
  if (fault.staleCertificate === true && presenter?.() === undefined)
    throw new RangeError('staleCertificate requires HTTPS, which is disabled');
  const missing =
    (fault.rotatedSecret === true && rotateSecret === undefined && 'rotatedSecret') ||
    (fault.expiredToken === true && expireToken === undefined && 'expiredToken');
  if (missing !== false) throw new RangeError(`${missing} is not possible with this server`);
}

async function changeCredentials(
  fault: Fault,
  request: IncomingRequest,
  options: FaultsOptions,
): Promise<void> {
  const user = fault.rotatedSecret === true ? options.claimedUser(request) : undefined;
  if (user !== undefined) options.rotateSecret?.(user);
  if (fault.expiredToken === true) await options.expireToken?.(request);
}

function describePending(faults: readonly PlannedFault[]): string {
  const lines = faults.map(({ match, fault, remaining, count }) => {
    const expected = Number.isFinite(remaining) ? `${remaining} more` : 'any number';
    return `  ${describeRequestMatch(match)}: ${Object.keys(fault).join(', ')} (applied to ${count} requests, expected ${expected})`;
  });
  return ['These planned faults were not applied:', ...lines].join('\n');
}
