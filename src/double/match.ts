// Which requests a rule is for: a fault, a stub, a response of a partner, or a question to the journal.

import { didYouMean, findClosestMatch } from '../did-you-mean.ts';
import type { HttpHeaders } from '../http/fields.ts';
import type { IncomingRequest } from '../http/message.ts';
import { methods } from '../http/method.ts';
import { type ProblemType, problemTypeNames } from '../http/problem-types.ts';
import { isToken } from '../http/syntax/token.ts';
import { parseTarget } from '../http/target.ts';
import { createFault } from '../shape/fault.ts';
import {
  anything,
  either,
  instanceOf,
  leaf,
  listOf,
  mapOf,
  object,
  optional,
  read,
  refine,
  type Shape,
  type ShapesOf,
  text,
  textLike,
  word,
} from '../shape/shape.ts';
import { isPromise, type ReportError, reportBy } from './callback.ts';

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

/** Texts or patterns by name. Null, or undefined, requires that there is no value of that name. */
export type TextsByName = Readonly<Record<string, string | RegExp | null | undefined>>;

/**
 * Selects requests. A request matches if it matches every member that is present.
 * @example { method: 'PUT', path: '/articles/{id}', user: 'johndoe' }
 */
export interface RequestMatchParts<Path extends string = string> {
  /** A method such as `GET`, or a list of methods. */
  readonly method?: MatchMethod | readonly MatchMethod[] | undefined;
  /** The path without its query: exactly, as a template (`/articles/{id}`), or as a regular expression. Default: any. */
  readonly path?: BarePath<Path> | RegExp | undefined;
  /**
   * The user whom the credentials name, valid or not. Those of Bearer and OAuth name the user to whom the token was issued, or
   * else the client.
   */
  readonly user?: string | undefined;
  /** The scheme of the credentials, valid or not: `stripe`. */
  readonly scheme?: string | undefined;
  /**
   * Parameters of the query, decoded. If a parameter is repeated, one of its values must match; null requires that it is absent.
   * @example { limit: '1', after: /./, page: null }
   */
  readonly query?: TextsByName | undefined;
  /**
   * Header fields by name, in any case. If a field has several lines, one of them must match as a whole; null requires that it is
   * absent.
   * @example { 'Content-Type': /^application\/json/ }
   */
  readonly headers?: TextsByName | undefined;
  /**
   * The content: a part of JSON or of a form, whose members must be there with these values (null: absent or null); the whole text,
   * or a regular expression for it; or a function of the decoded content. If a parameter of a form is repeated, one of its values must match.
   * @example { type: 'order', customer: { id: 7 }, coupon: null }
   */
  readonly body?: unknown;
}

/** The request that the function of a match receives. */
export interface MatchedRequest {
  /** The method as sent, such as `GET`. */
  readonly method: string;
  /** The request target as sent. */
  readonly target: string;
  /** The normalized path. */
  readonly path: string;
  /** The parameters of the query, decoded. */
  readonly query: URLSearchParams;
  /** The header fields. */
  readonly headers: HttpHeaders;
  /**
   * The content, decoded as for the function of a stub: JSON as its value, a form as URLSearchParams, text as a string, all else as
   * bytes. Undefined without content, and if it cannot be decoded.
   */
  readonly body: unknown;
  /** The user whom the credentials name, or to whom a token was issued, or else the client. Undefined if there is none. */
  readonly user: string | undefined;
  /** The scheme of the credentials, valid or not. Undefined if there are none. */
  readonly scheme: string | undefined;
  /** Whether the request arrived over TLS. */
  readonly secure: boolean;
}

/**
 * Selects requests by members or by a function. A function that throws or returns a promise matches no request, and its error is
 * reported to `onError`.
 */
export type RequestMatch<Path extends string = string> =
  | RequestMatchParts<Path>
  | ((request: MatchedRequest) => boolean);

/** Describes a method: a token in upper case (RFC 9110 §9.1) that is not probably one of the six misspelt. */
const methodShape: Shape<MatchMethod> = textLike(
  { pattern: '^[^a-z]+$' },
  (method): method is MatchMethod => findMeantMethod(method) === undefined && methodForm.test(method),
  (method) => {
    const meant = findMeantMethod(method);
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
    return `must be a method in upper case, is ${JSON.stringify(method)}${hint}`;
  },
  { expected: 'a method such as GET' },
);

function findMeantMethod(method: string): string | undefined {
  return methods.some((each) => each === method) ? undefined : findClosestMatch(method, methods);
}

const methodForm = /^[A-Z][A-Z0-9!#$%&'*+.^_`|~-]*$/;

/** Describes a path without its query: exactly, or as a template. `expected` is what messages say of another type. */
function describePath(expected = 'text'): Shape<MatchPath> {
  return textLike(
    {
      pattern: '^(?:/|\\*$)',
      description: 'the path without its query: exactly, or as a template such as /articles/{id}',
    },
    (path): path is MatchPath => path === '*' || findPathFault(path) === undefined,
    (path) => `${findPathFault(path)}`,
    { expected },
  );
}

/** Describes a path without its query: exactly, or as a template. */
export const pathShape = describePath();

/** Returns the predicate of the message about a path; undefined if it is valid. */
function findPathFault(path: string): string | undefined {
  const shown = JSON.stringify(path);
  if (!path.startsWith('/')) return `must begin with a slash, is ${shown}; did you mean "/${path}"?`;
  const bare = path.replace(/[?#].*$/s, '');
  if (bare !== path) return `must not have a query or fragment, is ${shown}; did you mean "${bare}"?`;
  return /[{}]/.test(path.replace(parameter, ''))
    ? `must be a template such as /articles/{id}, is ${shown}`
    : undefined;
}

/** Describes text, or a regular expression that a text must match. */
export const textOrPattern: Shape<string | RegExp> = either(
  instanceOf(RegExp, 'a regular expression'),
  text(undefined, { expected: 'text or a regular expression' }),
);

/** Returns whether a text contains another one, or what a pattern matches. */
export function containsText(text: string, wanted: string | RegExp): boolean {
  return typeof wanted === 'string' ? text.includes(wanted) : text.search(wanted) >= 0;
}

/** Describes a problem type. */
export const problemTypeShape: Shape<ProblemType> = word(problemTypeNames, undefined, 'a problem type');

const textOrNone = leaf(
  {},
  'text, a regular expression or null',
  (value): value is TextsByName[string] =>
    value === null || value === undefined || typeof value === 'string' || value instanceof RegExp,
);

/** Describes texts by name. An empty object would match every request. */
function describeTexts(isName: (name: string) => boolean): Shape<TextsByName> {
  const texts = mapOf(textOrNone, undefined, {
    expected: "an object such as { limit: '1' }",
    checkName: (name, path) => (isName(name) ? [] : [createFault(path, 'is not the name of a field')]),
  });
  return refine(texts, (given, path) =>
    Object.keys(given).length === 0 ? [createFault(path, 'must have a member')] : [],
  );
}

/** The members of a match. A match that is invalid would match no request, or every one. */
export const matchMembers = {
  method: optional(
    either(
      methodShape,
      listOf(methodShape, undefined, { min: 1, expected: 'a method such as GET, or a list of methods' }),
    ),
  ),
  path: optional(
    either(instanceOf(RegExp, 'a regular expression'), describePath('text or a regular expression')),
  ),
  user: optional(text(undefined, { min: 1, expected: 'the name of a user' })),
  scheme: optional(text()),
  query: optional(describeTexts(() => true)),
  headers: optional(describeTexts(isToken)),
  body: optional(
    refine(anything, (body, path) =>
      isAsynchronous(body)
        ? [createFault(path, 'must be a function that returns true or false, and it is asynchronous')]
        : [],
    ),
  ),
} satisfies ShapesOf<RequestMatchParts>;

/** What a match can be, for messages. */
export const matchExample = "an object or a function such as { path: '/articles' }";

const matchShape = object(matchMembers, undefined, { expected: matchExample });

const notBoolean = 'the function of a match must return true or false';

/** Throws RangeError if a match is invalid, with the nearest known name. */
export function checkRequestMatch(match: RequestMatch): void {
  if (typeof match !== 'function') read(matchShape, match, 'a match');
  else if (isAsynchronous(match)) throw new RangeError(`${notBoolean}, and it is asynchronous`);
}

function isAsynchronous(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object AsyncFunction]';
}

/** Throws RangeError if a match names none of these users and clients, with the nearest name. It would match no request. */
export function checkName({ user }: RequestMatchParts, names: readonly string[]): void {
  if (user !== undefined && !names.includes(user))
    throw new RangeError(`the double has no user ${user}${didYouMean(user, names)}`);
}

/** A parameter of a template. */
const parameter = /\{[A-Za-z][A-Za-z0-9_]*\}/g;

/** Returns whether a match depends on the user of the request; a function may. */
export function dependsOnUser(match: RequestMatch): boolean {
  return typeof match === 'function' || match.user !== undefined;
}

/** Returns whether a match depends on the content of the request; a function may. */
export function dependsOnContent(match: RequestMatch): boolean {
  return typeof match === 'function' || match.body !== undefined;
}

/** Returns whether a match selects certain requests only. */
export function isRestricted(match: RequestMatch): boolean {
  return typeof match === 'function' || Object.values(match).some((value) => value !== undefined);
}

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
export function fitsMethod(method: string, { method: wanted }: RequestMatchParts): boolean {
  return wanted === undefined || [wanted].flat().some((each) => each === method);
}

/** Calls the function of a match. Returns whether it selects the request. */
export type CallMatch = (run: () => unknown) => boolean;

/** Returns the first member in which a request differs from a match, without values of the content; undefined if it matches. */
export function findDifference(
  request: MatchedRequest,
  match: RequestMatch,
  call: CallMatch,
): string | undefined {
  if (typeof match === 'function')
    return call(() => match(request)) ? undefined : 'the function does not match the request';
  const [first] = differences(request, match, call);
  return first;
}

/** Yields how a request differs from a match, one phrase for each member. Nothing is compared before it is asked for. */
export function* differences(
  request: MatchedRequest,
  { method, path, user, scheme, query = {}, headers = {}, body }: RequestMatchParts,
  call: CallMatch,
): Generator<string, void> {
  if (method !== undefined && !fitsMethod(request.method, { method }))
    yield `the method is ${request.method}, not ${[method].flat().join(' or ')}`;
  if (path !== undefined && !fitsPath(request.path, path))
    yield `the path is ${request.path}, not ${String(path)}`;
  if (user !== undefined && user !== request.user)
    yield `the user is ${request.user ?? 'nobody'}, not ${user}`;
  if (scheme !== undefined && scheme !== request.scheme)
    yield `the scheme is ${request.scheme ?? 'none'}, not ${scheme}`;
  for (const [name, wanted] of Object.entries(query)) {
    const found = describeDifference(request.query.getAll(name), wanted);
    if (found !== undefined) yield `the query parameter ${name} ${found}`;
  }
  for (const [name, wanted] of Object.entries(headers)) {
    const found = describeDifference(request.headers.getAll(name.toLowerCase()), wanted);
    if (found !== undefined) yield `the header ${name} ${found}`;
  }
  const found = body === undefined ? undefined : findBodyDifference(request.body, body, call);
  if (found !== undefined) yield found;
}

function describeDifference(values: readonly string[], wanted: TextsByName[string]): string | undefined {
  if (wanted === null || wanted === undefined) return values.length === 0 ? undefined : 'is there';
  const fits = values.some((value) =>
    typeof wanted === 'string' ? value === wanted : value.search(wanted) >= 0,
  );
  if (fits) return undefined;
  return values.length === 0 ? 'is missing' : `is not ${String(wanted)}`;
}

function findBodyDifference(body: unknown, wanted: unknown, call: CallMatch): string | undefined {
  if (typeof wanted === 'function')
    return call(() => wanted(body)) ? undefined : 'the function does not match the content';
  if (wanted instanceof RegExp || typeof wanted === 'string') {
    const text = toText(body);
    const fits = typeof wanted === 'string' ? text === wanted || body === wanted : text.search(wanted) >= 0;
    return fits ? undefined : `the content is not ${String(wanted)}`;
  }
  return isForm(body) ? findFormDifference(body, wanted) : findPartDifference(body, wanted);
}

function toText(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  if (body instanceof Uint8Array) return Buffer.from(body).toString('utf8');
  return body === undefined ? '' : JSON.stringify(body);
}

/** A form, of which a name can have several values. */
type Form = URLSearchParams | FormData;

function isForm(body: unknown): body is Form {
  const tag = Object.prototype.toString.call(body);
  return tag === '[object URLSearchParams]' || tag === '[object FormData]';
}

/** Describes the first parameter that differs; undefined if the form has all that is wanted. */
function findFormDifference(form: Form, wanted: unknown): string | undefined {
  if (typeof wanted !== 'object' || wanted === null) return describeMember('', form, wanted);
  for (const [name, each] of Object.entries(wanted)) {
    const sent: readonly unknown[] = form.getAll(name);
    const values = sent.length === 0 ? [undefined] : sent;
    if (!values.some((value) => findPartDifference(value, each) === undefined))
      return describeMember(pointTo(name), values[0], each);
  }
  return undefined;
}

/** Describes a member that differs by its JSON Pointer (RFC 6901). */
function describeMember(path: string, value: unknown, wanted: unknown): string {
  if (path === '') return 'the content is another one';
  const difference = value === undefined ? 'missing' : wanted === null ? 'there' : 'another one';
  return `the member ${path} of the content is ${difference}`;
}

function pointTo(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Describes the first member that differs; undefined if the value has all that is wanted. */
function findPartDifference(value: unknown, wanted: unknown, path = ''): string | undefined {
  const differ = (): string => describeMember(path, value, wanted);
  if (wanted === null) return value === null || value === undefined ? undefined : differ();
  if (typeof wanted !== 'object') return Object.is(value, wanted) ? undefined : differ();
  if (wanted instanceof RegExp)
    return typeof value === 'string' && containsText(value, wanted) ? undefined : differ();
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== Array.isArray(wanted))
    return differ();
  if (Array.isArray(value) && Array.isArray(wanted) && value.length !== wanted.length) return differ();
  for (const [name, each] of Object.entries(wanted)) {
    const own: unknown = Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
    const found = findPartDifference(own, each, `${path}${pointTo(name)}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns what the function of a match returns. Throws RangeError on a promise, which would otherwise select everything. */
export function callMatch(run: () => unknown): boolean {
  const result = run();
  if (!isPromise(result)) return Boolean(result);
  result.then(undefined, () => undefined);
  throw new RangeError(`${notBoolean}, and it returned a promise`);
}

/** Returns what the function of a match returns. Its error is reported, and selects no request. */
export function tryMatch(run: () => unknown, report: ReportError): boolean {
  try {
    return callMatch(run);
  } catch (error) {
    reportBy(report, error);
    return false;
  }
}

/** Describes a match: `PUT /articles/{id} by ann, query limit=1, header X-One: 1`. */
export function describeRequestMatch(match: RequestMatch): string {
  if (typeof match === 'function') return 'the function';
  const { method, path, user, scheme, query = {}, headers = {}, body } = match;
  const describe = (value: TextsByName[string]): string =>
    value === null || value === undefined ? 'none' : String(value);
  const by = user === undefined ? '' : ` by ${user}`;
  return [
    `${[method ?? 'any method'].flat().join(' or ')} ${String(path ?? 'any path')}${by}`,
    ...(scheme === undefined ? [] : [`scheme ${scheme}`]),
    ...Object.entries(query).map(([name, value]) => `query ${name}=${describe(value)}`),
    ...Object.entries(headers).map(([name, value]) => `header ${name}: ${describe(value)}`),
    ...(body === undefined ? [] : [`content ${describeBody(body)}`]),
  ].join(', ');
}

function describeBody(body: unknown): string {
  if (typeof body === 'function') return 'by a function';
  return body instanceof RegExp ? String(body) : JSON.stringify(body, writePattern);
}

/** Writes a pattern in JSON as text; a function of JSON.stringify. */
export function writePattern(_name: string, value: unknown): unknown {
  return value instanceof RegExp ? String(value) : value;
}

/**
 * Returns the values between the literal texts of a segment such as `{from}..{to}`, whose texts are '', '..' and ''. Each value has at
 * least one character and ends at the first place where the following text stands, so that there is nothing to try twice.
 * @returns undefined if the segment does not match
 */
export function matchSegment(texts: readonly string[], segment: string): readonly string[] | undefined {
  const [prefix = '', ...others] = texts;
  const suffix = others.pop();
  if (suffix === undefined) return segment === prefix ? [] : undefined;
  const end = segment.length - suffix.length;
  if (!segment.startsWith(prefix) || !segment.endsWith(suffix)) return undefined;
  const values: string[] = [];
  let start = prefix.length;
  for (const text of others) {
    const found = segment.indexOf(text, start + 1);
    if (found === -1) return undefined;
    values.push(segment.slice(start, found));
    start = found + text.length;
  }
  return start < end ? [...values, segment.slice(start, end)] : undefined;
}
