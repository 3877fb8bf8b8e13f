// Stubs are routes in a tree of their own, which a request meets before the router, so adding one changes no other route, and a
// request costs the same whether there are ten or a thousand. A stub with a limited number reserves a request when it is routed, and
// gets it back if its action is not called: then neither refused requests count, nor can requests at the same time exceed the number.
import { checkSchemeNames } from '../../auth/configured-schemes.ts';
import type { VerifiedScheme } from '../../auth/verified-scheme.ts';
import { findClosestMatch } from '../../did-you-mean.ts';
import { linesInTurn } from '../../http/field-lines.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { once } from '../../once.ts';
import { createBranch, ensureBranch, findLeaves, nameParameters } from '../../pipeline/path-tree.ts';
import {
  type Access,
  type Action,
  type ActionResponse,
  action,
  type Call,
  type ContentReader,
  listFurtherMethods,
  type Resource,
} from '../../pipeline/resource.ts';
import type { Match, Route, RouteFallback, RouteLayer } from '../../pipeline/router.ts';
import { type ReportError, writeError } from '../callback.ts';
import { normalizePath, type RuleHandle } from '../match.ts';
import { type MatchedRequests, noNeeds, type RuleNeeds } from '../matched-requests.ts';
import {
  dependsOnContent,
  dependsOnUser,
  describeRequestMatch,
  findDifference,
  fitsRequest,
  type MatchedRequest,
  type RequestMatch,
} from '../request-match.ts';
import type { Snapshottable } from '../state/snapshot.ts';
import { createAnyReader } from './content.ts';
import {
  checkStub,
  checkStubMembers,
  findPath,
  type Stub,
  type StubHandler,
  type StubMatch,
  type StubOptions,
  type StubRequest,
  stubResource,
} from './declaration.ts';
import { isPlatformResponse, readPlatformResponse, toActionResponse } from './response.ts';

/** A stub with its number, for lists. */
export interface PlannedStub extends RuleHandle {
  /** The number of the stub, from 1 since the double started. */
  readonly number: number;
  readonly stub: Stub<unknown>;
}

/** The progress of a stub in a snapshot. */
interface StubRecord {
  readonly plan: Plan;
  readonly remaining: number;
  readonly count: number;
}

/** The stubs as a part of a double. */
export interface StubsPart extends Snapshottable<readonly StubRecord[]> {
  /** The routes of the stubs, which precede all others. */
  readonly layer: RouteLayer;
  /** The routes of the stubs with `fallback`, which are asked after all others. */
  readonly fallback: RouteFallback;
  /** What the stubs have to know of a request. */
  readonly needs: RuleNeeds;
  /** Adds a stub. Throws RangeError if it is invalid. */
  add(stub: Stub<unknown>): PlannedStub;
  /** Returns all stubs that can still answer, the oldest first. */
  all(): readonly PlannedStub[];
}

/** A response, or a promise of one. */
export type Answer = ActionResponse | Promise<ActionResponse>;

/** Compares what stubs receive and send with the document of a partner. */
export interface StubCheck {
  /**
   * Answers a request, and returns the response with warnings if the document does not allow one of both. Throws a Problem if the
   * document has the operation and the request is refused.
   */
  validate(call: Call, answer: () => Answer): Answer;
}

/** What stubs know of their double. */
interface StubsOptions {
  readonly schemes: readonly VerifiedScheme[];
  /** The maximum nesting of JSON content. */
  readonly maxDepth: number;
  /** Checks requests and responses with the document of a partner. Default: none is checked. */
  readonly check?: StubCheck | undefined;
  /** Reads of a request what it is compared with. */
  readonly matched: MatchedRequests;
  /** Called with the errors of functions that select requests. Default: writes them to standard error. */
  readonly onError?: ReportError | undefined;
  /** The stubs at the start. */
  readonly stubs?: readonly Stub<unknown>[] | undefined;
}

interface Plan {
  readonly number: number;
  readonly stub: Stub<unknown>;
  /** The path or template; undefined for a stub that is compared with every path. */
  readonly path: string | undefined;
  /** What a request at this path must have; undefined if only its method decides. */
  readonly conditions: RequestMatch | undefined;
  readonly names: readonly string[];
  readonly resource: Resource;
  remaining: number;
  count: number;
}

/** The stubs at one template, in the order in which they were added. */
type Leaf = Set<Plan>;

/** Creates the stubs of a double. Throws RangeError if one is invalid. */
export function createStubs(options: StubsOptions): StubsPart {
  const { schemes, maxDepth, check, matched, onError = writeError, stubs = [] } = options;
  let reading: ContentReader | undefined;
  const plans = new Set<Plan>();
  let root = createBranch<Leaf>();
  /** The stubs without a path. */
  const anywhere: Leaf = new Set();
  let numbered = 0;
  let methods: ReadonlySet<string> | undefined;
  let needs: RuleNeeds | undefined;
  const changed = (): void => {
    methods = undefined;
    needs = undefined;
  };

  const leafOf = ({ path }: Plan): Leaf => {
    if (path === undefined) return anywhere;
    const { branch } = ensureBranch(root, path);
    branch.leaf ??= new Set();
    return branch.leaf;
  };
  const insert = (plan: Plan): void => {
    leafOf(plan).add(plan);
    plans.add(plan);
    changed();
  };
  const remove = (plan: Plan): void => {
    plan.remaining = 0;
    plans.delete(plan);
    leafOf(plan).delete(plan);
    changed();
  };
  const add = (stub: Stub<unknown>): PlannedStub => {
    const { match, response, access = 'authenticated', schemes: accepted, times } = stub;
    checkStub(match, selectOptions(stub));
    checkSchemeNames(accepted, schemes, `schemes of the stub for ${describeRequestMatch(match)}`);
    const respond = responder(match, response);
    const use = (call: Call): ReturnType<typeof respond> => {
      plan.count += 1;
      if (plan.remaining === 0) remove(plan);
      return respond(call);
    };
    const handle = (call: Call): ReturnType<typeof respond> =>
      check === undefined ? use(call) : check.validate(call, () => use(call));
    const resource = stubResource(match, stub, createAction(access, handle));
    const path = findPath(match);
    const names = path === undefined ? [] : ensureBranch<Leaf>(createBranch(), path).names;
    numbered += 1;
    const remaining = times ?? Number.POSITIVE_INFINITY;
    const plan: Plan = {
      number: numbered,
      stub: { ...stub, match: typeof match === 'function' ? match : { ...match } },
      path,
      conditions: findConditions(match),
      names,
      resource,
      remaining,
      count: 0,
    };
    insert(plan);
    return createPlannedStub(plan, remove);
  };
  const createAction = (
    access: Access,
    handle: (call: Call) => ActionResponse | Promise<ActionResponse>,
  ): Action => {
    // On first use, because most doubles have no stubs.
    reading ??= createAnyReader(maxDepth);
    return action(access, handle, { reads: [reading], bodyOptional: true });
  };
  const restore = (records: readonly StubRecord[]): void => {
    root = createBranch();
    anywhere.clear();
    plans.clear();
    changed();
    for (const { plan, remaining, count } of records) insert(Object.assign(plan, { remaining, count }));
  };
  const snapshot = (): readonly StubRecord[] =>
    [...plans].map((plan) => ({ plan, remaining: plan.remaining, count: plan.count }));

  for (const stub of stubs) {
    checkStubMembers(stub);
    add(stub);
  }
  const initial = snapshot();
  const find = (
    segments: readonly string[],
    request: IncomingRequest,
    isFallback: boolean,
  ): readonly Match[] => {
    if (plans.size === 0) return [];
    const found: Reached[] = [...anywhere].map((plan) => ({ plan, values: [] }));
    for (const { leaf, values } of findLeaves(root, segments))
      for (const plan of leaf) found.push({ plan, values });
    const view = once(() => matched.view(request));
    return found
      .filter(({ plan }) => (plan.stub.fallback === true) === isFallback && fits(plan, view, onError))
      .sort((one, other) => other.plan.number - one.plan.number)
      .map(({ plan, values }) => toMatch(plan, values, request));
  };
  const routesOf = (isFallback: boolean): readonly Route[] =>
    [...plans].flatMap(({ path, stub, resource }) =>
      path === undefined || (stub.fallback === true) !== isFallback ? [] : [{ template: path, resource }],
    );
  const furtherMethods = (): ReadonlySet<string> => {
    methods ??= new Set([...plans].flatMap(({ resource }) => listFurtherMethods(resource)));
    return methods;
  };
  return {
    layer: {
      find: (segments, request) => find(segments, request, false),
      get routes() {
        return routesOf(false);
      },
      furtherMethods,
      nearest: (request) => describeNearest([...plans], matched, request, onError),
    },
    fallback: {
      find: (segments, _, request) => (request === undefined ? [] : find(segments, request, true)),
      get routes() {
        return routesOf(true);
      },
      furtherMethods,
    },
    get needs() {
      needs ??= plans.size === 0 ? noNeeds : listNeeds([...plans]);
      return needs;
    },
    add,
    all: () =>
      [...plans].filter(({ remaining }) => remaining > 0).map((plan) => createPlannedStub(plan, remove)),
    snapshot,
    restore,
    reset: () => restore(initial),
  };
}

function selectOptions({ match: _, response: __, ...options }: Stub<unknown>): StubOptions {
  return options;
}

/** A stub with the segments that stand for its parameters. */
interface Reached {
  readonly plan: Plan;
  readonly values: readonly string[];
}

function toMatch(plan: Plan, values: readonly string[], request: IncomingRequest): Match {
  return {
    template: plan.path ?? normalizePath(request),
    resource: plan.resource,
    parameters: nameParameters(plan.names, values),
    ...(Number.isFinite(plan.remaining) && { reserve: () => reserve(plan) }),
  };
}

/** Returns what a match requires beside the path, which the tree finds, and the method, which the resource has. */
function findConditions(match: RequestMatch): RequestMatch | undefined {
  if (typeof match === 'function') return match;
  const { method: _, path, ...others } = match;
  const conditions = { ...others, ...(path instanceof RegExp && { path }) };
  return Object.values(conditions).some((value) => value !== undefined) ? conditions : undefined;
}

function listNeeds(plans: readonly Plan[]): RuleNeeds {
  const conditions = plans.flatMap((plan) => plan.conditions ?? []);
  return { user: conditions.some(dependsOnUser), content: conditions.some(dependsOnContent) };
}

function fits({ remaining, conditions }: Plan, view: () => MatchedRequest, onError: ReportError): boolean {
  if (remaining <= 0) return false;
  return conditions === undefined || fitsRequest(view(), conditions, onError);
}

/** Describes the stub that a request comes nearest to, and the first member that differs; undefined if there is none. */
function describeNearest(
  plans: readonly Plan[],
  matched: MatchedRequests,
  request: IncomingRequest,
  onError: ReportError,
): string | undefined {
  const view = matched.view(request);
  const candidates = plans.flatMap(({ remaining, path, stub: { match } }) =>
    remaining <= 0 || typeof match === 'function' ? [] : [{ match, path: path ?? '' }],
  );
  const differing = candidates.map((each) => ({
    ...each,
    difference: findDifference(view, each.match, onError),
  }));
  const atPath = differing.filter(
    ({ match: { path } }) => findDifference(view, { path }, onError) === undefined,
  );
  const close = findClosestMatch(
    view.path,
    candidates.map(({ path }) => path),
  );
  const nearest =
    atPath.find(({ difference = '' }) => !difference.startsWith('the method ')) ??
    atPath.at(-1) ??
    differing.find(({ path }) => path === close);
  if (nearest?.difference === undefined) return undefined;
  return `The nearest stub is ${describeRequestMatch(nearest.match)}, but ${nearest.difference}.`;
}

/** Counts a request that the stub is about to answer, so that requests at the same time do not exceed its number. */
function reserve(plan: Plan): () => void {
  plan.remaining -= 1;
  return () => {
    plan.remaining += 1;
  };
}

/** Returns the function that creates the outcome of a stub. Throws RangeError if a fixed response cannot be sent. */
function responder(
  match: StubMatch,
  response: StubHandler<unknown>,
): (call: Call) => ActionResponse | Promise<ActionResponse> {
  if (typeof response !== 'function') {
    const outcome = toActionResponse(response);
    return () => outcome;
  }
  return async (call) => {
    const returned = await response(toStubRequest(call));
    try {
      return toActionResponse(isPlatformResponse(returned) ? await readPlatformResponse(returned) : returned);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      throw new RangeError(`the stub for ${describeRequestMatch(match)}: ${error.message}`, { cause: error });
    }
  };
}

function toStubRequest({
  incoming: request,
  method,
  path,
  parameters,
  query,
  body,
  principal,
}: Call): StubRequest<unknown> {
  return {
    method,
    path,
    parameters,
    query,
    // Created on first use, because the platform loads its fetch for it.
    get headers() {
      return new Headers(linesInTurn(request.headers.raw));
    },
    body,
    user: principal?.name,
  };
}

function createPlannedStub(plan: Plan, remove: (plan: Plan) => void): PlannedStub {
  return {
    number: plan.number,
    stub: plan.stub,
    get count() {
      return plan.count;
    },
    get remaining() {
      return plan.remaining;
    },
    remove: () => remove(plan),
    [Symbol.dispose]: () => remove(plan),
  };
}
