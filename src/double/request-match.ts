// Which requests a fault or a stub is for.

import type { HttpHeaders } from '../http/fields.ts';
import { checkObject, checkText } from '../service/argument-checks.ts';
import { describeKind } from '../shape/fault.ts';
import { isPromise, type ReportError, reportBy } from './callback.ts';
import { type BarePath, checkMatch, describeMatch, differences, type Match, matchNames } from './match.ts';

/** Texts or patterns by name. Null, or undefined, requires that there is no value of that name. */
export type TextsByName = Readonly<Record<string, string | RegExp | null | undefined>>;

/** Selects requests. A request matches if it matches every member that is present. */
export interface RequestMatchParts<Path extends string = string> extends Omit<Match, 'path'> {
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
   * The content: a part of JSON or of a form, whose members must be there with these values; the whole text, or a regular expression
   * for it; or a function of the decoded content.
   * @example { type: 'order', customer: { id: 7 } }
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

/** The names of the members. The type checks that the list is complete. */
const names: Readonly<Record<keyof RequestMatchParts, true>> = {
  ...matchNames,
  scheme: true,
  query: true,
  headers: true,
  body: true,
};

const notBoolean = 'the function of a match must return true or false';

/** Throws RangeError if a match is invalid, with the nearest known name. */
export function checkRequestMatch(match: RequestMatch): void {
  if (typeof match === 'function') {
    if (isAsynchronous(match)) throw new RangeError(`${notBoolean}, and it is asynchronous`);
    return;
  }
  checkMatch(match, Object.keys(names), 'an object or a function');
  checkText(match.scheme, 'scheme of a match');
  checkTexts(match.query, 'query');
  checkTexts(match.headers, 'headers');
  for (const name of Object.keys(match.headers ?? {}))
    if (!fieldName.test(name)) throw new RangeError(`${JSON.stringify(name)} is not the name of a field`);
  if (isAsynchronous(match.body))
    throw new RangeError(
      'the function for the body of a match must return true or false, and it is asynchronous',
    );
}

function isAsynchronous(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object AsyncFunction]';
}

/** The name of a field (RFC 9110 §5.1). */
const fieldName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

function checkTexts(texts: unknown, what: string): void {
  if (texts === undefined) return;
  checkObject(texts, `${what} of a match`, "such as { limit: '1' }");
  const entries = Object.entries(texts);
  if (entries.length === 0) throw new RangeError(`${what} of a match must have a member`);
  for (const [name, value] of entries) {
    const isAbsence = value === null || value === undefined;
    if (!isAbsence && typeof value !== 'string' && !(value instanceof RegExp))
      throw new RangeError(
        `${name} in ${what} of a match must be text, a regular expression or null, is ${describeKind(value)}`,
      );
  }
}

/** Returns whether a match depends on the user or the scheme of the request. */
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

/** Calls the function of a match. Returns whether it selects the request. */
export type CallMatch = (run: () => unknown) => boolean;

/** Returns the first member in which a request differs from a match, without values of the request; undefined if it matches. */
export function findDifference(
  request: MatchedRequest,
  match: RequestMatch,
  call: CallMatch,
): string | undefined {
  if (typeof match === 'function')
    return call(() => match(request)) ? undefined : 'the function does not match the request';
  const [first] = differences(match, request);
  if (first !== undefined) return first;
  const { scheme, query = {}, headers = {}, body } = match;
  if (scheme !== undefined && scheme !== request.scheme)
    return `the scheme is ${request.scheme ?? 'none'}, not ${scheme}`;
  for (const [name, wanted] of Object.entries(query)) {
    const found = describeDifference(request.query.getAll(name), wanted);
    if (found !== undefined) return `the query parameter ${name} ${found}`;
  }
  for (const [name, wanted] of Object.entries(headers)) {
    const found = describeDifference(request.headers.getAll(name.toLowerCase()), wanted);
    if (found !== undefined) return `the header ${name} ${found}`;
  }
  return body === undefined ? undefined : findBodyDifference(request.body, body, call);
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
  const path = findPartDifference(body instanceof URLSearchParams ? Object.fromEntries(body) : body, wanted);
  if (path === undefined) return undefined;
  return path === '' ? 'the content is another one' : `the member ${path} of the content is another one`;
}

function toText(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  if (body instanceof Uint8Array) return Buffer.from(body).toString('utf8');
  return body === undefined ? '' : JSON.stringify(body);
}

/** Returns the JSON Pointer (RFC 6901) of the first member that differs; undefined if the value has all that is wanted. */
function findPartDifference(value: unknown, wanted: unknown, path = ''): string | undefined {
  if (typeof wanted !== 'object' || wanted === null) return Object.is(value, wanted) ? undefined : path;
  if (wanted instanceof RegExp)
    return typeof value === 'string' && value.search(wanted) >= 0 ? undefined : path;
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== Array.isArray(wanted))
    return path;
  if (Array.isArray(value) && Array.isArray(wanted) && value.length !== wanted.length) return path;
  for (const [name, each] of Object.entries(wanted)) {
    const own: unknown = Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
    const found = findPartDifference(
      own,
      each,
      `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns what the function of a match returns. Its error is reported, and selects no request. */
export function callMatch(run: () => unknown, report: ReportError): boolean {
  try {
    const result = run();
    if (!isPromise(result)) return Boolean(result);
    result.then(undefined, () => undefined);
    throw new RangeError(`${notBoolean}, and it returned a promise`);
  } catch (error) {
    reportBy(report, error);
    return false;
  }
}

/** Describes a match: `GET /articles by ann, query limit=1, header X-One: 1`. */
export function describeRequestMatch(match: RequestMatch): string {
  if (typeof match === 'function') return 'the function';
  const { scheme, query = {}, headers = {}, body } = match;
  const describe = (value: TextsByName[string]): string =>
    value === null || value === undefined ? 'none' : String(value);
  return [
    describeMatch(match),
    ...(scheme === undefined ? [] : [`scheme ${scheme}`]),
    ...Object.entries(query).map(([name, value]) => `query ${name}=${describe(value)}`),
    ...Object.entries(headers).map(([name, value]) => `header ${name}: ${describe(value)}`),
    ...(body === undefined ? [] : [`content ${describeBody(body)}`]),
  ].join(', ');
}

function describeBody(body: unknown): string {
  if (typeof body === 'function') return 'by a function';
  return body instanceof RegExp ? String(body) : JSON.stringify(body);
}
