import type { Request } from '../http/message.ts';
import { parseTarget } from '../http/target.ts';

/**
 * Selects requests. A request matches if it matches every member that is present.
 * @example { method: 'PUT', path: '/articles/{id}', user: 'johndoe' }
 */
export interface Match {
  /** A method such as `GET`, or a list of methods. */
  readonly method?: string | readonly string[];
  /** The path without its query: exactly, as a template (`/articles/{id}`), or as a regular expression. */
  readonly path?: string | RegExp;
  /** The user that the credentials name, valid or not. */
  readonly user?: string;
}

/** Returns the normalized path: unreserved characters are decoded, if the target can be parsed. */
export function pathOf({ target, method }: Pick<Request, 'target' | 'method'>): string {
  try {
    return parseTarget(target, method).path;
  } catch {
    return target.replace(/[?#].*$/s, '');
  }
}

/** Returns whether a path matches. */
function fitsPath(path: string, wanted: string | RegExp): boolean {
  if (typeof wanted === 'string' && !wanted.includes('{')) return path === wanted;
  const pattern = typeof wanted === 'string' ? templatePattern(wanted) : wanted;
  pattern.lastIndex = 0; // a pattern with g or y would start at its last match
  return pattern.test(path);
}

/** Returns a pattern for a template, in which a parameter is one non-empty segment. */
function templatePattern(template: string): RegExp {
  const parts = template.split(/\{[A-Za-z][A-Za-z0-9_]*\}/);
  return new RegExp(`^${parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('[^/]+')}$`);
}

/** Returns how a request differs from a match, one phrase for each difference. Empty if it matches. */
export function differences(
  { method, path, user }: Match,
  request: { readonly method: string; readonly path: string; readonly user: string | undefined },
): string[] {
  const found: string[] = [];
  if (method !== undefined && ![method].flat().includes(request.method))
    found.push(`the method is ${request.method}, not ${[method].flat().join(' or ')}`);
  if (path !== undefined && !fitsPath(request.path, path))
    found.push(`the path is ${request.path}, not ${String(path)}`);
  if (user !== undefined && user !== request.user)
    found.push(`the user is ${request.user ?? 'nobody'}, not ${user}`);
  return found;
}

/** Describes a match: `PUT /articles/{id} by johndoe`. */
export function describeMatch({ method, path, user }: Match): string {
  const by = user === undefined ? '' : ` by ${user}`;
  return `${[method ?? 'any method'].flat().join(' or ')} ${String(path ?? 'any path')}${by}`;
}
