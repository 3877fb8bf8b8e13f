import { AsyncLocalStorage } from 'node:async_hooks';
import { type Clock, systemClock } from '../../clock.ts';
import { readDuration } from '../../duration.ts';
import type { IncomingRequest, Response } from '../../http/message.ts';
import type { TlsIdentity } from '../../net/tls/identity.ts';
import type { Grants } from '../../oauth/grants.ts';
import type { RequestTrace } from '../../pipeline/call.ts';
import type { Next } from '../../pipeline/observer.ts';
import type { Listener } from '../../service/service.ts';
import { findTokens } from '../auth/tokens.ts';
import type { CertificateAuthority } from '../certificate-authority.ts';
import { type ClaimedUser, claimedToken } from '../claimed-user.ts';
import { DoubleError } from '../error.ts';
import { checkName, describeRequestMatch, type RequestMatch } from '../match.ts';
import { inTurn, type MatchedRequests, type Rule, type RuleHandle, Rules } from '../rules.ts';
import { toMilliseconds } from '../state/clock.ts';
import type { DoubleUsers } from '../state/users.ts';
import {
  applyFault,
  checkCount,
  checkPlan,
  createSubstituteResponse,
  type Fault,
  noResponse,
  removeAcceptEncoding,
} from './declaration.ts';
import { certificateError, Delays } from './in-process.ts';

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
interface FaultsOptions {
  readonly clock: Clock;
  /** The users whose secrets can be rotated. */
  readonly users: DoubleUsers;
  /** Returns the names of all users and clients, which a match may contain. */
  readonly names: () => readonly string[];
  /** Returns the user that the credentials of a request name. */
  readonly claimedUser: ClaimedUser;
  /** Compares requests with the matches of faults. */
  readonly requests: MatchedRequests;
  readonly grants: () => Grants;
  /** Adds to the response of a fault what the service adds to every response. */
  readonly complete: (response: Response, request: IncomingRequest, trace: RequestTrace) => void;
}

/** A planned fault. */
type FaultRule = Rule<{ readonly fault: Fault }>;

/** The faults as a part of a double. */
export type FaultsPart = ReturnType<typeof createFaults>;

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
export function createFaults(options: FaultsOptions) {
  const { clock, requests } = options;
  const delays = new Delays();
  const circumstances = new AsyncLocalStorage<Circumstances>();
  /** The faults of TLS connections, which precede requests. */
  const connections = new Set<FaultRule>();
  const exchanges = new Set<FaultRule>();
  let present: ((certificate: 'good' | 'stale') => void) | undefined;
  let presented: 'good' | 'stale' = 'good';
  const presentCertificate = (): void => {
    const due = connections.size > 0 ? 'stale' : 'good';
    if (due === presented) return;
    presented = due;
    present?.(due);
  };
  const rules = new Rules<{ readonly fault: Fault }>(requests, {
    order: inTurn,
    place: ({ fault }) => (fault.staleCertificate === true ? connections : exchanges),
    onChange: presentCertificate,
  });
  const add = (times: number, match: RequestMatch, fault: Fault, call: string): FaultRule => {
    checkPlan(match, fault, call);
    if (typeof match !== 'function') checkName(match, options.names());
    if (fault.staleCertificate === true && present === undefined)
      throw new RangeError('staleCertificate requires HTTPS, which is disabled');
    return rules.add(match, { fault: { ...fault } }, times);
  };
  /** Must be called for each new TLS connection. Returns whether it was presented a stale certificate. */
  const connected = (): boolean => {
    const [rule] = connections;
    if (rule === undefined) return false;
    rules.take(rule);
    return true;
  };
  const pending = (): readonly FaultRule[] =>
    rules.remaining().filter(({ remaining, count }) => Number.isFinite(remaining) || count === 0);

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
  const apply = async (
    { fault }: FaultRule,
    revert: () => void,
    request: IncomingRequest,
    trace: RequestTrace,
    answer: Next,
  ): Promise<InterceptedResponse> => {
    const { before = false, status } = fault;
    const delay = readDuration(fault.delay, 1);
    await changeCredentials(fault, request, options);
    if (delay !== undefined && before) await delays.wait(delay);
    if (before && fault.reset === 'before') return { response: noResponse, fault, acted: false };
    const acted = status === undefined;
    const response = acted
      ? await respond(request, trace, answer, fault)
      : createSubstituteResponse({ ...fault, status }, clock.now());
    if (!acted) options.complete(response, request, trace);
    if (delay !== undefined && !before) await delays.wait(delay);
    const faulty = applyFault(response, fault, request);
    if (faulty === undefined) revert();
    return { response: faulty ?? response, fault: faulty && fault, acted };
  };

  const skew = (): number => circumstances.getStore()?.skew ?? 0;
  const faults: DoubleFaults = {
    next: (match, fault) => add(1, match, fault, 'next('),
    times(count, match, fault) {
      checkCount(count);
      return add(count, match, fault, `times(${count}, `);
    },
    always: (match, fault) => add(Number.POSITIVE_INFINITY, match, fault, 'always('),
    clear: () => rules.reset(),
    pending,
  };
  return {
    faults,
    /** The planned faults. */
    rules,
    /** The clock of the service: `clock`, moved by the skew while a request with the fault `skewedDate` is processed. */
    clock: {
      now: () => clock.now() + skew(),
      ahead: () => (clock.ahead?.() ?? 0) + skew(),
      steady: () => clock.steady(),
    },
    /** Returns whether the nonce that is being claimed must count as used. */
    burnsNonce: () => circumstances.getStore()?.burns ?? false,
    /** Responds to a request by `answer`, and applies the fault that is planned for it. */
    async intercept(
      request: IncomingRequest,
      trace: RequestTrace,
      answer: Next,
    ): Promise<InterceptedResponse> {
      const preparing = requests.prepare(request);
      if (preparing !== undefined) await preparing;
      const rule = exchanges.size === 0 ? undefined : rules.find(request, exchanges);
      if (rule !== undefined) return apply(rule, rules.take(rule), request, trace, answer);
      return { response: await answer(request, trace), fault: undefined, acted: true };
    },
    connected,
    /** Counts an in-process request over TLS as a connection. Returns the error that `fetch` throws for a stale certificate. */
    connect: () => (connected() ? certificateError() : undefined),
    /** Throws DoubleError (`pending-faults`), which lists the pending faults, if there are any. */
    assertApplied(): void {
      const left = pending();
      if (left.length > 0) throw new DoubleError('pending-faults', describePending(left));
    },
    /** Keeps the process alive for the delays while a caller in this process waits for `response`. Returns `response`. */
    awaited: <T>(response: Promise<T>) => delays.awaited(response),
    close: () => delays.end(),
    /** Sets the certificate of a listener: `valid()`, or an expired one by `issue` while a stale certificate is planned. */
    presentBy(listening: Listener, valid: () => TlsIdentity, issue: CertificateAuthority['issue']): void {
      present = (certificate) => {
        // Clients check certificates by the host's time.
        const now = systemClock.now();
        const stale = { from: now - 10 * day, until: now - day };
        listening.replaceCertificate(certificate === 'good' ? valid() : issue(stale));
      };
    },
    snapshot: () => rules.snapshot(),
    restore: (snapshot: ReturnType<typeof rules.snapshot>) => rules.restore(snapshot),
    reset(): void {
      rules.reset();
      delays.end();
    },
  };
}

const day = 86_400_000;

async function changeCredentials(
  { rotatedSecret, expiredToken }: Fault,
  request: IncomingRequest,
  { users, claimedUser, grants }: FaultsOptions,
): Promise<void> {
  const user = rotatedSecret === true ? claimedUser(request) : undefined;
  if (user !== undefined && users.all.has(user)) users.control.rotateSecret(user);
  const token = expiredToken === true ? claimedToken(request) : undefined;
  if (token === undefined) return;
  for (const found of await findTokens(grants(), token.value, token.mechanism)) await grants().expire(found);
}

function describePending(faults: readonly PlannedFault[]): string {
  const lines = faults.map(({ match, fault, remaining, count }) => {
    const expected = Number.isFinite(remaining) ? `${remaining} more` : 'any number';
    return `  ${describeRequestMatch(match)}: ${Object.keys(fault).join(', ')} (applied to ${count} requests, expected ${expected})`;
  });
  return ['These planned faults were not applied:', ...lines].join('\n');
}
