import { describeKind } from '../../shape/fault.ts';
import type { ReportError } from '../callback.ts';
import { noNeeds, type RuleNeeds } from '../matched-requests.ts';
import {
  checkRequestMatch,
  dependsOnUser,
  fitsRequest,
  isRestricted,
  type MatchedRequest,
  type RequestMatch,
} from '../request-match.ts';
import { checkFault, type Fault, isFaultName } from './declaration.ts';

/** A planned fault and its progress. */
export interface Plan {
  readonly match: RequestMatch;
  readonly fault: Fault;
  remaining: number;
  count: number;
}

/** The progress of a plan in a snapshot. */
export interface PlanRecord extends Readonly<Plan> {
  readonly plan: Plan;
}

/** The planned faults, in the order in which they were planned. */
export class Plans {
  #plans: Plan[] = [];
  readonly #report: ReportError;

  /** `report` is called with the errors of functions that select requests. */
  constructor(report: ReportError) {
    this.#report = report;
  }

  /** Plans a fault, which `checkPlan` accepts, for `times` requests. */
  add(match: RequestMatch, fault: Fault, times: number): Plan {
    const copy = typeof match === 'function' ? match : { ...match };
    const plan: Plan = { match: copy, fault: { ...fault }, remaining: times, count: 0 };
    this.#plans.push(plan);
    return plan;
  }

  /** What plans have to know of a request. A function reads the content only if it uses it. */
  get needs(): RuleNeeds {
    if (this.#plans.length === 0) return noNeeds;
    const matches = this.#plans.filter(({ remaining }) => remaining > 0).map(({ match }) => match);
    return {
      user: matches.some(dependsOnUser),
      content: matches.some((match) => typeof match === 'object' && match.body !== undefined),
    };
  }

  /** Returns the first plan that a request matches, and counts the request. Throws ContentNeeded. */
  take(view: () => MatchedRequest): Plan | undefined {
    if (this.#plans.length === 0) return undefined;
    const matched = view();
    return this.#takeFirst(
      ({ match, fault }) => fault.staleCertificate !== true && fitsRequest(matched, match, this.#report),
    );
  }

  /** Returns the first plan for TLS connections, and counts the connection. */
  takeConnection(): Plan | undefined {
    return this.#takeFirst(({ fault }) => fault.staleCertificate === true);
  }

  /** Whether the next TLS connection gets a stale certificate. */
  get stale(): boolean {
    return this.#plans.some(({ fault, remaining }) => fault.staleCertificate === true && remaining > 0);
  }

  /** Reverts the count of a request to which the fault could not be applied. */
  undo(plan: Plan): void {
    plan.remaining += 1;
    plan.count -= 1;
  }

  /** Removes a plan. */
  remove(plan: Plan): void {
    plan.remaining = 0;
    this.#plans = this.#plans.filter((other) => other !== plan);
  }

  clear(): void {
    for (const plan of [...this.#plans]) this.remove(plan);
  }

  /** Returns the plans that can still be applied. */
  remaining(): Plan[] {
    return this.#plans.filter(({ remaining }) => remaining > 0);
  }

  /** Returns the plans that were not applied to all their requests. A plan for `always` is pending until applied once. */
  pending(): Plan[] {
    return this.#plans.filter(({ remaining, count }) =>
      Number.isFinite(remaining) ? remaining > 0 : count === 0,
    );
  }

  snapshot(): readonly PlanRecord[] {
    return this.#plans.map((plan) => ({ ...plan, plan }));
  }

  restore(records: readonly PlanRecord[]): void {
    this.clear();
    this.#plans = records.map(({ plan, remaining, count }) => Object.assign(plan, { remaining, count }));
  }

  #takeFirst(fits: (plan: Plan) => boolean): Plan | undefined {
    const plan = this.#plans.find((each) => each.remaining > 0 && fits(each));
    if (plan === undefined) return undefined;
    plan.remaining -= 1;
    plan.count += 1;
    return plan;
  }
}

/** Throws RangeError unless the first argument of `times` is a positive integer. */
export function checkCount(count: unknown): void {
  if (typeof count === 'number' && Number.isInteger(count) && count > 0) return;
  const given = typeof count === 'number' ? String(count) : describeKind(count);
  throw new RangeError(
    `the number of requests for a fault must be a positive integer, is ${given}; such as times(2, {}, { status: 503 })`,
  );
}

/** Throws RangeError if a match or a fault is invalid, with the nearest known name. `call` is the start of a call with both. */
export function checkPlan(match: RequestMatch, fault: Fault, call: string): void {
  checkPresent(match, fault, call);
  checkRequestMatch(match);
  checkFault(fault);
  if (fault.staleCertificate === true && isRestricted(match))
    throw new RangeError('staleCertificate cannot have a match, since there is no request yet');
}

/** Throws RangeError if there is no fault, as in `next({ status: 503 })`. */
function checkPresent(match: RequestMatch, fault: Fault | undefined, call: string): void {
  if (fault !== undefined) return;
  const names = typeof match === 'object' && match !== null ? Object.keys(match) : [];
  const hint = names.some(isFaultName) ? `; the match comes first, such as ${call}{}, { status: 503 })` : '';
  throw new RangeError(`the fault is missing${hint}`);
}
