// Stubs, faults and the responses of a partner's operations are rules: they apply to requests that a match selects, to a number of them
// or to all.

import type { IncomingRequest } from '../http/message.ts';
import { findQuery } from '../http/target.ts';
import { type ReportError, writeError } from './callback.ts';
import {
  dependsOnContent,
  dependsOnUser,
  findDifference,
  type MatchedRequest,
  normalizePath,
  type RequestMatch,
  tryMatch,
} from './match.ts';
import type { Snapshottable } from './state/state.ts';
import { decodeContent } from './stubs/content.ts';

/** A fault, a stub or a partner's response that a test has added. */
export interface RuleHandle extends Disposable {
  /** The number of requests to which it was applied. */
  readonly count: number;
  /** The number of requests to which it will still be applied. Infinity if it is not limited. */
  readonly remaining: number;
  /** Removes the rule. Requests to which it is being applied continue. */
  remove(): void;
}

/** The match of a rule, and how often it was applied. */
interface Progress extends RuleHandle {
  /** The number of the rule, from 1 since the double started. */
  readonly number: number;
  readonly match: RequestMatch;
  count: number;
  remaining: number;
}

/** A rule with what it does. */
export type Rule<Parts> = Progress & Readonly<Parts>;

/** Compares two rules, of which the one that sorts first applies. */
type Order = (one: Progress, other: Progress) => number;

/** The last rule that was added comes first. */
const lastAdded: Order = (one, other) => other.number - one.number;

/** Limited rules come first, in their order; of the others, the last one that was added. */
export const inTurn: Order = (one, other) => {
  const isLimited = Number.isFinite(one.remaining);
  if (isLimited !== Number.isFinite(other.remaining)) return isLimited ? -1 : 1;
  return isLimited ? one.number - other.number : lastAdded(one, other);
};

/** How rules are looked for. */
interface RulesOptions<Parts> {
  /** Which of several rules applies. Default: the last one that was added. */
  readonly order?: Order;
  /** Returns the set in which a rule is looked for. Default: all are in one. */
  readonly place?: (rule: Rule<Parts>) => Set<Rule<Parts>>;
  /** Returns what is compared of a rule that is found at its place; undefined if nothing is. Default: its whole match. */
  readonly conditions?: (rule: Rule<Parts>) => RequestMatch | undefined;
  /** Whether the latest rules that were applied to all their requests are kept, for explanations. Default: false. */
  readonly keepsExhausted?: boolean;
  /** Called after it may have changed which rules can still be applied. */
  readonly onChange?: () => void;
}

/** The rules at one time, with what changes in each. */
export type RulesSnapshot<Parts> = readonly {
  readonly rule: Rule<Parts>;
  readonly count: number;
  readonly remaining: number;
}[];

/** The number of rules that are kept after they were applied to all their requests. */
const maxExhausted = 100;

/** The rules of one kind. */
export class Rules<Parts extends object> implements Snapshottable<RulesSnapshot<Parts>> {
  readonly #requests: MatchedRequests;
  readonly #options: Required<RulesOptions<Parts>>;
  /** The rules that can still be applied. */
  readonly #active = new Set<Rule<Parts>>();
  readonly #removed = new WeakSet<Rule<Parts>>();
  #exhausted: readonly Rule<Parts>[] = [];
  #added = 0;
  #restored = 0;
  #needs: RuleNeeds | undefined;
  #initial: RulesSnapshot<Parts> = [];

  /** `requests` reads of requests what rules are compared with. */
  constructor(requests: MatchedRequests, options: RulesOptions<Parts> = {}) {
    this.#requests = requests;
    this.#options = {
      order: lastAdded,
      place: () => this.#active,
      conditions: ({ match }) => match,
      keepsExhausted: false,
      onChange() {},
      ...options,
    };
    requests.register(this);
  }

  /** Adds a rule for a number of requests. Default: for all. */
  add(match: RequestMatch, parts: Parts, times = Number.POSITIVE_INFINITY): Rule<Parts> {
    this.#added += 1;
    const copy = typeof match === 'function' ? match : { ...match };
    const remove = (): void => {
      this.#remove(rule);
      this.#options.onChange();
    };
    const rule: Rule<Parts> = {
      ...parts,
      number: this.#added,
      match: copy,
      count: 0,
      remaining: times,
      remove,
      [Symbol.dispose]: remove,
    };
    this.#insert(rule);
    this.#options.onChange();
    return rule;
  }

  /** Returns the rules at a place that apply to a request, the first one first. */
  list(request: IncomingRequest, place: Iterable<Rule<Parts>> = this.#active): readonly Rule<Parts>[] {
    return this.#sort(place).filter((rule) => this.#fits(request, rule));
  }

  /** Returns the first rule at a place that applies to a request. */
  find(request: IncomingRequest, place: Iterable<Rule<Parts>> = this.#active): Rule<Parts> | undefined {
    return this.#sort(place).find((rule) => this.#fits(request, rule));
  }

  /** Counts a request to which a rule is applied. Returns a function that reverts it. */
  take(rule: Rule<Parts>): () => void {
    rule.count += 1;
    rule.remaining -= 1;
    if (rule.remaining === 0) this.#exhaust(rule);
    const restored = this.#restored;
    return () => {
      if (restored === this.#restored) this.#revert(rule);
    };
  }

  /** Returns the rules that can still be applied, the oldest first. */
  remaining(): readonly Rule<Parts>[] {
    return [...this.#active].sort((one, other) => one.number - other.number);
  }

  /** Returns the latest rules that were applied to all their requests, if they are kept. */
  exhausted(): readonly Rule<Parts>[] {
    return this.#exhausted;
  }

  /** What the rules have to know of a request. */
  get needs(): RuleNeeds {
    this.#needs ??= this.#findNeeds();
    return this.#needs;
  }

  /** Makes the present rules those that `reset` restores. Default: none. */
  markInitial(): void {
    this.#initial = this.snapshot();
  }

  snapshot(): RulesSnapshot<Parts> {
    const rules = [...this.#exhausted, ...this.remaining()];
    return rules.map((rule) => ({ rule, count: rule.count, remaining: rule.remaining }));
  }

  restore(records: RulesSnapshot<Parts>): void {
    for (const rule of [...this.#active, ...this.#exhausted]) this.#remove(rule);
    this.#restored += 1;
    for (const { rule, count, remaining } of records) {
      Object.assign(rule, { count, remaining });
      this.#removed.delete(rule);
      if (remaining > 0) this.#insert(rule);
      else this.#exhausted = [...this.#exhausted, rule];
    }
    this.#options.onChange();
  }

  reset(): void {
    this.restore(this.#initial);
  }

  #findNeeds(): RuleNeeds {
    const rules = [...this.#active, ...this.#exhausted];
    const matches = rules.flatMap((rule) => this.#options.conditions(rule) ?? []);
    return {
      user: matches.some((match) => dependsOnUser(match)),
      content: matches.some((match) => dependsOnContent(match)),
    };
  }

  #sort(place: Iterable<Rule<Parts>>): Rule<Parts>[] {
    return [...place].sort(this.#options.order);
  }

  #fits(request: IncomingRequest, rule: Rule<Parts>): boolean {
    const conditions = this.#options.conditions(rule);
    return conditions === undefined || this.#requests.findDifference(request, rule, conditions) === undefined;
  }

  #insert(rule: Rule<Parts>): void {
    this.#exhausted = this.#exhausted.filter((other) => other !== rule);
    this.#active.add(rule);
    this.#options.place(rule).add(rule);
    this.#needs = undefined;
  }

  #delete(rule: Rule<Parts>): void {
    this.#active.delete(rule);
    this.#options.place(rule).delete(rule);
    this.#needs = undefined;
  }

  #exhaust(rule: Rule<Parts>): void {
    this.#delete(rule);
    if (this.#options.keepsExhausted) this.#exhausted = [...this.#exhausted, rule].slice(-maxExhausted);
    this.#options.onChange();
  }

  #revert(rule: Rule<Parts>): void {
    rule.count -= 1;
    if (this.#removed.has(rule)) return;
    rule.remaining += 1;
    if (rule.remaining > 1) return;
    this.#insert(rule);
    this.#options.onChange();
  }

  #remove(rule: Rule<Parts>): void {
    rule.remaining = 0;
    this.#removed.add(rule);
    this.#delete(rule);
    this.#exhausted = this.#exhausted.filter((other) => other !== rule);
  }
}

/** What requests are compared with depends on. */
interface MatchedParts {
  /** Resolves to the user or client whom the credentials name, or to whom a token was issued. */
  readonly findUser: (request: IncomingRequest) => Promise<string | undefined>;
  /** Returns the scheme of the credentials. */
  readonly findScheme: (request: IncomingRequest) => string | undefined;
  /** The longest content (bytes) that is read. */
  readonly bodyLimit: number;
  /** The maximum nesting of JSON content. */
  readonly maxDepth: number;
  /** Called with the errors of functions that select requests. Default: writes them to standard error. */
  readonly onError?: ReportError | undefined;
}

/** What was found out about a request before it is routed. */
interface Facts {
  readonly user: string | undefined;
  readonly body: unknown;
}

/** A request as it is compared, and what the functions of rules returned for it. */
interface Compared {
  readonly view: MatchedRequest;
  readonly results: Map<object, boolean>;
}

/** What rules have to know of a request before they are compared with it. */
interface RuleNeeds {
  readonly user: boolean;
  readonly content: boolean;
}

/** Compares requests with the rules of a double. A request costs nothing that no rule needs. */
export class MatchedRequests {
  readonly #parts: MatchedParts;
  readonly #rules: { readonly needs: RuleNeeds }[] = [];
  /** By the content, which copies of a request share. */
  readonly #facts = new WeakMap<IncomingRequest['body'], Facts>();
  readonly #compared = new WeakMap<IncomingRequest, Compared>();

  constructor(parts: MatchedParts) {
    this.#parts = parts;
  }

  /** Adds rules of one kind, which are asked what they need for each request. */
  register(rules: { readonly needs: RuleNeeds }): void {
    this.#rules.push(rules);
  }

  /**
   * Finds out what the rules need to know of a request. Content that cannot be read or decoded counts as none.
   * @returns undefined if they need nothing
   */
  prepare(request: IncomingRequest): Promise<void> | undefined {
    const user = this.#rules.some(({ needs }) => needs.user);
    const content = this.#rules.some(({ needs }) => needs.content);
    return user || content ? this.#prepare(request, { user, content }) : undefined;
  }

  /** Returns what a request is compared with. */
  view(request: IncomingRequest): MatchedRequest {
    return this.#compare(request).view;
  }

  /**
   * Returns the first member in which a request differs from the match of a rule; undefined if it matches. A function is called once
   * for a request and a rule.
   */
  findDifference(request: IncomingRequest, rule: object, match: RequestMatch): string | undefined {
    const { view, results } = this.#compare(request);
    const { onError = writeError } = this.#parts;
    return findDifference(view, match, (run) => {
      const result = results.get(rule) ?? tryMatch(run, onError);
      results.set(rule, result);
      return result;
    });
  }

  #compare(request: IncomingRequest): Compared {
    const known = this.#compared.get(request) ?? { view: this.#createView(request), results: new Map() };
    this.#compared.set(request, known);
    return known;
  }

  #createView(request: IncomingRequest): MatchedRequest {
    const { method, target, headers, connection } = request;
    const { user, body } = this.#facts.get(request.body) ?? {};
    const { findScheme } = this.#parts;
    return {
      method,
      target,
      path: normalizePath(request),
      headers,
      user,
      body,
      secure: connection.secure,
      get query() {
        return new URLSearchParams(findQuery(target));
      },
      get scheme() {
        return findScheme(request);
      },
    };
  }

  async #prepare(request: IncomingRequest, { user, content }: RuleNeeds): Promise<void> {
    this.#facts.set(request.body, {
      user: user ? await this.#parts.findUser(request) : undefined,
      body: content ? await this.#read(request) : undefined,
    });
  }

  async #read(request: IncomingRequest): Promise<unknown> {
    if (!request.body.present) return undefined;
    const { bodyLimit, maxDepth } = this.#parts;
    try {
      const bytes = await request.body.hold(bodyLimit);
      return await decodeContent(Buffer.from(bytes), request.headers.get('content-type'), maxDepth);
    } catch {
      return undefined;
    }
  }
}
