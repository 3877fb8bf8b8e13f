import { didYouMean, findClosestMatch } from '../did-you-mean.ts';
import type { IncomingRequest } from '../http/message.ts';
import { methods } from '../http/method.ts';
import { parseTarget } from '../http/target.ts';
import { matchSegment } from '../pipeline/segment-template.ts';
import { checkMembers } from '../service/argument-checks.ts';
import { describeKind } from '../shape/fault.ts';

/** A method in a match. Methods are case-sensitive (RFC 9110 §9.1). */
export type MatchMethod = Uppercase<string>;

/** Returns whether a text has no lower-case letters, as a method in a match. */
export function isMatchMethod(word: string): word is MatchMethod {
  return word === word.toUpperCase();
}

/** A path in a match: it begins with a slash and has no query. `*` is the target of `OPTIONS *`. */
export type MatchPath = `/${string}` | '*';

/** A path in a match, without a query or fragment. `Path` is the type of the argument. */
export type BarePath<Path extends string> = Path &
  (Path extends `${string}?${string}` | `${string}#${string}`
    ? never
    : Path extends MatchPath
      ? Path
      : MatchPath);

/**
 * Selects requests. A request matches if it matches every member that is present.
 * @example { method: 'PUT', path: '/articles/{id}', user: 'johndoe' }
 */
export interface Match {
  /** A method such as `GET`, or a list of methods. */
  readonly method?: MatchMethod | readonly MatchMethod[] | undefined;
  /** The path without its query: exactly, as a template (`/articles/{id}`), or as a regular expression. */
  readonly path?: MatchPath | RegExp | undefined;
  /** The user that the credentials name, valid or not. */
  readonly user?: string | undefined;
}

/** The names of the members. The type checks that the list is complete. */
export const matchNames: Readonly<Record<keyof Match, true>> = { method: true, path: true, user: true };

/**
 * Throws RangeError if a match is invalid, with the nearest known name. Otherwise it would match no request, or every one.
 * @param names the names of the members that it may have
 * @param expected what it may be
 */
export function checkMatch(
  match: Match,
  names: readonly string[] = Object.keys(matchNames),
  expected = 'an object',
): void {
  if (typeof match !== 'object' || match === null || Array.isArray(match))
    throw new RangeError(
      `a match must be ${expected} such as { path: '/articles' }, is ${describeKind(match)}`,
    );
  checkMembers(match, names, 'a match');
  const { method, path, user } = match;
  if (Array.isArray(method) && method.length === 0)
    throw new RangeError('the list of methods of a match must not be empty');
  if (method !== undefined) for (const each of [method].flat()) checkMethod(each);
  if (path !== undefined) checkPath(path);
  if (user !== undefined && (typeof user !== 'string' || user === ''))
    throw new RangeError(`user of a match must be the name of a user, is ${describeKind(user)}`);
}

/** Throws RangeError if a match names none of these users and clients, with the nearest name. It would match no request. */
export function checkName({ user }: Match, names: readonly string[]): void {
  if (user !== undefined && !names.includes(user))
    throw new RangeError(`the double has no user ${user}${didYouMean(user, names)}`);
}

/** Throws RangeError unless `method` is a token in upper case (RFC 9110 §9.1), or if it is probably one of the six misspelt. */
function checkMethod(method: unknown): void {
  if (typeof method !== 'string')
    throw new RangeError(`method of a match must be a method such as GET, is ${describeKind(method)}`);
  const meant = methods.some((each) => each === method) ? undefined : findClosestMatch(method, methods);
  if (meant === undefined && methodForm.test(method)) return;
  const hint = meant === undefined ? ' in upper case' : `; did you mean "${meant}"?`;
  throw new RangeError(`${JSON.stringify(method)} is not a method${hint}`);
}

const methodForm = /^[A-Z][A-Z0-9!#$%&'*+.^_`|~-]*$/;

function checkPath(path: unknown): void {
  if (path instanceof RegExp || path === '*') return;
  if (typeof path !== 'string')
    throw new RangeError(`path of a match must be text or a regular expression, is ${describeKind(path)}`);
  const shown = JSON.stringify(path);
  if (!path.startsWith('/'))
    throw new RangeError(`the path ${shown} of a match must begin with a slash; did you mean "/${path}"?`);
  const bare = path.replace(/[?#].*$/s, '');
  if (bare !== path)
    throw new RangeError(
      `the path ${shown} of a match must not have a query or fragment; did you mean "${bare}"?`,
    );
  if (/[{}]/.test(path.replace(parameter, '')))
    throw new RangeError(`the path ${shown} of a match is not a template such as /articles/{id}`);
}

/** A parameter of a template. */
const parameter = /\{[A-Za-z][A-Za-z0-9_]*\}/g;

/** Returns the normalized path: unreserved characters are decoded, if the target can be parsed. */
export function normalizePath({ target, method }: Pick<IncomingRequest, 'target' | 'method'>): string {
  try {
    return parseTarget(target, method).path;
  } catch {
    return target.replace(/[?#].*$/s, '');
  }
}

/** Returns whether a path matches. */
export function fitsPath(path: string, wanted: string | RegExp): boolean {
  if (typeof wanted === 'string' && !wanted.includes('{')) return path === wanted;
  if (typeof wanted === 'string') return fitsTemplate(path, wanted);
  wanted.lastIndex = 0; // a pattern with g or y would start at its last match
  return wanted.test(path);
}

/** Returns whether a path matches a template, in which a parameter is one or more characters of a segment. */
function fitsTemplate(path: string, template: string): boolean {
  const segments = path.split('/');
  const wanted = template.split('/');
  return (
    wanted.length === segments.length &&
    wanted.every((part, index) => matchSegment(part.split(/\{[^{}]+\}/), segments[index] ?? '') !== undefined)
  );
}

/** Returns whether a method is among those of a match, which are all by default. */
export function fitsMethod(method: string, { method: wanted }: Match): boolean {
  return wanted === undefined || [wanted].flat().some((each) => each === method);
}

/** Returns how a request differs from a match, one phrase for each difference. Empty if it matches. */
export function differences(
  { method, path, user }: Match,
  request: { readonly method: string; readonly path: string; readonly user: string | undefined },
): string[] {
  const found: string[] = [];
  if (method !== undefined && !fitsMethod(request.method, { method }))
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
