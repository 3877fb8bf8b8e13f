import { isToken } from '../../http/syntax/token.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import { type Access, type Action, namedMethods, type Resource, scopeFor } from '../../pipeline/resource.ts';
import { checkMembers, checkNumber } from '../../service/argument-checks.ts';
import { checkResource } from '../../service/resource-checks.ts';
import { describeKind } from '../../shape/fault.ts';
import { checkFieldTexts, checkTexts, type TextsByName } from '../faults/match.ts';
import { type BarePath, checkMatch, type MatchMethod } from '../match.ts';
import type { StubResponse } from './response.ts';

/** Selects the requests of a stub. A request matches if it matches every member that is present. */
export interface StubMatch<Path extends string = string> {
  /** A method such as `PATCH`, or a list of methods. Default: GET with HEAD, PUT, POST, PATCH and DELETE. OPTIONS is derived. */
  readonly method?: MatchMethod | readonly MatchMethod[];
  /** The path without its query, exactly or as a template: `/v1/orders/{id}`. */
  readonly path: BarePath<Path>;
  /** Parameters of the query, decoded, each with a text or a regular expression. If one is repeated, one of its values must match. */
  readonly query?: TextsByName;
  /** Header fields by name, in any case, each with a text or a regular expression. */
  readonly headers?: TextsByName;
}

/** The request that the function of a stub receives. */
export interface StubRequest<Body = Readonly<Record<string, unknown>>> {
  /** The method, such as `PATCH`. */
  readonly method: string;
  /** The normalized path: unreserved octets are decoded. */
  readonly path: string;
  /** The decoded parameters of the path template. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The parameters of the query, decoded. */
  readonly query: URLSearchParams;
  /** The header fields. */
  readonly headers: Headers;
  /**
   * The content, decoded by its Content-Type: JSON as its value, a form as URLSearchParams, `multipart/form-data` as FormData, text as
   * a string, all else as a Buffer, also text and forms in a charset other than UTF-8. Undefined without content. `Body` is the type that the test expects; it is not checked.
   */
  readonly body: Body;
  /** The user or client whose credentials were verified; undefined for an anonymous request. */
  readonly user: string | undefined;
}

/** The type of a method, so that a function for any type of content can be stored. */
interface StubFunction<Body> {
  respond(request: StubRequest<Body>): MaybePromise<StubResponse | Response>;
}

/** The response of a stub, or a function that returns it for each request. */
export type StubHandler<Body = Readonly<Record<string, unknown>>> =
  | StubResponse
  | StubFunction<Body>['respond'];

/** The options of a stub. */
export interface StubOptions {
  /** Who may send the request, as for a resource. Default: `authenticated`. */
  readonly access?: Access | undefined;
  /** The names of the schemes that are accepted: `['stripe']`. Default: all schemes. */
  readonly schemes?: readonly string[] | undefined;
  /** The number of requests that it answers, from 1. Refused requests do not count. Default: any number. */
  readonly times?: number | undefined;
}

/** A stub as a value, for the option `stubs`. */
export interface Stub<Body = Readonly<Record<string, unknown>>> extends StubOptions {
  /** Selects the requests that the stub answers. */
  readonly match: StubMatch;
  /** The response, or a function that returns it for each request. */
  readonly response: StubHandler<Body>;
}

/** The names of the members. The types check that the lists are complete. */
const matchNames: Readonly<Record<keyof StubMatch, true>> = {
  method: true,
  path: true,
  query: true,
  headers: true,
};
const optionNames: Readonly<Record<keyof StubOptions, true>> = { access: true, schemes: true, times: true };
const stubNames: Readonly<Record<keyof Stub, true>> = { match: true, response: true, ...optionNames };

const example = "such as { method: 'PATCH', path: '/v1/orders/{id}' }";

/** Throws RangeError if an entry of the option `stubs` is not an object with the members of a stub. */
export function checkStubMembers(stub: unknown): void {
  checkMembers(
    stub,
    Object.keys(stubNames),
    'a stub',
    "such as { match: { path: '/rates' }, response: { body: {} } }",
  );
}

/** Throws RangeError if a match or an option of a stub is invalid, with the nearest known name. */
export function checkStub(match: StubMatch, options: StubOptions): void {
  checkMembers(match, Object.keys(matchNames), 'the match of a stub', example);
  const { method, path, query, headers } = match;
  if (typeof path !== 'string')
    throw new RangeError(
      `path of the match of a stub must be a path or a template, is ${describeKind(path)}`,
    );
  checkMatch({ path, method });
  for (const each of listMethods(match))
    if (each === 'HEAD' || each === 'OPTIONS' || each === 'CONNECT' || !isToken(each))
      throw new RangeError(
        `a stub cannot have the method ${each}${each === 'HEAD' ? '; HEAD is answered as GET' : ''}`,
      );
  checkTexts(query, 'query');
  checkFieldTexts(headers, 'headers');
  checkMembers(options, Object.keys(optionNames), 'the options of a stub');
  checkNumber(options.times, 'times of a stub', { min: 1, whole: true });
}

/** Returns the methods that a stub answers. */
function listMethods({ method }: StubMatch): readonly string[] {
  return method === undefined ? namedMethods.filter((each) => each !== 'HEAD') : [method].flat();
}

/**
 * Returns the resource of a stub: one action under all its methods. A client on its own behalf needs no user for a stub that requires
 * authentication, because a stub belongs to no user. Throws RangeError if the access rule or a scheme is invalid.
 */
export function stubResource(match: StubMatch, { schemes }: StubOptions, action: Action): Resource {
  const names: readonly string[] = namedMethods;
  const answered = listMethods(match);
  const actionOf = (method: string): Action =>
    action.access === 'authenticated' ? { ...action, scopes: [[scopeFor(method)]] } : action;
  const actions = (isNamed: boolean) =>
    Object.fromEntries(
      answered.filter((each) => names.includes(each) === isNamed).map((each) => [each, actionOf(each)]),
    );
  const further = actions(false);
  const resource: Resource = {
    ...actions(true),
    ...(Object.keys(further).length > 0 && { methods: further }),
    schemes,
  };
  checkResource(match.path, resource);
  return { ...resource, defaultFormat: 'json', verbatim: true };
}

/** Describes the match of a stub: `PATCH /v1/orders/{id}`. */
export function describeStub({ method, path, query = {}, headers = {} }: StubMatch): string {
  return [
    `${method === undefined ? 'any method' : [method].flat().join(' or ')} ${path}`,
    ...Object.entries(query).map(([name, value]) => `query ${name}=${String(value)}`),
    ...Object.entries(headers).map(([name, value]) => `header ${name}: ${String(value)}`),
  ].join(', ');
}
