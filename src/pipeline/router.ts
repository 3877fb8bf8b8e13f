import type { IncomingRequest } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import type { Target } from '../http/target.ts';
import type { Principal } from '../principal.ts';
import {
  type Branch,
  createBranch,
  ensureBranch,
  findLeaf,
  isParameterValue,
  nameParameters,
} from './path-tree.ts';
import { basePathAdvice, segmentsForRouter } from './proxy.ts';
import {
  actionFor,
  allow,
  listFurtherMethods,
  listPossibleMethods,
  type Parameters,
  type Resource,
  sortMethods,
} from './resource.ts';

/** A resource with its path template. */
export interface Route {
  /** `/users/{username}/financialrecords`. */
  readonly template: string;
  /** May be created on first use. */
  readonly resource: Resource;
  /** Returns whether the route is available. Default: always. */
  readonly open?: () => boolean;
}

/** A route with the parameters of a path that matches it. */
export interface Match extends Route {
  readonly parameters: Parameters;
  /** All routes at this address in the order in which they are asked, if there are several. The first that implements a method answers. */
  readonly peers?: readonly Match[] | undefined;
  /** Reserves the route for one request if their number is limited. Returns a function that gives the reservation back. */
  readonly reserve?: (() => () => void) | undefined;
}

/** Finds resources by path. */
export interface Router {
  /** Returns the route that matches these decoded segments; undefined if there is none. `request` selects between several. */
  find(segments: readonly string[], request?: IncomingRequest): Match | undefined;
  /** All routes in the order given, including unavailable ones. */
  readonly routes: readonly Route[];
  /** Returns the methods that some resource implements beside those of collections. */
  furtherMethods(): ReadonlySet<string>;
  /** Describes the route that a request comes nearest to which none answers. Default: it is not described. */
  nearest?(request: IncomingRequest): string | undefined;
}

/** Routes that are asked before or after those of a router, and may change at any time. */
export interface RouteLayer {
  /**
   * Returns the routes at an address, the first one first. Those that do not implement the method of the request are included.
   * @param request selects between several; undefined for all routes at the address, if they are known without a request
   * @param router has the other routes
   */
  find(segments: readonly string[], request: IncomingRequest | undefined, router: Router): readonly Match[];
  /** Returns whether its routes are asked before those that precede them. Default: never. */
  precedes?(segments: readonly string[], request: IncomingRequest): boolean;
  readonly routes: readonly Route[];
  furtherMethods(): ReadonlySet<string>;
  /** Describes the route that a request comes nearest to which none answers. Default: it is not described. */
  nearest?(request: IncomingRequest): string | undefined;
}

/** Returns a router that asks further routes after its own. */
export function extendRoutes(router: Router, fallback: RouteLayer): Router {
  return {
    routes: [...router.routes, ...fallback.routes],
    find(segments, request) {
      const base = router.find(segments, request);
      const after = fallback.find(segments, request, router);
      if (after.length === 0) return base;
      const isFirst = request !== undefined && fallback.precedes?.(segments, request) === true;
      const peers = base === undefined ? after : isFirst ? [...after, base] : [base, ...after];
      const method = request?.method;
      const answering = peers.find(
        ({ resource }) => method !== undefined && actionFor(resource, method) !== undefined,
      );
      const match = answering ?? peers[0];
      return match && { ...match, peers };
    },
    furtherMethods: () => new Set([...router.furtherMethods(), ...fallback.furtherMethods()]),
    nearest: (request) => fallback.nearest?.(request) ?? router.nearest?.(request),
  };
}

/** Returns the route of a target. `*` is the server itself, for which there is none. Throws a Problem (404). */
export function findRoute(target: Target, request: IncomingRequest, router: Router): Match {
  if (target.asterisk) return { template: '*', resource: {}, parameters: {} };
  const route = router.find(segmentsForRouter(target, request), request);
  if (route === undefined) throw notFound(withNearest(basePathAdvice(target, request), request, router));
  return route;
}

/** Returns the reason of a refusal, and the route that the request comes nearest to. */
export function withNearest(reason: string, request: IncomingRequest, router: Router): string {
  const nearest = router.nearest?.(request);
  return nearest === undefined ? reason : `${reason} ${nearest}`;
}

/** Returns the problem of an address without a resource. */
export function notFound(advice = ''): Problem {
  return new Problem('not-found', `Nothing is at this address.${advice}`);
}

/** Returns a router that asks the routes of a layer first. */
export function layerRoutes(layer: RouteLayer, router: Router): Router {
  return {
    get routes() {
      return layer.routes.length === 0 ? router.routes : [...layer.routes, ...router.routes];
    },
    find(segments, request) {
      const base = router.find(segments, request);
      const before = request === undefined ? [] : layer.find(segments, request, router);
      if (request === undefined || before.length === 0) return base;
      const peers = base === undefined ? before : [...before, ...(base.peers ?? [base])];
      const answering = peers.find(({ resource }) => actionFor(resource, request.method) !== undefined);
      const match = answering ?? peers.at(-1);
      return match && { ...match, peers };
    },
    furtherMethods() {
      const own = layer.furtherMethods();
      return own.size === 0 ? router.furtherMethods() : new Set([...own, ...router.furtherMethods()]);
    },
    nearest: (request) => layer.nearest?.(request) ?? router.nearest?.(request),
  };
}

/** Returns the methods that this principal may use at an address, in the order of `Allow`. */
export function allowAt(match: Match, principal: Principal | undefined): string[] {
  return methodsAt(match, ({ resource, parameters }) => allow(resource, principal, parameters));
}

/** Returns the methods that some principal could use at an address, in the order of `Allow`. */
export function listPossibleMethodsAt(match: Match): string[] {
  return methodsAt(match, ({ resource }) => listPossibleMethods(resource));
}

/** Returns the methods of all routes at an address. The first route that implements a method decides. */
function methodsAt(match: Match, listMethods: (match: Match) => string[]): string[] {
  const { peers } = match;
  if (peers === undefined) return listMethods(match);
  const found = new Set<string>();
  peers.forEach((peer, at) => {
    const earlier = peers.slice(0, at);
    for (const method of listMethods(peer))
      if (earlier.every(({ resource }) => actionFor(resource, method) === undefined)) found.add(method);
  });
  return sortMethods([...found]);
}

/** A route, and the names of its parameters. */
interface Leaf {
  readonly route: Route;
  readonly names: readonly string[];
}

/** Creates a router. Throws RangeError on a malformed template, and on two templates that match the same paths. */
export function createRouter(routes: readonly Route[]): Router {
  const root = createBranch<Leaf>();
  for (const route of routes) addRoute(root, route);
  let further: ReadonlySet<string> | undefined;
  return {
    routes,
    find(segments) {
      const reached = findLeaf(root, segments);
      if (reached === undefined) return undefined;
      const { route, names } = reached.leaf;
      if (route.open?.() === false) return undefined;
      const { template, resource } = route;
      // Collections have problems of their own for ids that clients cannot choose.
      if (resource.checksParameters !== true && !reached.values.every(isParameterValue)) return undefined;
      return { template, resource, parameters: nameParameters(names, reached.values) };
    },
    furtherMethods() {
      // On first use, since most requests have one of the six methods, and some resources are created on first use.
      further ??= new Set(routes.flatMap(({ resource }) => listFurtherMethods(resource)));
      return further;
    },
  };
}

function addRoute(root: Branch<Leaf>, route: Route): void {
  const { template } = route;
  const { branch, names } = ensureBranch(root, template);
  if (branch.leaf !== undefined)
    throw new RangeError(`${template} and ${branch.leaf.route.template} are the same path`);
  branch.leaf = { route, names };
}
