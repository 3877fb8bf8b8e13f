// The server's part of the CORS protocol (Fetch §3.3).

import type { FieldLine } from '../http/fields.ts';
import type { IncomingRequest, Response } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import { listElements } from '../http/syntax/token.ts';
import { parseTarget } from '../http/target.ts';
import { onceEach } from '../once.ts';
import type { AcceptedSchemes } from '../schemes/verifier.ts';
import { type CorsDeclaration, type CorsPolicy, toCorsPolicy } from './cors-policy.ts';
import { listPossibleMethods, type Resource } from './resource.ts';
import { findRoute, listPossibleMethodsAt, type Match, type Router } from './router.ts';

/** The conditions of a request from another origin, in the order of their check. */
type CorsCondition = 'origin' | 'status' | 'method' | 'header';

/** How a request from another origin was answered. */
export interface JournalCors {
  /** The value of Origin. */
  readonly origin: string;
  /** Whether the request is a preflight, which asks for permission to send another one. */
  readonly preflight: boolean;
  /** The condition that is not met, so that the browser refuses the response or the request. Undefined if all are. */
  readonly failedAt: CorsCondition | undefined;
  /** The reason. */
  readonly detail: string | undefined;
}

/** Where the check of a request is recorded. */
interface CorsTrace {
  cors: JournalCors | undefined;
}

/** The CORS protocol of a service. */
export interface Cors {
  /** Returns whether a request is a preflight to a resource that takes part in the protocol. It has no credentials (Fetch §3.3.2). */
  isPreflight(request: IncomingRequest, resource: Resource): boolean;
  /**
   * Adds the fields of the protocol to a response, and records the check in the trace. Returns whether scripts may read the fields of
   * the response; `exposeFields` adds their list.
   */
  share(response: Response, request: IncomingRequest | undefined, trace: CorsTrace): boolean;
}

/** The parts of a service that the protocol depends on. */
interface CorsParts {
  /** The declaration for resources without their own. Default: they take no part in the protocol. */
  readonly declared: CorsDeclaration | undefined;
  readonly router: () => Router;
  /** Returns the request fields, in lower case, that the schemes read: all of them, or those that a resource accepts. */
  readonly schemeFields: (accepted: AcceptedSchemes | undefined) => readonly string[];
}

/** Creates the CORS protocol of a service. */
export function createCors({ declared, router, schemeFields }: CorsParts): Cors {
  const byDefault = declared === undefined ? undefined : toCorsPolicy(declared);
  const policyOf = onceEach(toCorsPolicy);
  const selectPolicy = (resource: Resource | undefined): CorsPolicy | undefined =>
    resource?.cors === undefined ? byDefault : policyOf(resource.cors);
  /** Adds what a preflight asks for, as far as it is permitted. */
  const permit = (
    { status, headers: fields }: Response,
    request: IncomingRequest,
    match: Match | undefined,
    { maxAge }: CorsPolicy,
  ): Pick<JournalCors, 'failedAt' | 'detail'> => {
    const resource = match?.resource ?? {};
    const understood = [...listRequestFields(resource), ...schemeFields(resource.schemes)];
    const methods = match === undefined ? listPossibleMethods(resource) : listPossibleMethodsAt(match);
    const { lines, failedAt, detail } = permissionsFor(request, methods, understood, status);
    fields.push(...lines);
    if (failedAt !== 'status') fields.push(['Access-Control-Max-Age', String(maxAge)]);
    return { failedAt, detail };
  };

  return {
    isPreflight(request, resource) {
      const policy = isPreflight(request) ? selectPolicy(resource) : undefined;
      return policy !== undefined && (policy.any || policy.origins.size > 0);
    },
    share(response, request, trace) {
      const match = request && findMatch(request, router());
      const policy = selectPolicy(match?.resource);
      const { headers: fields } = response;
      // A resource in code, or a fault of a double, may have its own fields.
      if (policy === undefined || fields.some(isAllowOrigin)) return false;
      // With `*`, all responses are shared alike (Fetch, "CORS protocol and HTTP caches").
      if (policy.any) fields.push(['Access-Control-Allow-Origin', '*']);
      else if (policy.origins.size > 0) varyByOrigin(fields);
      const origin = request?.headers.get('origin');
      if (request === undefined || origin === undefined) return policy.any;
      const preflight = isPreflight(request);
      if (!policy.any && !policy.origins.has(origin)) {
        if (!isOwnOrigin(origin, request)) trace.cors = describeUnlisted(origin, preflight, policy);
        return false;
      }
      if (!policy.any) fields.push(['Access-Control-Allow-Origin', origin]);
      if (policy.credentials) fields.push(['Access-Control-Allow-Credentials', 'true']);
      if (preflight) trace.cors = { origin, preflight, ...permit(response, request, match, policy) };
      else trace.cors = { origin, preflight, failedAt: undefined, detail: undefined };
      return !preflight;
    },
  };
}

/** Returns whether a request is a CORS-preflight request (Fetch §3.3.2). */
function isPreflight({ method, headers: fields }: IncomingRequest): boolean {
  return method === 'OPTIONS' && fields.has('access-control-request-method') && fields.has('origin');
}

/** Returns the route of a request, also of one that was rejected before its route was found. */
function findMatch(request: IncomingRequest, router: Router): Match | undefined {
  try {
    return findRoute(parseTarget(request.target, request.method), request, router);
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

/** Returns whether the page is of this server, so that the browser requires no permission. */
function isOwnOrigin(origin: string, { headers: fields, connection }: IncomingRequest): boolean {
  return origin === `${connection.secure ? 'https' : 'http'}://${fields.get('host') ?? ''}`;
}

function describeUnlisted(origin: string, preflight: boolean, { origins }: CorsPolicy): JournalCors {
  const listed = [...origins].join(', ');
  const detail =
    listed === '' ? 'no other origin may use this resource' : `${origin} is not one of ${listed}`;
  return { origin, preflight, failedAt: 'origin', detail };
}

function isAllowOrigin([name]: FieldLine): boolean {
  return name.toLowerCase() === 'access-control-allow-origin';
}

function varyByOrigin(fields: FieldLine[]): void {
  const at = fields.findIndex(([name]) => name.toLowerCase() === 'vary');
  const value = fields[at]?.[1].trim() ?? '';
  if (at < 0) fields.push(['Vary', 'Origin']);
  else if (value !== '*') fields[at] = ['Vary', value === '' ? 'Origin' : `${value}, Origin`];
}

/** The fields that permit a request, and why a browser does not send it. */
interface PreflightResult extends Pick<JournalCors, 'failedAt' | 'detail'> {
  readonly lines: readonly FieldLine[];
}

/** Methods that a browser sends without permission (Fetch §2.2.1). */
const safelistedMethods: readonly string[] = ['GET', 'HEAD', 'POST'];

/**
 * Returns the methods that some principal may use, and the requested fields that the resource understands. A preflight has no
 * credentials, so the principal is unknown.
 */
function permissionsFor(
  { headers: fields }: IncomingRequest,
  methods: readonly string[],
  understood: readonly string[],
  status: number,
): PreflightResult {
  // A browser accepts no other status (Fetch §4.8).
  if (status < 200 || status > 299)
    return { lines: [], failedAt: 'status', detail: `the preflight has the status ${status}` };
  const requested = parseRequestedFields(fields.getAll('access-control-request-headers').join(','));
  const permitted = requested.filter((name) => understood.includes(name));
  const lines: FieldLine[] = [['Access-Control-Allow-Methods', methods.join(', ')]];
  if (permitted.length > 0) lines.push(['Access-Control-Allow-Headers', permitted.join(', ')]);
  const method = fields.get('access-control-request-method') ?? '';
  if (!methods.includes(method) && !safelistedMethods.includes(method))
    return { lines, failedAt: 'method', detail: `${method} is not one of ${methods.join(', ')}` };
  const refused = requested.filter((name) => !permitted.includes(name));
  if (refused.length === 0) return { lines, failedAt: undefined, detail: undefined };
  return { lines, failedAt: 'header', detail: `the server does not read ${refused.join(', ')} here` };
}

/** Returns the names in Access-Control-Request-Headers in lower case, each once. */
function parseRequestedFields(value: string): string[] {
  return [...new Set(listElements(value).map((name) => name.toLowerCase()))];
}

/** Fields that scripts can always read, or never (Fetch §2.2.2), and those of the protocol itself. */
const notExposed: ReadonlySet<string> = new Set([
  'cache-control',
  'content-language',
  'content-length',
  'content-type',
  'expires',
  'last-modified',
  'pragma',
  'set-cookie',
  'set-cookie2',
  'access-control-allow-credentials',
  'access-control-allow-origin',
  'access-control-expose-headers',
  // For browsers, not for scripts.
  'x-content-type-options',
]);

/** Lets scripts read all other fields of a response. */
export function exposeFields({ headers: fields }: Response): void {
  const exposed = new Map<string, string>();
  for (const [name] of fields) {
    const key = name.toLowerCase();
    if (!notExposed.has(key) && !exposed.has(key)) exposed.set(key, name);
  }
  if (exposed.size > 0) fields.push(['Access-Control-Expose-Headers', [...exposed.values()].join(', ')]);
}

/**
 * The request fields that every resource understands, apart from those of authentication schemes, in lower case. Browsers need no
 * permission for some of them, unless the value has unusual characters (Fetch §2.2.2).
 */
const always: readonly string[] = [
  'accept',
  'content-type',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'prefer',
  'traceparent',
  'x-request-id',
];

/** Those that describe the content that a method reads. */
const ofContent: readonly string[] = ['content-digest', 'content-encoding', 'content-md5', 'content-range'];

/** Returns the request fields that a resource understands, in lower case, apart from those of authentication schemes. */
function listRequestFields({ PUT, POST, DELETE, GET, requestHeaders = [] }: Resource): readonly string[] {
  const hasContent = [PUT, POST, DELETE, GET].some((action) => (action?.reads ?? []).length > 0);
  const own = requestHeaders.map((name) => name.toLowerCase());
  return [...always, ...(hasContent ? ofContent : []), ...own];
}
