import type { Request } from '../http/message.ts';
import { parseTarget } from '../http/target.ts';

/**
 * Which requests are meant: all that fit everything that is given.
 * @example { method: 'PUT', path: '/articles/{id}', user: 'johndoe' }
 */
export interface Match {
  /** `GET`; several by a list. */
  readonly method?: string | readonly string[];
  /** The path without its query: as it is, as a template (`/articles/{id}`), or as a pattern. */
  readonly path?: string | RegExp;
  /** The user that the credentials speak of, be they good or not. */
  readonly user?: string;
}

/** The path as it is compared: escapes of what needs none are taken away, where the target can be read at all. */
export function pathOf({ target, method }: Pick<Request, 'target' | 'method'>): string {
  try {
    return parseTarget(target, method).path;
  } catch {
    return target.replace(/[?#].*$/s, '');
  }
}

/** Whether a path is what is meant. */
function fitsPath(path: string, wanted: string | RegExp): boolean {
  if (typeof wanted === 'string' && !wanted.includes('{')) return path === wanted;
  const form = typeof wanted === 'string' ? templateForm(wanted) : wanted;
  form.lastIndex = 0; // a pattern with g or y would begin where it was left
  return form.test(path);
}

/** A template as a pattern: a parameter is one segment that is not empty. */
function templateForm(template: string): RegExp {
  const parts = template.split(/\{[A-Za-z][A-Za-z0-9_]*\}/);
  return new RegExp(`^${parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('[^/]+')}$`);
}

/** How a request differs from what is meant, each difference in a few words; none where it fits. */
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

/** A match in a few words: `PUT /articles/{id} by johndoe`. */
export function describeMatch({ method, path, user }: Match): string {
  const by = user === undefined ? '' : ` by ${user}`;
  return `${[method ?? 'any method'].flat().join(' or ')} ${String(path ?? 'anywhere')}${by}`;
}
