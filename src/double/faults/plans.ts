import type { Request } from '../../http/message.ts';
import { claimedUser } from '../claimed-user.ts';
import { differences, type Match, pathOf } from '../match.ts';
import { checkFault, type Fault } from './declaration.ts';

/** A fault that was planned, and how far that has come. */
export interface Plan {
  readonly match: Match;
  readonly fault: Fault;
  left: number;
  met: number;
}

/** A plan as it stood at some moment. */
export interface PlanRecord extends Readonly<Plan> {
  readonly plan: Plan;
}

/** The plans for faults, in the order in which they were made. */
export class Plans {
  #plans: Plan[] = [];

  /** Makes a plan for so many requests. Throws RangeError on one that cannot be. */
  add(match: Match, fault: Fault, count: number): Plan {
    if (count !== Number.POSITIVE_INFINITY && !(Number.isInteger(count) && count > 0))
      throw new RangeError('a fault is for a whole number of requests above 0');
    checkFault(fault);
    if (fault.staleCertificate === true && Object.values(match).some((wanted) => wanted !== undefined))
      throw new RangeError('staleCertificate goes with no match: no request is there yet');
    const plan: Plan = { match: { ...match }, fault: { ...fault }, left: count, met: 0 };
    this.#plans.push(plan);
    return plan;
  }

  /** Takes the first plan that the request fits, once. */
  take(request: Request): Plan | undefined {
    if (this.#plans.length === 0) return undefined;
    const parts = { method: request.method, path: pathOf(request), user: claimedUser(request) };
    return this.#meet(
      ({ match, fault }) => fault.staleCertificate !== true && differences(match, parts).length === 0,
    );
  }

  /** Takes the first plan for a connection over TLS, once. */
  takeConnection(): Plan | undefined {
    return this.#meet(({ fault }) => fault.staleCertificate === true);
  }

  /** Whether the next connection over TLS is to see a stale certificate. */
  get stale(): boolean {
    return this.#plans.some(({ fault, left }) => fault.staleCertificate === true && left > 0);
  }

  /** Takes back that a plan met a request, which had nothing that could go wrong. */
  giveBack(plan: Plan): void {
    plan.left += 1;
    plan.met -= 1;
  }

  /** Takes the plan away. */
  remove(plan: Plan): void {
    plan.left = 0;
    this.#plans = this.#plans.filter((other) => other !== plan);
  }

  clear(): void {
    for (const plan of [...this.#plans]) this.remove(plan);
  }

  /** Those that can still meet a request. */
  left(): Plan[] {
    return this.#plans.filter(({ left }) => left > 0);
  }

  /** Those for requests that have not all come; of those for ever, the ones that none has met. */
  pending(): Plan[] {
    return this.#plans.filter(({ left, met }) => (Number.isFinite(left) ? left > 0 : met === 0));
  }

  snapshot(): readonly PlanRecord[] {
    return this.#plans.map((plan) => ({ ...plan, plan }));
  }

  restore(records: readonly PlanRecord[]): void {
    this.clear();
    this.#plans = records.map(({ plan, left, met }) => Object.assign(plan, { left, met }));
  }

  #meet(fits: (plan: Plan) => boolean): Plan | undefined {
    const plan = this.#plans.find((each) => each.left > 0 && fits(each));
    if (plan === undefined) return undefined;
    plan.left -= 1;
    plan.met += 1;
    return plan;
  }
}
