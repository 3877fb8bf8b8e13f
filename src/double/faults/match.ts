import type { HttpHeaders } from '../../http/fields.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { checkObject } from '../../service/argument-checks.ts';
import { describeKind } from '../../shape/fault.ts';
import { isPromise, type ReportError, reportBy } from '../callback.ts';
import {
  type BarePath,
  checkMatch,
  describeMatch,
  differences,
  type Match,
  matchNames,
  normalizePath,
} from '../match.ts';

/** Texts or patterns by name. */
export type TextsByName = Readonly<Record<string, string | RegExp>>;

/** Selects requests for a fault. A request matches if it matches every member that is present. */
interface FaultMatchParts<Path extends string = string> extends Omit<Match, 'path'> {
  /** The path without its query: exactly, as a template (`/articles/{id}`), or as a regular expression. */
  readonly path?: BarePath<Path> | RegExp | undefined;
  /**
   * The user whom the credentials name, valid or not. Those of Bearer and OAuth name the user to whom the token was issued, or
   * else the client.
   */
  readonly user?: string | undefined;
  /**
   * Parameters of the query, decoded. If a parameter is repeated, one of its values must match.
   * @example { limit: '1', after: /./ }
   */
  readonly query?: TextsByName | undefined;
  /**
   * Header fields by name, in any case. If a field has several lines, one of them must match as a whole.
   * @example { 'Content-Type': /^application\/json/ }
   */
  readonly headers?: TextsByName | undefined;
}

/** The request that the function of a match receives. */
export interface MatchedRequest {
  /** The method as sent, such as `GET`. */
  readonly method: string;
  /** The request target as sent. */
  readonly target: string;
  /** The normalized path. */
  readonly path: string;
  /** The header fields. */
  readonly headers: HttpHeaders;
  /** The user whom the credentials name, or to whom a token was issued, or else the client. Undefined if there is none. */
  readonly user: string | undefined;
  /** Whether the request arrived over TLS. */
  readonly secure: boolean;
}

/**
 * Selects requests for a fault, by members or by a function. A function that throws or returns a promise matches no request, and
 * its error is reported to `onError`.
 */
export type RequestMatch<Path extends string = string> =
  | FaultMatchParts<Path>
  | ((request: MatchedRequest) => boolean);

/** The names of the members. The type checks that the list is complete. */
const names: Readonly<Record<keyof FaultMatchParts, true>> = { ...matchNames, query: true, headers: true };

/** The names of the members of a match, for other checks. */
const faultMatchNames: readonly string[] = Object.keys(names);

const notBoolean = 'the function of a match must return true or false';

/** Throws RangeError if a match is invalid, with the nearest known name. */
export function checkFaultMatch(match: RequestMatch): void {
  if (typeof match === 'function') {
    if (Object.prototype.toString.call(match) === '[object AsyncFunction]')
      throw new RangeError(`${notBoolean}, and it is asynchronous`);
    return;
  }
  checkMatch(match, faultMatchNames, 'an object or a function');
  checkTexts(match.query, 'query');
  checkFieldTexts(match.headers, 'headers');
}

/** Throws RangeError unless `texts` are texts or patterns by the name of a field. `what` is the member of the match. */
export function checkFieldTexts(texts: TextsByName | undefined, what: string): void {
  checkTexts(texts, what);
  for (const name of Object.keys(texts ?? {}))
    if (!fieldName.test(name)) throw new RangeError(`${JSON.stringify(name)} is not the name of a field`);
}

/** The name of a field (RFC 9110 §5.1). */
const fieldName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** Throws RangeError unless `texts` are texts or patterns by name. `what` is the member of the match. */
export function checkTexts(texts: unknown, what: string): void {
  if (texts === undefined) return;
  checkObject(texts, `${what} of a match`, "such as { limit: '1' }");
  const entries = Object.entries(texts);
  if (entries.length === 0) throw new RangeError(`${what} of a match must have a member`);
  for (const [name, value] of entries) {
    if (typeof value !== 'string' && !(value instanceof RegExp))
      throw new RangeError(
        `${name} in ${what} of a match must be text or a regular expression, is ${describeKind(value)}`,
      );
  }
}

/** Returns whether a match depends on the user of the request. */
export function dependsOnUser(match: RequestMatch): boolean {
  return typeof match === 'function' || match.user !== undefined;
}

/** Returns whether a match selects certain requests only. */
export function isRestricted(match: RequestMatch): boolean {
  return typeof match === 'function' || Object.values(match).some((value) => value !== undefined);
}

/** Returns the parts of a request that are compared. */
export function toMatchedRequest(request: IncomingRequest, user: string | undefined): MatchedRequest {
  const { method, target, headers, connection } = request;
  return { method, target, path: normalizePath(request), headers, user, secure: connection.secure };
}

/** Returns whether a request matches. Errors of a function are reported. */
export function fitsFault(request: MatchedRequest, match: RequestMatch, report: ReportError): boolean {
  if (typeof match === 'function') return callMatch(match, request, report);
  if (differences(match, request).length > 0) return false;
  return fitsTexts(request, match.query, match.headers);
}

/** Returns whether the query and the header fields of a request have these texts. */
export function fitsTexts(
  request: Pick<IncomingRequest, 'target' | 'headers'>,
  query: TextsByName = {},
  fields: TextsByName = {},
): boolean {
  const parameters = new URLSearchParams(/\?([^#]*)/.exec(request.target)?.[1]);
  return (
    Object.entries(query).every(([name, wanted]) => hasText(parameters.getAll(name), wanted)) &&
    Object.entries(fields).every(([name, wanted]) =>
      hasText(request.headers.getAll(name.toLowerCase()), wanted),
    )
  );
}

function callMatch(
  match: (request: MatchedRequest) => unknown,
  request: MatchedRequest,
  report: ReportError,
): boolean {
  try {
    const result = match(request);
    if (!isPromise(result)) return Boolean(result);
    result.then(undefined, () => undefined);
    throw new RangeError(`${notBoolean}, and it returned a promise`);
  } catch (error) {
    reportBy(report, error);
    return false;
  }
}

function hasText(values: readonly string[], wanted: string | RegExp): boolean {
  return values.some((value) => (typeof wanted === 'string' ? value === wanted : value.search(wanted) >= 0));
}

/** Describes a match: `GET /articles by ann, query limit=1, header X-One: 1`. */
export function describeFaultMatch(match: RequestMatch): string {
  if (typeof match === 'function') return 'the function';
  const { query = {}, headers = {} } = match;
  return [
    describeMatch(match),
    ...Object.entries(query).map(([name, value]) => `query ${name}=${String(value)}`),
    ...Object.entries(headers).map(([name, value]) => `header ${name}: ${String(value)}`),
  ].join(', ');
}
