import type { FieldLine } from '../http/fields.ts';
import type { Request } from '../http/message.ts';
import { type Method, methods } from '../http/method.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { Principal, Scope } from '../principal.ts';
import type { Decoder } from './decoder.ts';

/** Who may: anyone, anyone known, the user whom the path parameter names, nobody, or these users. */
export type Access = 'anyone' | 'authenticated' | 'nobody' | `owner:${string}` | readonly string[];

/** The values of a path template's parameters, decoded. */
export type Parameters = Readonly<Record<string, string>>;

/** A media type that a resource is written in. */
export interface Variant {
  /** The value of Content-Type: `application/xml; charset=utf-8`. */
  readonly type: string;
  /** What tells its entity tag from that of the other variants. */
  readonly mark: string;
}

/** A media type that an action reads. */
export interface Reading<State = unknown, Content = unknown> {
  /** Type and subtype in lower case: `application/xml`, or the range of every type. */
  readonly type: string;
  /** Bytes of content, as sent and after decoding. Default: the server's limit, which always applies. */
  readonly maxLength?: number;
  /** Makes what turns the bytes into `call.content`, or a promise of it. */
  decoder(call: Call<State, Content>): Decoder | PromiseLike<Decoder>;
}

/** What the target names now. */
export interface Found<State = unknown> {
  /** The base of its entity tags, one for each state that ever was. */
  readonly tag: string;
  /** When it was last changed: milliseconds since 1970-01-01T00:00:00Z; NaN when that is not known. */
  readonly modified: number;
  /** The resource's own: what it found. */
  readonly state: State;
}

/** Everything a resource is told about the request it acts on. */
export interface Call<State = unknown, Content = unknown> {
  readonly request: Request;
  readonly method: Method;
  /** The path, normalised: unreserved octets decoded, hexadecimal digits in upper case. */
  readonly path: string;
  readonly parameters: Parameters;
  /** The query's parameters. */
  readonly query: URLSearchParams;
  readonly principal: Principal | undefined;
  /** The variant that the client prefers, or the first one where it prefers none. */
  readonly variant: Variant | undefined;
  /** What is here now, where the resource can tell. */
  readonly found: Found<State> | undefined;
  /** What was sent, as the action's reading decoded it; undefined when nothing was. */
  readonly content: Content | undefined;
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  readonly now: number;
}

/** What is sent back: bytes or text of one media type. */
export interface Representation {
  readonly type: string;
  readonly content: string | Uint8Array;
}

/** What an action did. */
export interface Outcome {
  /** 200 to 599. */
  readonly status: number;
  /** `Location`, `Link` and the like: none that follows from the rest, such as Content-Type, Content-Length or Date. */
  readonly fields?: readonly FieldLine[];
  readonly representation?: Representation;
  /** That nobody may keep it, not even to ask whether it is still good: it holds or spends what is secret. */
  readonly noStore?: boolean;
  /** The state that the representation shows; its entity tag and Last-Modified are sent when it is given. */
  readonly shows?: Found;
}

/** Said by an action whose target changed between being found and being acted on: it is judged again. */
export const changedMeanwhile: unique symbol = Symbol('changed meanwhile');

/** What an action did, or a representation alone, which is sent with 200. */
export type Done = Outcome | Representation | typeof changedMeanwhile;

/** What a resource does for one method, and who may ask for it. */
export interface Action<State = unknown, Content = unknown> {
  readonly access: Access;
  /** Acts. May throw a Problem. */
  handle(call: Call<State, Content>): MaybePromise<Done>;
  /** The media types it reads. Left out, it takes no content, and what is sent is passed over. */
  readonly reads?: readonly Reading<State, Content>[];
  /** Whether it may act where nothing is found. Throws a Problem where nothing can ever be. */
  mayCreate?(call: Call<State, Content>): boolean;
}

/** Something with an address: what it does by method. HEAD and OPTIONS follow from that. */
export interface Resource<State = unknown, Content = unknown> {
  readonly GET?: Action<State, Content>;
  readonly PUT?: Action<State, Content>;
  readonly POST?: Action<State, Content>;
  readonly DELETE?: Action<State, Content>;
  /** Who may HEAD, where that differs from who may GET. */
  readonly headAccess?: Access;
  /** The variants it is written in, the preferred one first. Left out: whatever its actions give. */
  readonly produces?: readonly Variant[];
  /** What the target names now; undefined is 404, or leave to create. Left out, it is always there. */
  find?(call: Call<State, Content>): MaybePromise<Found<State> | undefined>;
  /**
   * That it judges credentials itself, because they are not those of users: then its actions' principal is nobody, and it
   * answers over TLS only.
   */
  readonly ownCredentials?: boolean;
  /** What OPTIONS tells about it besides its methods and media types. */
  readonly description?: Readonly<Record<string, string>>;
}

/** Makes an action: who may, what it does, and what it reads. */
export function action<State = unknown, Content = unknown>(
  access: Access,
  handle: (call: Call<State, Content>) => MaybePromise<Done>,
  more: Omit<Action<State, Content>, 'access' | 'handle'> = {},
): Action<State, Content> {
  return { ...more, access, handle };
}

/** The resource's action for the method, or undefined: HEAD is GET's, OPTIONS is nobody's in particular. */
export function actionFor(resource: Resource, method: Method): Action | undefined {
  if (method === 'OPTIONS') return undefined;
  return method === 'HEAD' ? resource.GET : resource[method];
}

/** Whether this principal may do what the access says, on a path with these parameters. */
export function permits(
  access: Access | undefined,
  principal: Principal | undefined,
  parameters: Parameters,
): boolean {
  // An action without access is for nobody: what was forgotten stays closed.
  if (access === undefined || access === 'nobody') return false;
  if (access === 'anyone') return true;
  if (principal === undefined) return false;
  const clientFor = principal.lent?.users;
  // A client that comes for itself and may touch nobody's has nothing but what anyone has.
  if (access === 'authenticated') return clientFor === undefined || clientFor.length > 0;
  // A client that comes for itself is no user, whatever it is called.
  if (typeof access !== 'string') return clientFor === undefined && access.includes(principal.name);
  const owner = parameters[access.slice('owner:'.length)];
  if (clientFor === undefined) return owner === principal.name;
  return clientFor === '*' || (owner !== undefined && clientFor.includes(owner));
}

/** The scope that a token needs for the method. */
export function scopeFor(method: Method): Scope {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' ? 'read' : 'write';
}

/** Whether the principal's token, if it came with one, is good for the method at all. */
export function inScope(method: Method, principal: Principal | undefined): boolean {
  return principal?.lent === undefined || principal.lent.scopes.includes(scopeFor(method));
}

/** Whether this principal may use the method on the resource, which implements it. */
export function mayUse(
  resource: Resource,
  method: Method,
  principal: Principal | undefined,
  parameters: Parameters,
): boolean {
  if (method === 'OPTIONS') return true;
  const implemented = actionFor(resource, method);
  if (implemented === undefined) return false;
  if (!inScope(method, principal)) return false;
  const access = method === 'HEAD' ? (resource.headAccess ?? implemented.access) : implemented.access;
  return permits(access, principal, parameters);
}

/** The methods that the resource implements and this principal may use, in the order of `Allow`. */
export function allow(
  resource: Resource,
  principal: Principal | undefined,
  parameters: Parameters = {},
): Method[] {
  return methods.filter((method) => mayUse(resource, method, principal, parameters));
}

/** An XML document to be sent. */
export function xml(content: string): Representation {
  return { type: 'application/xml; charset=utf-8', content };
}

/** A value to be sent as JSON. */
export function json(value: unknown): Representation {
  return { type: 'application/json', content: JSON.stringify(value) ?? 'null' };
}

/** Plain text to be sent. */
export function text(content: string): Representation {
  return { type: 'text/plain; charset=utf-8', content };
}
