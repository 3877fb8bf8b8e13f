// Stubs are routes in a tree of their own, which a request meets before the router, so adding one changes no other route, and a
// request costs the same whether there are ten or a thousand. A request is counted when it is routed, and no longer if the action of
// the stub is not called: then neither refused requests count, nor can requests at the same time exceed a limited number.

import { linesInTurn } from '../../http/field-lines.ts';
import type { IncomingRequest } from '../../http/message.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import { once } from '../../once.ts';
import { createBranch, ensureBranch, findLeaves, nameParameters } from '../../pipeline/path-tree.ts';
import { isPlatformResponse, readPlatformResponse } from '../../pipeline/platform-response.ts';
import {
  type ActionResponse,
  action,
  type Call,
  listFurtherMethods,
  type Resource,
} from '../../pipeline/resource.ts';
import type { Match, RouteLayer } from '../../pipeline/router.ts';
import type { AuthScheme } from '../../schemes/auth-scheme.ts';
import { checkSchemeNames } from '../../schemes/configured-schemes.ts';
import {
  describeRequestMatch,
  findDifference,
  fitsMethod,
  normalizePath,
  type RequestMatch,
} from '../match.ts';
import { type Candidate, describeNearest } from '../nearest.ts';
import { type MatchedRequests, type Rule, Rules } from '../rules.ts';
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
import { toActionResponse } from './response.ts';

/** What a stub consists of beside its match. */
interface StubParts {
  /** Whether it answers only what nothing else does. */
  readonly isFallback: boolean;
  /** What a request at its path must have; undefined if only the method decides, which the resource has. */
  readonly conditions: RequestMatch | undefined;
  /** The names of the parameters of its path. */
  readonly names: readonly string[];
  readonly resource: Resource;
}

/** A stub as a rule. */
export type StubRule = Rule<StubParts>;

/** The stubs as a part of a double. */
export type StubsPart = ReturnType<typeof createStubs>;

/** Compares what stubs receive and send with the document of a partner. */
export interface StubCheck {
  /**
   * Checks a request that a stub answers. Throws a Problem, or rejects with it, if the document has the operation and the request is
   * refused.
   * @param stub describes the stub
   * @returns a function that returns the response with warnings if the document does not allow the request or the response
   */
  validate(call: Call, stub: string): MaybePromise<(response: ActionResponse) => ActionResponse>;
  /** Returns the operations of the document, and how a request differs from each. */
  candidates(request: IncomingRequest): readonly Candidate[];
}

/** What stubs know of their double. */
interface StubsOptions {
  readonly schemes: readonly AuthScheme[];
  /** The maximum nesting of JSON content. */
  readonly maxDepth: number;
  /** Checks requests and responses with the document of a partner. Default: none is checked. */
  readonly check?: StubCheck | undefined;
  /** Compares requests with the matches of stubs. */
  readonly requests: MatchedRequests;
  /** The stubs at the start. */
  readonly stubs?: readonly Stub<unknown>[] | undefined;
}

/** The stubs at one template. */
type Leaf = Set<StubRule>;

/** Creates the stubs of a double. Throws RangeError if one is invalid. */
export function createStubs({ schemes, maxDepth, check, requests, stubs = [] }: StubsOptions) {
  const [first, last] = [new StubPlaces(), new StubPlaces()];
  let methods: ReadonlySet<string> | undefined;
  const rules = new Rules<StubParts>(requests, {
    place: ({ isFallback, match }) => (isFallback ? last : first).at(findPath(match)),
    conditions: ({ conditions }) => conditions,
    keepsExhausted: true,
    onChange() {
      methods = undefined;
    },
  });
  // On first use, because most doubles have no stubs.
  const reading = once(() => createAnyReader(maxDepth));
  /** Reverts the count of a request that is refused when it has been routed. */
  const reverts = new WeakMap<IncomingRequest, () => void>();

  const validate = async (call: Call, by: StubCheck, stub: string) => {
    try {
      return await by.validate(call, stub);
    } catch (error) {
      reverts.get(call.incoming)?.();
      throw error;
    }
  };

  /** Adds a stub. Throws RangeError if it is invalid. */
  const add = (stub: Stub<unknown>): StubRule => {
    const { match, response, access = 'authenticated', schemes: accepted, times } = stub;
    checkStub(match, selectOptions(stub));
    const name = describeRequestMatch(match);
    checkSchemeNames(accepted, schemes, `schemes of the stub for ${name}`);
    const respond = responder(match, response);
    const respondChecked = async (call: Call, by: StubCheck): Promise<ActionResponse> => {
      const complete = await validate(call, by, name);
      return complete(await respond(call));
    };
    const handle = (call: Call): MaybePromise<ActionResponse> =>
      check === undefined ? respond(call) : respondChecked(call, check);
    const answer = action(access, handle, { reads: [reading()], bodyOptional: true });
    const path = findPath(match);
    const parts = {
      isFallback: stub.fallback === true,
      conditions: findConditions(match),
      names: path === undefined ? [] : ensureBranch<Leaf>(createBranch(), path).names,
      resource: stubResource(match, stub, answer),
    };
    return rules.add(match, parts, times);
  };
  const toMatch = (rule: StubRule, values: readonly string[], request: IncomingRequest): Match => ({
    template: findPath(rule.match) ?? normalizePath(request),
    resource: rule.resource,
    parameters: nameParameters(rule.names, values),
    reserve() {
      const revert = rules.take(rule);
      if (check !== undefined) reverts.set(request, revert);
      return revert;
    },
  });
  const furtherMethods = (): ReadonlySet<string> => {
    methods ??= new Set(rules.remaining().flatMap(({ resource }) => listFurtherMethods(resource)));
    return methods;
  };
  const nearest = (request: IncomingRequest): string | undefined =>
    describeNearest(requests.view(request), [
      ...listCandidates(rules, requests, request),
      ...(check?.candidates(request) ?? []),
    ]);

  const createLayer = (places: StubPlaces): RouteLayer => ({
    find(segments, request) {
      if (request === undefined) return [];
      const reached = places.find(segments);
      const valuesOf = (rule: StubRule) => reached.find(({ leaf }) => leaf.has(rule))?.values ?? [];
      const found = rules.list(
        request,
        reached.flatMap(({ leaf }) => [...leaf]),
      );
      return found.map((rule) => toMatch(rule, valuesOf(rule), request));
    },
    get routes() {
      return rules.remaining().flatMap(({ match, isFallback, resource }) => {
        const template = findPath(match);
        return template === undefined || isFallback !== (places === last) ? [] : [{ template, resource }];
      });
    },
    furtherMethods,
    ...(places === first && { nearest }),
  });

  for (const stub of stubs) {
    checkStubMembers(stub);
    add(stub);
  }
  rules.markInitial();
  return {
    /** The routes of the stubs, which precede all others. */
    layer: createLayer(first),
    /** The routes of the stubs with `fallback`, which are asked after all others. */
    fallback: createLayer(last),
    add,
    /** The stubs that were added. */
    rules,
  };
}

/** Where stubs are looked for: at their paths, or everywhere. */
class StubPlaces {
  readonly #root = createBranch<Leaf>();
  readonly #anywhere: Leaf = new Set();

  /** Returns the place of the stubs with this path or template. */
  at(path: string | undefined): Leaf {
    if (path === undefined) return this.#anywhere;
    const { branch } = ensureBranch(this.#root, path);
    branch.leaf ??= new Set();
    return branch.leaf;
  }

  /** Returns the places that a path reaches, with the segments that stand for parameters. */
  find(segments: readonly string[]): readonly { readonly leaf: Leaf; readonly values: readonly string[] }[] {
    const reached = findLeaves(this.#root, segments);
    return this.#anywhere.size === 0 ? reached : [...reached, { leaf: this.#anywhere, values: [] }];
  }
}

function selectOptions({ match: _, response: __, ...options }: Stub<unknown>): StubOptions {
  return options;
}

/** Returns what a match requires beside the path, which the tree finds, and the method, which the resource has. */
function findConditions(match: RequestMatch): RequestMatch | undefined {
  if (typeof match === 'function') return match;
  const { method: _, path, ...others } = match;
  const conditions = { ...others, ...(path instanceof RegExp && { path }) };
  return Object.values(conditions).some((value) => value !== undefined) ? conditions : undefined;
}

/** Returns how a request differs from each stub, the last one first, and those that have answered all their requests. */
function listCandidates(
  rules: Rules<StubParts>,
  requests: MatchedRequests,
  request: IncomingRequest,
): readonly Candidate[] {
  const explain = ({ match }: StubRule, difference: string | undefined): string | undefined =>
    difference && `stub is ${describeRequestMatch(match)}, but ${difference}`;
  const open = rules.remaining().map((rule) => {
    const match = answeredAs(rule.match, request.method);
    return { match, explain: () => explain(rule, requests.findDifference(request, rule, match)) };
  });
  const exhausted = rules.exhausted().flatMap((rule) => {
    const match = answeredAs(rule.match, request.method);
    // A function may count its calls, and the stub would not answer in any case.
    if (typeof match === 'function') return [];
    const difference = findDifference(requests.view(request), match, () => true);
    const answered = rule.count === 1 ? 'its request' : `its ${rule.count} requests`;
    const used = `it has answered ${answered}, and times permits no more`;
    return [{ match, matches: difference === undefined, explain: () => explain(rule, difference ?? used) }];
  });
  return [...open.toReversed(), ...exhausted.toReversed()];
}

/** Returns the match without its methods if GET is one of them, which answers HEAD, too, and the method is HEAD. */
function answeredAs(match: RequestMatch, method: string): RequestMatch {
  if (method !== 'HEAD' || typeof match === 'function' || !fitsMethod('GET', match)) return match;
  return { ...match, method: undefined };
}

/** Returns the function that creates the outcome of a stub. Throws RangeError if a fixed response cannot be sent. */
function responder(
  match: StubMatch,
  response: StubHandler<unknown>,
): (call: Call) => MaybePromise<ActionResponse> {
  if (typeof response !== 'function') {
    const outcome = toActionResponse(response);
    return () => outcome;
  }
  return async (call) => {
    const returned = await response(toStubRequest(call));
    try {
      return isPlatformResponse(returned) ? await readPlatformResponse(returned) : toActionResponse(returned);
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
