import type { HeadersInput } from '../http/field-lines.ts';
import type { HttpRequest, IncomingRequest } from '../http/message.ts';
import { isSafe } from '../http/method.ts';
import type { Problem } from '../http/problem.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { Principal, Scope } from '../principal.ts';
import type { AcceptedSchemes } from '../schemes/verifier.ts';
import type { StoredReceipt, StoredRecord } from '../store/store.ts';
import { itemOwnerField, ownerParameter, roleInRule, scopeInRule } from './access-rule.ts';
import type { CorsDeclaration } from './cors-policy.ts';

/**
 * An access rule: anyone, any authenticated principal, nobody, the user whom a path parameter names, or a list of user names,
 * which can also contain `owner:PARAM`.
 */
export type Access =
  | 'anyone'
  | 'authenticated'
  | 'nobody'
  | `owner:${string}`
  | `scope:${string}`
  | `role:${string}`
  | readonly string[];

/** The decoded parameters of a path template. */
export type Parameters = Readonly<Record<string, string>>;

/** The format of a response to a client that accepts both. */
export type DocumentFormat = (typeof documentFormats)[number];

/** The formats, in the order of documents. */
export const documentFormats = ['xml', 'json'] as const;

/** A media type that a resource produces. */
export interface Variant {
  /** The value of Content-Type: `application/xml; charset=utf-8`. */
  readonly type: string;
  /** Distinguishes its entity tag from those of other variants. */
  readonly mark: string;
}

/** A media type that an action accepts. */
export interface ContentReader<State = unknown, Content = unknown> {
  /** Type and subtype in lower case: `application/xml`. The range of every type matches all. */
  readonly type: string;
  /** Bytes of content, both as sent and decompressed. Default: the server's limit, which always applies. */
  readonly maxLength?: number;
  /** Whether it reads content in any charset. Default: false, and a charset other than UTF-8 in Content-Type is 415. */
  readonly anyCharset?: boolean;
  /** Creates the decoder of `call.body`, or a promise of one. */
  decoder(call: Call<State, Content>): Decoder | PromiseLike<Decoder>;
}

/** The current state of the target resource. */
export interface ResourceState<State = unknown> {
  /** The base of its entity tags; different for each state. */
  readonly tag: string;
  /** The time of the last change in milliseconds since 1970-01-01T00:00:00Z; NaN if unknown. */
  readonly modified: number;
  /** Any value for the resource's own use. */
  readonly value: State;
  /**
   * The change of an earlier request that this request repeats. Its preconditions are then not evaluated again: the change may have
   * made them false.
   */
  readonly repeats?: StoredReceipt;
}

/** A request as a resource receives it. */
export interface Call<State = unknown, Content = unknown> {
  /** The request as it was sent. */
  readonly request: HttpRequest;
  /** The request with its unread content and its connection. @internal */
  readonly incoming: IncomingRequest;
  /** The method as sent: `GET`. For HEAD, the action of GET is called. */
  readonly method: string;
  /** The normalized path: unreserved octets decoded, hexadecimal digits in upper case. */
  readonly path: string;
  /** The decoded parameters of the path template. */
  readonly parameters: Parameters;
  /** The query parameters. */
  readonly query: URLSearchParams;
  /** The authenticated user or client; undefined for an anonymous request. */
  readonly principal: Principal | undefined;
  /** The variant that the client prefers; the first one if it has no preference. */
  readonly variant: Variant | undefined;
  /** What `find` returned. */
  readonly state: ResourceState<State> | undefined;
  /** The decoded content; undefined if the request has none. Throws Error if the action has no `reads`, and so has not read it. */
  readonly body: Content | undefined;
  /** The time in milliseconds since 1970-01-01T00:00:00Z. */
  readonly now: number;
}

/** The content of a response: bytes or text of one media type. */
export interface Representation {
  /** The value of Content-Type: `text/plain; charset=utf-8`. */
  readonly type: string;
  /** The content; text is sent as UTF-8. */
  readonly body: string | Uint8Array;
}

/** The result of an action. */
export interface ActionResponse {
  /** The status code, 200 to 599. */
  readonly status: number;
  /** Fields such as `Location` and `Link`. The server adds Content-Type, Content-Length, Date and the like. */
  readonly headers?: HeadersInput | undefined;
  /** The content of the response. Default: none. */
  readonly representation?: Representation | undefined;
  /** Whether the response is `Cache-Control: no-store`, because it contains or uses up a secret. Default: false. */
  readonly noStore?: boolean | undefined;
  /** What is wrong with the response, for the journal of a double. @internal */
  readonly warnings?: readonly string[] | undefined;
  /** The state that the representation shows. If given, its entity tag and Last-Modified are sent. */
  readonly state?: ResourceState | undefined;
}

/** Returned by an action if its target has changed since `find`: the steps from there on are repeated. */
export const retryAction: unique symbol = Symbol('changed meanwhile');

/** The result of an action. A representation alone is sent with the status 200; a `Response` of the platform can be sent only once. */
export type ActionResult = ActionResponse | Representation | Response | typeof retryAction;

/** The implementation of a method, with its access rule. */
export interface Action<State = unknown, Content = unknown> {
  /**
   * Who may use the method. `role:NAME` permits users who have the role. `scope:NAME` permits tokens that have the scope, which then need no other one, and no user; in a list, it is
   * one of the alternatives.
   */
  readonly access: Access;
  /** Performs the action. Throws a Problem to reject the request. */
  handle(call: Call<State, Content>): MaybePromise<ActionResult>;
  /** The media types that it accepts. Default: none; content is then ignored. */
  readonly reads?: readonly ContentReader<State, Content>[] | undefined;
  /** Whether a request without content is accepted although the action has `reads`. Default: false, which is 400. */
  readonly bodyOptional?: boolean | undefined;
  /**
   * The scopes that a token needs, all of one of these lists. A client that has them needs no user. Default: `read` for safe methods,
   * otherwise `write`.
   */
  readonly scopes?: readonly (readonly Scope[])[] | undefined;
  /**
   * Returns whether the principal may use the method in this state; `access` permits everyone who may use it in some state. Default:
   * as `access` says. @internal
   */
  permitsState?(call: Call<State, Content>): boolean;
  /** Checks fields that the action requires, such as Idempotency-Key. Throws a Problem. Default: nothing is checked. */
  checkHeaders?(call: Call<State, Content>): void;
  /** Returns whether the action may create a resource that does not exist. Throws a Problem if that can never exist. */
  mayCreate?(call: Call<State, Content>): boolean;
}

/**
 * A resource with an action per method. HEAD and OPTIONS are derived. A method without an action is answered 405, or 501 if no
 * resource of the service has it.
 *
 * @example
 * const weather: Resource = {
 *   GET: action('anyone', ({ parameters }) => json({ city: parameters.city, degrees: 21 })),
 * };
 * const service = createService({ resources: { '/weather/{city}': weather } });
 */
export interface Resource<State = unknown, Content = unknown> {
  /** Performs GET, and HEAD. Default: 405. */
  readonly GET?: Action<State, Content> | undefined;
  /** Performs PUT. Default: 405. */
  readonly PUT?: Action<State, Content> | undefined;
  /** Performs POST. Default: 405. */
  readonly POST?: Action<State, Content> | undefined;
  /** Performs PATCH. Default: 405. */
  readonly PATCH?: Action<State, Content> | undefined;
  /** Performs DELETE. Default: 405. */
  readonly DELETE?: Action<State, Content> | undefined;
  /**
   * Further methods by name: `{ PROPFIND: action(…) }` (RFC 9110 §9.1). Over a socket, only those arrive that Node.js parses
   * (`METHODS` of node:http).
   */
  readonly methods?: Readonly<Record<string, Action<State, Content>>> | undefined;
  /** The access rule of HEAD. Default: that of GET. */
  readonly headAccess?: Access | undefined;
  /** The variants that it produces, the preferred one first. Default: any representation that its actions return. */
  readonly produces?: readonly Variant[] | undefined;
  /** Returns the current state; undefined if there is none, which is 404 or allows creation. Default: it always exists. */
  find?(call: Call<State, Content>): MaybePromise<ResourceState<State> | undefined>;
  /**
   * Whether the resource authenticates requests itself, because their credentials are not those of users. Its actions then get no
   * principal, and it is available over TLS only. Default: false.
   */
  readonly ownCredentials?: boolean | undefined;
  /** Whether its actions refuse dot segments and control characters in parameters of the path. Default: they are 404. @internal */
  readonly checksParameters?: boolean | undefined;
  /**
   * The schemes that it accepts: `['aws4']`; in a list those whose credentials are required together: `[['aws4', 'key']]`. The first
   * of which a request has all credentials is verified, and its other credentials are left alone. A request that has only others is
   * refused with 401. Default: all schemes, of which a request can have the credentials of one.
   */
  readonly schemes?: AcceptedSchemes | undefined;
  /**
   * The format of its problems and of OPTIONS for clients that accept both. Default: `json` if it produces and reads nothing else,
   * otherwise that of the service.
   */
  readonly defaultFormat?: DocumentFormat | undefined;
  /**
   * The other origins whose pages may use it in browsers: `['https://app.example']`. Default: as the option `cors` of the service;
   * `[]` for none.
   */
  readonly cors?: CorsDeclaration | undefined;
  /** The names of further request fields that its actions read. Pages of other origins may send them. Default: none. */
  readonly requestHeaders?: readonly string[] | undefined;
  /**
   * Whether PUT, POST and DELETE require If-Match or If-Unmodified-Since, or PUT `If-None-Match: *`; without one, the response is
   * 428 (RFC 6585 §3). Default: false.
   */
  readonly requirePrecondition?: boolean | undefined;
  /** Whether the resource does not exist for principals who may not GET it: 404 in place of 403. Default: false. */
  readonly hide?: boolean | undefined;
  /** Returns the response to a problem in the format of the resource's protocol; undefined for a problem document. @internal */
  writeProblem?(problem: Problem, request: IncomingRequest | undefined): ActionResponse | undefined;
  /**
   * Whether the actions decide what a resource of the service does: responses have no entity tag of the content, and preconditions,
   * Accept and the Content-Range of PUT are not evaluated. Default: false. @internal
   */
  readonly verbatim?: boolean | undefined;
  /** Members that OPTIONS adds to the description of its methods and media types. */
  readonly description?: Readonly<Record<string, string | readonly string[]>> | undefined;
}

/**
 * Creates an action.
 *
 * @param access the access rule
 * @param handle returns the result; throws a Problem to reject the request
 * @param more the media types that it accepts, whether it may create, and whether it stores the nonce
 * @example
 * const GET = action('authenticated', ({ principal }) => text(`Hello, ${principal?.name}`));
 */
export function action<State = unknown, Content = unknown>(
  access: Access,
  handle: (call: Call<State, Content>) => MaybePromise<ActionResult>,
  more: Omit<Action<State, Content>, 'access' | 'handle'> = {},
): Action<State, Content> {
  return { ...more, access, handle };
}

/** The methods that have a member of `Resource`, in the order of `Allow`; HEAD has that of GET. */
export const namedMethods = ['HEAD', 'GET', 'PUT', 'POST', 'PATCH', 'DELETE'] as const;

/** Returns the resource's action for a method: HEAD has that of GET if it has none of its own, OPTIONS has none. */
export function actionFor(resource: Resource, method: string): Action | undefined {
  switch (method) {
    case 'HEAD':
      return resource.methods?.['HEAD'] ?? resource.GET;
    case 'GET':
    case 'PUT':
    case 'POST':
    case 'PATCH':
    case 'DELETE':
      return resource[method];
    default: {
      const { methods } = resource;
      return methods !== undefined && Object.hasOwn(methods, method) ? methods[method] : undefined;
    }
  }
}

/** Returns the format of the problems of a resource: JSON if it produces and reads nothing else. Undefined for that of the service. */
export function documentFormat(resource: Resource): DocumentFormat | undefined {
  const { defaultFormat, produces = [], GET, PUT, POST, PATCH, DELETE, methods = {} } = resource;
  if (defaultFormat !== undefined) return defaultFormat;
  const actions = [GET, PUT, POST, PATCH, DELETE, ...Object.values(methods)];
  const spoken = [...produces, ...actions.flatMap((each) => each?.reads ?? [])];
  const isJson = spoken.every(({ type }) => /^application\/(?:[^;]*\+)?json *(?:;|$)/.test(type));
  return spoken.length > 0 && isJson ? 'json' : undefined;
}

/** Returns the methods that the resource implements beside those of collections. */
export function listFurtherMethods({ PATCH, methods = {} }: Resource): string[] {
  const further = Object.keys(methods).filter((method) => method !== 'HEAD');
  return [...(PATCH === undefined ? [] : ['PATCH']), ...further];
}

/** Returns methods in the order of `Allow`. */
export function sortMethods(methods: readonly string[]): string[] {
  const ordered: readonly string[] = namedMethods;
  const isFurther = (method: string): boolean => !ordered.includes(method) && method !== 'OPTIONS';
  const isListed = (method: string): boolean => methods.includes(method);
  return [...ordered.filter(isListed), ...methods.filter(isFurther), ...['OPTIONS'].filter(isListed)];
}

/** Returns the methods that a resource could implement, in the order of `Allow`. */
function candidateMethods({ methods = {} }: Resource): string[] {
  return [...new Set([...namedMethods, ...Object.keys(methods), 'OPTIONS'])];
}

/** Returns whether an access rule permits this principal, on a path with these parameters. */
export function permits(
  access: Access | undefined,
  principal: Principal | undefined,
  parameters: Parameters,
): boolean {
  // Fail closed: an action without an access rule permits nobody.
  if (access === undefined || access === 'nobody') return false;
  if (access === 'anyone') return true;
  if (principal === undefined) return false;
  const clientFor = principal.lent?.users;
  // A client on its own behalf that may act for no user has the rights of an anonymous one.
  if (access === 'authenticated') return clientFor === undefined || clientFor.length > 0;
  if (typeof access !== 'string')
    // A client on its own behalf is not a user, even if it has the name of one.
    return (
      (clientFor === undefined && access.includes(principal.name)) ||
      access.some((rule) => permitsRule(rule, principal, parameters))
    );
  return permitsRule(access, principal, parameters);
}

/** Returns whether a rule with a colon permits the principal. One for the owner of an item permits every user. */
function permitsRule(rule: string, principal: Principal, parameters: Parameters): boolean {
  const scope = scopeInRule(rule);
  if (scope !== undefined) return principal.lent?.scopes.includes(scope) === true;
  const role = roleInRule(rule);
  if (role !== undefined) return principal.roles?.includes(role) === true;
  if (itemOwnerField(rule) !== undefined) return principal.lent?.users === undefined;
  return permitsOwner(rule, principal, parameters);
}

/** Returns the fields of an item that name users whom an access rule permits. */
export function listOwnerFields(access: Access): readonly string[] {
  return typeof access === 'string' ? [] : access.flatMap((rule) => itemOwnerField(rule) ?? []);
}

/** Returns whether an access rule permits this principal for the items of all users. */
export function permitsAllItems(
  access: Access,
  principal: Principal | undefined,
  parameters: Parameters,
): boolean {
  const general =
    typeof access === 'string' ? access : access.filter((rule) => itemOwnerField(rule) === undefined);
  return permits(general, principal, parameters);
}

/** Returns whether an access rule permits this principal for an item with these fields. */
export function permitsItem(
  access: Access,
  principal: Principal | undefined,
  parameters: Parameters,
  item: StoredRecord,
): boolean {
  if (permitsAllItems(access, principal, parameters)) return true;
  if (principal === undefined || principal.lent?.users !== undefined) return false;
  return listOwnerFields(access).some(
    (field) => Object.hasOwn(item, field) && item[field] === principal.name,
  );
}

/** Returns whether a rule is `owner:PARAM`, and the parameter names the principal, or a user for whom it may act. */
function permitsOwner(rule: string, { name, lent }: Principal, parameters: Parameters): boolean {
  const parameter = ownerParameter(rule);
  if (parameter === undefined) return false;
  const owner = parameters[parameter];
  const clientFor = lent?.users;
  if (clientFor === undefined) return owner === name;
  return clientFor === '*' || (owner !== undefined && clientFor.includes(owner));
}

/** Returns the scope that a token needs for a method. */
export function scopeFor(method: string): Scope {
  return isSafe(method) ? 'read' : 'write';
}

/** Returns the lists of scopes of which a token needs one. A rule `scope:NAME` takes the place of the scope of the method. */
export function scopesNeeded(
  { scopes, access }: Pick<Action, 'scopes' | 'access'>,
  method: string,
): readonly (readonly Scope[])[] {
  if (scopes !== undefined) return scopes;
  const rules = [access].flat();
  const named = scopesInAccess(access).map((scope) => [scope]);
  return named.length === rules.length ? named : [[scopeFor(method)], ...named];
}

/** Returns the scopes that an access rule names. */
export function scopesInAccess(access: Access): readonly Scope[] {
  const rules: readonly string[] = typeof access === 'string' ? [access] : access;
  return rules.flatMap((rule) => scopeInRule(rule) ?? []);
}

/** Returns whether the scopes of the principal's token, if it has some, include those that the action needs. */
export function isInScope(implemented: Action, method: string, principal: Principal | undefined): boolean {
  const held = principal?.lent?.scopes;
  if (held === undefined) return true;
  return scopesNeeded(implemented, method).some((list) => list.every((scope) => held.includes(scope)));
}

/** Returns whether this principal may use a method of the resource. */
export function mayUse(
  resource: Resource,
  method: string,
  principal: Principal | undefined,
  parameters: Parameters,
): boolean {
  if (method === 'OPTIONS') return true;
  const implemented = actionFor(resource, method);
  if (implemented === undefined) return false;
  if (!isInScope(implemented, method, principal)) return false;
  if (implemented.scopes !== undefined && principal?.lent !== undefined)
    return implemented.access !== 'nobody';
  return permits(accessRule(resource, method, implemented), principal, parameters);
}

function accessRule(resource: Resource, method: string, { access }: Action): Access | undefined {
  return method === 'HEAD' ? (resource.headAccess ?? access) : access;
}

/** Returns the methods that the resource implements and any principal could use, in the order of `Allow`. */
export function listPossibleMethods(resource: Resource): string[] {
  return candidateMethods(resource).filter((method) => {
    if (method === 'OPTIONS') return true;
    const implemented = actionFor(resource, method);
    const access = implemented && accessRule(resource, method, implemented);
    return access !== undefined && access !== 'nobody' && access.length > 0;
  });
}

/** Returns the methods that the resource implements and this principal may use, in the order of `Allow`. */
export function allow(
  resource: Resource,
  principal: Principal | undefined,
  parameters: Parameters = {},
): string[] {
  if (typeof resource !== 'object' || resource === null)
    throw new RangeError("the resource must be an object such as { GET: action('anyone', …) }");
  return candidateMethods(resource).filter((method) => mayUse(resource, method, principal, parameters));
}

/** Returns a representation with an XML document. */
export function xml(content: string): Representation {
  return { type: 'application/xml; charset=utf-8', body: content };
}

/** Returns a representation with a value as JSON. */
export function json(value: unknown): Representation {
  return { type: 'application/json', body: JSON.stringify(value) ?? 'null' };
}

/** Returns a representation with plain text. */
export function text(content: string): Representation {
  return { type: 'text/plain; charset=utf-8', body: content };
}

/** Decodes a document incrementally. */
export interface Decoder {
  /** Accepts the next bytes. Throws a Problem as soon as the document is known to be invalid. */
  write(bytes: Uint8Array): void;
  /** Ends the document. Returns its value, or throws a Problem with every error found. */
  end(): unknown;
}
