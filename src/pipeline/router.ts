import type { Parameters, Resource } from './resource.ts';

/** A resource with the template it stands under. */
export interface Route {
  /** `/users/{username}/financialrecords`. */
  readonly template: string;
  /** May be made when it is first asked for. */
  readonly resource: Resource;
  /** Whether there is anything now; left out, there always is. */
  readonly open?: () => boolean;
}

/** What a path led to. */
export interface Match extends Route {
  readonly parameters: Parameters;
}

/** Finds resources by path. */
export interface Router {
  /** The resource under these decoded segments; undefined when there is none. */
  find(segments: readonly string[]): Match | undefined;
  /** Every route, in the order given, also those that are not open. */
  readonly routes: readonly Route[];
}

/** One segment deep in the tree of templates: a literal goes before a parameter. */
interface Branch {
  readonly literals: Map<string, Branch>;
  parameter: Branch | undefined;
  planted: Planted | undefined;
}

/** A route, and the names of its parameters. */
interface Planted {
  readonly route: Route;
  readonly names: readonly string[];
}

/** Makes a router. Throws RangeError on a template that is malformed or given twice (parameter names aside). */
export function createRouter(routes: readonly Route[]): Router {
  const root = newBranch();
  for (const route of routes) plant(root, route);
  return {
    routes,
    find(segments) {
      const values: string[] = [];
      const planted = follow(root, segments, 0, values);
      if (planted === undefined || planted.route.open?.() === false) return undefined;
      const { template, resource } = planted.route;
      return { template, resource, parameters: named(planted.names, values) };
    },
  };
}

function newBranch(): Branch {
  return { literals: new Map(), parameter: undefined, planted: undefined };
}

const templateForm =
  /^\/(?:(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2}|\{[A-Za-z][A-Za-z0-9_]*\})+(?:\/|$))*$/;
const parameterForm = /^\{([A-Za-z][A-Za-z0-9_]*)\}$/;

function plant(root: Branch, route: Route): void {
  const { template } = route;
  if (!templateForm.test(template) || (template !== '/' && template.endsWith('/'))) {
    throw new RangeError(`${template} is not a path template such as /weather/{city}`);
  }
  const names: string[] = [];
  let branch = root;
  for (const segment of template.slice(1).split('/')) branch = grow(branch, segment, names, template);
  if (branch.planted !== undefined)
    throw new RangeError(`${template} and ${branch.planted.route.template} are the same path`);
  branch.planted = { route, names };
}

function grow(branch: Branch, segment: string, names: string[], template: string): Branch {
  const name = parameterForm.exec(segment)?.[1];
  if (name !== undefined) {
    if (names.includes(name)) throw new RangeError(`${template} has the parameter ${name} twice`);
    names.push(name);
    branch.parameter ??= newBranch();
    return branch.parameter;
  }
  if (segment.includes('{')) throw new RangeError(`${template}: a parameter is a whole segment`);
  const literal = decodeURIComponent(segment);
  const trace = branch.literals.get(literal) ?? newBranch();
  branch.literals.set(literal, trace);
  return trace;
}

/** Depth first, literals first; a parameter takes any segment but an empty one. */
function follow(
  branch: Branch,
  segments: readonly string[],
  at: number,
  values: string[],
): Planted | undefined {
  const segment = segments[at];
  if (segment === undefined) return branch.planted;
  const literal = branch.literals.get(segment);
  const found = literal === undefined ? undefined : follow(literal, segments, at + 1, values);
  if (found !== undefined || branch.parameter === undefined || segment === '') return found;
  values.push(segment);
  const taken = follow(branch.parameter, segments, at + 1, values);
  if (taken === undefined) values.pop();
  return taken;
}

function named(names: readonly string[], values: readonly string[]): Parameters {
  const parameters: Record<string, string> = {};
  // The names are those of a template (no underscore first), so none of them is `__proto__`.
  for (let at = 0; at < names.length; at += 1) parameters[names[at] ?? ''] = values[at] ?? '';
  return parameters;
}
