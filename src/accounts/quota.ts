// Counts requests. A request is counted directly after step 7, so a forged one uses up nothing of a user. The pipeline counts
// what was rejected before, for the peer, when it completes the response. Without a quota, both places test one undefined
// member.
import type { Clock } from '../clock.ts';
import type { FieldLine } from '../http/fields.ts';
import type { IncomingRequest } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import type { Principal } from '../principal.ts';
import { type QuotaDeclaration, type QuotaPolicy, readQuota } from './quota-policy.ts';
import { rateLimitKey } from './rate-limit.ts';

/** The maximum number of peers, and of principals, whose requests are counted. */
const maxCounted = 100_000;

/** The state of a policy for one principal or peer after a request was counted. */
export interface QuotaUse {
  readonly policy: QuotaPolicy;
  /** How many further requests are permitted. */
  readonly remaining: number;
  /** Whole seconds until the window ends. */
  readonly reset: number;
}

/** What a quota reads of a request, and where it stores the result. */
interface QuotaTrace {
  readonly principal: Principal | undefined;
  /** The state of each policy; undefined if the request was not counted. */
  quota: readonly QuotaUse[] | undefined;
}

/** A window of one policy. */
interface Window {
  /** The time of its first request on the steady clock (ms). */
  begun: number;
  used: number;
}

/** The windows of one principal or peer, in the order of its policies. */
interface Counted {
  readonly policies: readonly QuotaPolicy[];
  readonly windows: readonly Window[];
}

/** The counts of all principals and peers. `begun` is how long ago a window began (ms). */
export type QuotaSnapshot = ReadonlyMap<string, Counted>;

/** The options of quotas. */
interface QuotaOptions {
  /** The quota of each principal and peer. Default: none. */
  readonly quota: QuotaDeclaration | undefined;
  readonly clock: Pick<Clock, 'steady'>;
  /** Returns whether a request is not counted. Default: all are. */
  readonly exempt?: ((request: IncomingRequest) => boolean) | undefined;
  /** The maximum number of peers, and of principals, that are counted. Default: 100 000. */
  readonly max?: number | undefined;
}

/**
 * Counts the requests of each authenticated principal, and of each peer without credentials, in fixed windows. A window begins
 * with its first request, so that not all clients return at the same time. It uses the steady clock, because setting the wall
 * clock would end all windows.
 */
export class Quotas {
  readonly #byDefault: readonly QuotaPolicy[];
  readonly #clock: Pick<Clock, 'steady'>;
  readonly #exempt: ((request: IncomingRequest) => boolean) | undefined;
  readonly #max: number;
  #ofUsers: ReadonlyMap<string, readonly QuotaPolicy[]> = new Map();
  /** By kind and name. Peers are apart, so that many of them do not displace the counts of principals. */
  readonly #principals = new Map<string, Counted>();
  readonly #peers = new Map<string, Counted>();

  constructor({ quota, clock, exempt, max = maxCounted }: QuotaOptions) {
    this.#byDefault = quota === undefined ? [] : readQuota(quota, 'quota');
    this.#clock = clock;
    this.#exempt = exempt;
    this.#max = max;
  }

  /** Whether any request can be limited. */
  get isActive(): boolean {
    return this.#byDefault.length > 0 || this.#ofUsers.size > 0;
  }

  /** Replaces the quotas of users. Their counts continue. Throws RangeError, without any change, if one is not valid. */
  replaceUsers(users: Iterable<readonly [string, { readonly quota?: QuotaDeclaration | undefined }]>): void {
    const read = new Map<string, readonly QuotaPolicy[]>();
    for (const [name, { quota }] of users)
      if (quota !== undefined) read.set(name, readQuota(quota, `quota of the user ${JSON.stringify(name)}`));
    this.#ofUsers = read;
  }

  /** Counts an authenticated or anonymous request. Throws a Problem (429), and counts nothing, if a quota is exceeded. */
  take(request: IncomingRequest, trace: QuotaTrace): void {
    if (this.#exempt?.(request) === true) return;
    const counted = this.#find(request, trace.principal);
    if (counted === undefined) return;
    const now = this.#clock.steady();
    const exceeded = counted.policies.filter(
      ({ requests }, at) => (counted.windows[at]?.used ?? 0) >= requests,
    );
    if (exceeded.length === 0) for (const window of counted.windows) window.used += 1;
    trace.quota = computeUse(counted, now);
    if (exceeded.length > 0) throw quotaExceeded(trace.quota, exceeded, trace.principal);
  }

  /** Counts a request that was rejected before its credentials were accepted, for the peer only. Rejects none. */
  charge(request: IncomingRequest, trace: QuotaTrace): void {
    if (trace.quota !== undefined || this.#exempt?.(request) === true) return;
    const counted = this.#find(request, trace.principal);
    if (counted === undefined) return;
    counted.windows.forEach((window, at) => {
      window.used = Math.min(window.used + 1, counted.policies[at]?.requests ?? 0);
    });
    trace.quota = computeUse(counted, this.#clock.steady());
  }

  /** Returns all counts. */
  snapshot(): QuotaSnapshot {
    const now = this.#clock.steady();
    const entries = [...this.#principals, ...this.#peers];
    return new Map(entries.map(([key, counted]) => [key, shiftCounts(now, counted)]));
  }

  /** Replaces all counts. */
  restore(snapshot: QuotaSnapshot): void {
    const now = this.#clock.steady();
    this.#principals.clear();
    this.#peers.clear();
    for (const [key, counted] of snapshot)
      (key.startsWith(peerPrefix) ? this.#peers : this.#principals).set(key, shiftCounts(now, counted));
  }

  #find({ connection }: IncomingRequest, principal: Principal | undefined): Counted | undefined {
    const policies = this.#selectPolicies(principal);
    if (policies.length === 0) return undefined;
    const all = principal === undefined ? this.#peers : this.#principals;
    return this.#counted(all, formatKey(connection.peer, principal), policies);
  }

  #selectPolicies(principal: Principal | undefined): readonly QuotaPolicy[] {
    if (principal === undefined || isClient(principal)) return this.#byDefault;
    return this.#ofUsers.get(principal.name) ?? this.#byDefault;
  }

  /** Returns the current windows under a key. Begins those that have ended again. */
  #counted(all: Map<string, Counted>, key: string, policies: readonly QuotaPolicy[]): Counted {
    const now = this.#clock.steady();
    const known = all.get(key);
    const isCurrent =
      known !== undefined && (known.policies === policies || areEqual(known.policies, policies));
    const counted = isCurrent ? known : { policies, windows: windowsFor(policies, known, now) };
    const hasBegun = beginEnded(counted, now);
    if (isCurrent && !hasBegun) return counted;
    // In the order in which windows began, so that the oldest is dropped.
    all.delete(key);
    const [oldest] = all.keys();
    if (all.size >= this.#max && oldest !== undefined) all.delete(oldest);
    all.set(key, counted);
    return counted;
  }
}

const peerPrefix = 'peer ';

function formatKey(peer: string, principal: Principal | undefined): string {
  if (principal === undefined) return peerPrefix + rateLimitKey(peer);
  return `${isClient(principal) ? 'client' : 'user'} ${principal.name}`;
}

/** Returns whether a principal is an OAuth client or consumer on its own behalf, which can have the name of a user. */
function isClient({ lent }: Principal): boolean {
  return lent?.users !== undefined;
}

/** Returns the length of a window in ms. */
function computeLength(policy: QuotaPolicy | undefined): number {
  return (policy?.window ?? 0) * 1000;
}

function areEqual(some: readonly QuotaPolicy[], others: readonly QuotaPolicy[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ name, requests, window }, at) => {
      const other = others[at];
      return name === other?.name && requests === other.requests && window === other.window;
    })
  );
}

/** Returns the windows of changed policies. A policy of the same name and window keeps its count. */
function windowsFor(policies: readonly QuotaPolicy[], known: Counted | undefined, now: number): Window[] {
  return policies.map(({ name, window }) => {
    const at = known?.policies.findIndex((policy) => policy.name === name && policy.window === window) ?? -1;
    return known?.windows[at] ?? { begun: now, used: 0 };
  });
}

/** Begins the windows that have ended again. Returns whether there were any. */
function beginEnded({ policies, windows }: Counted, now: number): boolean {
  let hasBegun = false;
  for (const [at, window] of windows.entries()) {
    if (now - window.begun < computeLength(policies[at])) continue;
    window.begun = now;
    window.used = 0;
    hasBegun = true;
  }
  return hasBegun;
}

function shiftCounts(now: number, { policies, windows }: Counted): Counted {
  return { policies, windows: windows.map(({ begun, used }) => ({ begun: now - begun, used })) };
}

function computeUse({ policies, windows }: Counted, now: number): readonly QuotaUse[] {
  return policies.map((policy, at) => {
    const { begun, used } = windows[at] ?? { begun: now, used: 0 };
    return {
      policy,
      remaining: Math.max(0, policy.requests - used),
      reset: roundUp(computeLength(policy) - (now - begun)),
    };
  });
}

/** Returns ms as whole seconds. The steady clock has fractions of ms, whose differences are not exact. */
function roundUp(ms: number): number {
  return Math.ceil(Math.round(ms * 1000) / 1_000_000);
}

function quotaExceeded(
  uses: readonly QuotaUse[],
  exceeded: readonly QuotaPolicy[],
  principal: Principal | undefined,
): Problem {
  const names = exceeded.map(({ name }) => name);
  const wait = Math.max(...uses.filter(({ policy }) => exceeded.includes(policy)).map(({ reset }) => reset));
  const limits = exceeded.map(({ requests, window }) => `${requests} requests in ${window} s`).join(' and ');
  const whose = principal === undefined ? 'this address' : isClient(principal) ? 'this client' : 'this user';
  return new Problem('quota-exceeded', `The quota of ${whose} is ${limits}. Retry after ${wait} s.`, {
    headers: [['Retry-After', String(wait)]],
    members: { 'violated-policies': names },
  });
}

/** Returns the fields RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-11 §3 and §4). */
export function rateLimitFields(uses: readonly QuotaUse[]): readonly FieldLine[] {
  const policies = uses.map(
    ({ policy: { name, requests, window } }) => `"${name}";q=${requests};w=${window}`,
  );
  const limits = uses.map(({ policy: { name }, remaining, reset }) => `"${name}";r=${remaining};t=${reset}`);
  return [
    ['RateLimit-Policy', policies.join(', ')],
    ['RateLimit', limits.join(', ')],
  ];
}
