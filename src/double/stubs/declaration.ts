import { isToken } from '../../http/syntax/token.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import { type Access, type Action, namedMethods, type Resource, scopeFor } from '../../pipeline/resource.ts';
import { checkResource } from '../../service/resource-checks.ts';
import { anything, flag, number, object, optional, read, type ShapesOf } from '../../shape/shape.ts';
import { checkRequestMatch, type RequestMatch } from '../match.ts';
import type { StubResponse } from './response.ts';

/**
 * Selects the requests of a stub. Without a method: GET with HEAD, PUT, POST, PATCH and DELETE; OPTIONS is derived. `{}` selects all of
 * them, and a function those for which it returns true.
 */
export type StubMatch<Path extends string = string> = RequestMatch<Path>;

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
  /** Whether it answers only what nothing else does: neither another stub, a resource, a collection nor the partner's document. */
  readonly fallback?: boolean | undefined;
}

/** A stub as a value, for the option `stubs`. */
export interface Stub<Body = Readonly<Record<string, unknown>>> extends StubOptions {
  /** Selects the requests that the stub answers. */
  readonly match: StubMatch;
  /** The response, or a function that returns it for each request. */
  readonly response: StubHandler<Body>;
}

const optionMembers = {
  access: optional(anything),
  schemes: optional(anything),
  times: optional(number({ min: 1 })),
  fallback: optional(flag()),
} satisfies ShapesOf<StubOptions>;
const optionsShape = object(optionMembers);
const stubShape = object(
  { match: optional(anything), response: optional(anything), ...optionMembers } satisfies ShapesOf<Stub>,
  undefined,
  { expected: "an object such as { match: { path: '/rates' }, response: { body: {} } }" },
);

/** Throws RangeError if an entry of the option `stubs` is not an object with the members of a stub. */
export function checkStubMembers(stub: unknown): void {
  read(stubShape, stub, 'a stub');
}

/** Throws RangeError if a match or an option of a stub is invalid, with the nearest known name. */
export function checkStub(match: StubMatch, options: StubOptions): void {
  checkRequestMatch(match);
  for (const each of listMethods(match))
    if (each === 'HEAD' || each === 'OPTIONS' || each === 'CONNECT' || !isToken(each))
      throw new RangeError(
        `a stub cannot have the method ${each}${each === 'HEAD' ? '; HEAD is answered as GET' : ''}`,
      );
  read(optionsShape, options, { optionsOf: 'a stub' });
}

/** Returns the methods that a stub answers. */
function listMethods(match: StubMatch): readonly string[] {
  const { method } = typeof match === 'function' ? {} : match;
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
  checkResource(findPath(match) ?? '/', resource);
  return { ...resource, defaultFormat: 'json', verbatim: true };
}

/** Returns the path or template of a match; undefined if it selects by a pattern or a function, or all paths. */
export function findPath(match: StubMatch): string | undefined {
  return typeof match === 'object' && typeof match.path === 'string' ? match.path : undefined;
}
