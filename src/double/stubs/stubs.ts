// Stubs are routes in a tree of their own, which a request meets before the router, so adding one changes no other route, and a
// request costs the same whether there are ten or a thousand. A stub with a limited number reserves a request when it is routed, and
// gets it back if its action is not called: then neither refused requests count, nor can requests at the same time exceed the number.
import { checkSchemeNames } from '../../auth/configured-schemes.ts';
import type { VerifiedScheme } from '../../auth/verified-scheme.ts';
import { linesInTurn } from '../../http/field-lines.ts';
import type { IncomingRequest } from '../../http/message.ts';
import {
  type Branch,
  createBranch,
  ensureBranch,
  findLeaves,
  nameParameters,
} from '../../pipeline/path-tree.ts';
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
import type { Match, RouteLayer } from '../../pipeline/router.ts';
import { fitsTexts } from '../faults/match.ts';
import type { RuleHandle } from '../match.ts';
import type { Snapshottable } from '../state/snapshot.ts';
import { createAnyReader } from './content.ts';
import {
  checkStub,
  checkStubMembers,
  describeStub,
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
  /** The stubs at the start. */
  readonly stubs?: readonly Stub<unknown>[] | undefined;
}

interface Plan {
  readonly number: number;
  readonly stub: Stub<unknown>;
  readonly names: readonly string[];
  readonly resource: Resource;
  remaining: number;
  count: number;
}

/** The stubs at one template, in the order in which they were added. */
type Leaf = Set<Plan>;

/** Creates the stubs of a double. Throws RangeError if one is invalid. */
export function createStubs({ schemes, maxDepth, check, stubs = [] }: StubsOptions): StubsPart {
  let reading: ContentReader | undefined;
  const plans = new Set<Plan>();
  let root = createBranch<Leaf>();
  let numbered = 0;
  let methods: ReadonlySet<string> | undefined;

  const insert = (plan: Plan): void => {
    const { branch } = ensureBranch(root, plan.stub.match.path);
    branch.leaf ??= new Set();
    branch.leaf.add(plan);
    plans.add(plan);
    methods = undefined;
  };
  const remove = (plan: Plan): void => {
    plan.remaining = 0;
    plans.delete(plan);
    ensureBranch(root, plan.stub.match.path).branch.leaf?.delete(plan);
    methods = undefined;
  };
  const add = (stub: Stub<unknown>): PlannedStub => {
    const { match, response, access = 'authenticated', schemes: accepted, times } = stub;
    checkStub(match, selectOptions(stub));
    checkSchemeNames(accepted, schemes, `schemes of the stub for ${match.path}`);
    const respond = responder(match, response);
    const use = (call: Call): ReturnType<typeof respond> => {
      plan.count += 1;
      if (plan.remaining === 0) remove(plan);
      return respond(call);
    };
    const handle = (call: Call): ReturnType<typeof respond> =>
      check === undefined ? use(call) : check.validate(call, () => use(call));
    const resource = stubResource(match, stub, createAction(access, handle));
    const { names } = ensureBranch<Leaf>(createBranch(), match.path);
    numbered += 1;
    const remaining = times ?? Number.POSITIVE_INFINITY;
    const plan: Plan = {
      number: numbered,
      stub: { ...stub, match: { ...match } },
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
    plans.clear();
    methods = undefined;
    for (const { plan, remaining, count } of records) insert(Object.assign(plan, { remaining, count }));
  };
  const snapshot = (): readonly StubRecord[] =>
    [...plans].map((plan) => ({ plan, remaining: plan.remaining, count: plan.count }));

  for (const stub of stubs) {
    checkStubMembers(stub);
    add(stub);
  }
  const initial = snapshot();
  return {
    layer: {
      find: (segments, request) => (plans.size === 0 ? [] : matchesIn(root, segments, request)),
      get routes() {
        return [...plans].map(({ stub, resource }) => ({ template: stub.match.path, resource }));
      },
      furtherMethods() {
        methods ??= new Set([...plans].flatMap(({ resource }) => listFurtherMethods(resource)));
        return methods;
      },
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

/** Returns the matches of the stubs for a request, the last one first. */
function matchesIn(
  root: Branch<Leaf>,
  segments: readonly string[],
  request: IncomingRequest,
): readonly Match[] {
  const found: { readonly plan: Plan; readonly values: readonly string[] }[] = [];
  for (const { leaf, values } of findLeaves(root, segments))
    for (const plan of leaf) if (fits(plan, request)) found.push({ plan, values });
  if (found.length > 1) found.sort((one, other) => other.plan.number - one.plan.number);
  return found.map(({ plan, values }) => ({
    template: plan.stub.match.path,
    resource: plan.resource,
    parameters: nameParameters(plan.names, values),
    ...(Number.isFinite(plan.remaining) && { reserve: () => reserve(plan) }),
  }));
}

function fits({ remaining, stub: { match } }: Plan, request: IncomingRequest): boolean {
  if (remaining <= 0) return false;
  if (match.query === undefined && match.headers === undefined) return true;
  return fitsTexts(request, match.query, match.headers);
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
      throw new RangeError(`the stub for ${describeStub(match)}: ${error.message}`, { cause: error });
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
