import type { Request } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import type { Target } from '../http/target.ts';
import { basePathAdvice, segmentsForRouter } from './proxy.ts';
import type { Parameters, Resource } from './resource.ts';

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
}

/** Finds resources by path. */
export interface Router {
  /** Returns the route that matches these decoded segments; undefined if there is none. */
  find(segments: readonly string[]): Match | undefined;
  /** All routes in the order given, including unavailable ones. */
  readonly routes: readonly Route[];
}

/** Returns the route of a target. `*` is the server itself, for which there is none. Throws a Problem (404). */
export function findRoute(target: Target, request: Request, router: Router): Match {
  if (target.asterisk) return { template: '*', resource: {}, parameters: {} };
  const route = router.find(segmentsForRouter(target, request));
  if (route === undefined) throw notFound(basePathAdvice(target, request));
  return route;
}

/** Returns the problem of an address without a resource. */
export function notFound(advice = ''): Problem {
  return new Problem('not-found', `Nothing is at this address.${advice}`);
}

/** A node of the tree of templates, one segment deep. Literals take precedence over the parameter. */
interface Branch {
  readonly literals: Map<string, Branch>;
  parameter: Branch | undefined;
  leaf: Leaf | undefined;
}

/** A route, and the names of its parameters. */
interface Leaf {
  readonly route: Route;
  readonly names: readonly string[];
}

/** Creates a router. Throws RangeError on a malformed template, and on two templates that match the same paths. */
export function createRouter(routes: readonly Route[]): Router {
  const root = newBranch();
  for (const route of routes) addRoute(root, route);
  return {
    routes,
    find(segments) {
      const values: string[] = [];
      const leaf = match(root, segments, 0, values);
      if (leaf === undefined || leaf.route.open?.() === false) return undefined;
      const { template, resource } = leaf.route;
      return { template, resource, parameters: named(leaf.names, values) };
    },
  };
}

function newBranch(): Branch {
  return { literals: new Map(), parameter: undefined, leaf: undefined };
}

const templateForm =
  /^\/(?:(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2}|\{[A-Za-z][A-Za-z0-9_]*\})+(?:\/|$))*$/;
const parameterForm = /^\{([A-Za-z][A-Za-z0-9_]*)\}$/;

function addRoute(root: Branch, route: Route): void {
  const { template } = route;
  if (!templateForm.test(template) || (template !== '/' && template.endsWith('/'))) {
    throw new RangeError(`${template} is not a path template such as /weather/{city}`);
  }
  const names: string[] = [];
  let branch = root;
  for (const segment of template.slice(1).split('/')) branch = branchFor(branch, segment, names, template);
  if (branch.leaf !== undefined)
    throw new RangeError(`${template} and ${branch.leaf.route.template} are the same path`);
  branch.leaf = { route, names };
}

function branchFor(branch: Branch, segment: string, names: string[], template: string): Branch {
  const name = parameterForm.exec(segment)?.[1];
  if (name !== undefined) {
    if (names.includes(name)) throw new RangeError(`${template} has the parameter ${name} twice`);
    names.push(name);
    branch.parameter ??= newBranch();
    return branch.parameter;
  }
  if (segment.includes('{')) throw new RangeError(`${template}: a parameter is a whole segment`);
  const literal = decodeURIComponent(segment);
  const next = branch.literals.get(literal) ?? newBranch();
  branch.literals.set(literal, next);
  return next;
}

/** Searches depth first, literals first. A parameter matches any segment but an empty one. */
function match(branch: Branch, segments: readonly string[], at: number, values: string[]): Leaf | undefined {
  const segment = segments[at];
  if (segment === undefined) return branch.leaf;
  const literal = branch.literals.get(segment);
  const found = literal === undefined ? undefined : match(literal, segments, at + 1, values);
  if (found !== undefined || branch.parameter === undefined || segment === '') return found;
  values.push(segment);
  const taken = match(branch.parameter, segments, at + 1, values);
  if (taken === undefined) values.pop();
  return taken;
}

function named(names: readonly string[], values: readonly string[]): Parameters {
  const parameters: Record<string, string> = {};
  // The names of a template do not begin with an underscore, so none of them is `__proto__`.
  for (let at = 0; at < names.length; at += 1) parameters[names[at] ?? ''] = values[at] ?? '';
  return parameters;
}
