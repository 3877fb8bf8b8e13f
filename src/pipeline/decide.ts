import type { Clock } from '../clock.ts';
import { selectPreferred } from '../http/headers/accept.ts';
import { evaluatePreconditions, isConditional, requirePrecondition } from '../http/headers/precondition.ts';
import { type IncomingRequest, isConfidential, type Response } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import { checkExpectation, checkFraming } from '../http/transfer.ts';
import { andThen } from '../maybe-promise.ts';
import type { Principal } from '../principal.ts';
import type { Authenticator } from '../schemes/authenticate.ts';
import { type Addressed, CallContext, type RequestLimits, type RequestTrace } from './call.ts';
import type { Cors } from './cors.ts';
import type { GzipQueue } from './gzip-queue.ts';
import { type Describe, describe } from './options-response.ts';
import {
  checkCharset,
  checkContentRange,
  checkDeclaredLength,
  checkUnreadContent,
  readContent,
  readingFor,
} from './request-body.ts';
import {
  applyAuthority,
  checkHost,
  checkSingletons,
  checkVersion,
  requireKnownMethod,
  requireTarget,
  stopping,
} from './request-checks.ts';
import {
  type Action,
  type ActionResponse,
  actionFor,
  type ContentReader,
  isInScope,
  mayUse,
  type Resource,
  type ResourceState,
  retryAction,
  scopesNeeded,
  type Variant,
} from './resource.ts';
import { addContentTag, buildNotModified, listTags, toOutcome, toResponse } from './response.ts';
import { allowAt, findRoute, type Match, notFound, type Router, withNearest } from './router.ts';

/** The parts of the service that the steps use. */
export interface ServiceContext {
  readonly router: Router;
  readonly authenticator: Authenticator;
  /** Limits the requests of each principal and peer; undefined if nothing is limited. */
  readonly quotas: RequestLimits | undefined;
  readonly clock: Clock;
  /** Formats a time (ms) as an HTTP date. */
  httpDate(ms: number): string;
  /** Limits concurrent compression and decompression. */
  readonly gzip: GzipQueue;
  /** The limits on the target and the content, in bytes. */
  readonly limits: { readonly target: number; readonly body: number };
  /** The CORS protocol; undefined if it is off. */
  readonly cors: Cors | undefined;
  /** Whether the service is stopping. */
  stopping(): boolean;
  /** Serializes the content of the response to OPTIONS. */
  readonly describe: Describe;
}

/** A call that the principal may make, and its action. */
interface Permitted {
  readonly call: CallContext;
  readonly resource: Resource;
  readonly implemented: Action;
  readonly reading: ContentReader | undefined;
}

/**
 * Decides the response to a request, step by step; each step continues or throws a Problem. Step 0, parsing the request, belongs
 * to the listener. `trace.step` is the step being evaluated. If no step has to wait, as for most requests, the response is returned
 * synchronously: each promise would add a twentieth to the time. Throws, or rejects with, a Problem.
 */
export function decide(
  request: IncomingRequest,
  context: ServiceContext,
  trace: RequestTrace,
): Response | Promise<Response> {
  // 1: is the server stopping? (The listener checks whether it is full.)
  trace.step = 1;
  if (context.stopping()) throw stopping();
  // 2: HTTP/1.x, exactly one valid Host, no singleton field twice?
  trace.step = 2;
  checkVersion(request.version);
  checkHost(request);
  checkSingletons(request.headers);
  // 3: is the method one that some resource implements?
  trace.step = 3;
  const method = requireKnownMethod(request.method, context.router);
  // 4: is the target sane?
  trace.step = 4;
  const target = requireTarget(request.target, method, context.limits.target);
  const received = applyAuthority(request);
  // 5: transfer coding and expectation ones we know?
  trace.step = 5;
  checkFraming(request.headers);
  checkExpectation(request.headers, request.version);
  // 6: is there a resource here?
  trace.step = 6;
  const addressed = { request: received, method, target, route: findRoute(target, received, context.router) };
  const { resource, reserve } = addressed.route;
  trace.release = reserve?.();
  trace.resource = resource;
  // 7: are the credentials good?
  trace.step = 7;
  const principal = authenticate(addressed, context, trace);
  return andThen(principal, (found) => decideFor(found, addressed, context, trace));
}

/** Takes steps 8 to 12, once the principal is known. */
function decideFor(
  principal: Principal | undefined,
  addressed: Addressed,
  context: ServiceContext,
  trace: RequestTrace,
): Response | Promise<Response> {
  const { request, method, target, route } = addressed;
  trace.principal = principal;
  if (principal !== undefined) request.body.release?.();
  context.quotas?.take(request, trace);
  const { resource } = route;
  const call = new CallContext(addressed, principal, context.clock.now(), context);
  // 8: OPTIONS?
  trace.step = 8;
  if (method === 'OPTIONS')
    return describe(call, target.asterisk ? context.router.routes : route, context.describe);
  // 9: does the resource implement the method?
  trace.step = 9;
  const implemented = requireAction(call, route, context.router);
  // 10: may this principal?
  trace.step = 10;
  checkPermission(call, resource, implemented, context.authenticator);
  // 11: can what is sent be read?
  trace.step = 11;
  const reading = selectReading(call, resource, implemented, context.limits.body);
  // 12: does it exist?
  trace.step = 12;
  const permitted = { call, resource, implemented, reading };
  return andThen(resource.find?.(call), (found) => decideOn(found, permitted, context, trace));
}

/** Takes steps 12 to 15, once the state of the resource is known. */
function decideOn(
  found: ResourceState | undefined,
  permitted: Permitted,
  context: ServiceContext,
  trace: RequestTrace,
): Response | Promise<Response> {
  const { call, resource, implemented, reading } = permitted;
  call.state = found;
  checkExistence(call, resource, implemented);
  checkPermissionFor(call, resource, implemented, context.authenticator);
  // 13: can what is asked for be written?
  trace.step = 13;
  call.variant = selectVariant(call, resource.produces);
  // 14: do the preconditions hold?
  trace.step = 14;
  const unmodified = checkPreconditions(call, resource);
  if (unmodified !== undefined) return buildNotModified(call, unmodified);
  // 15: is the content right?
  trace.step = 15;
  const content = receiveContent(call, implemented, reading, context.limits.body);
  return content === undefined
    ? act(permitted, context, trace)
    : content.then((read) => {
        call.body = read;
        return act(permitted, context, trace);
      });
}

/** Takes the last step. */
function act(
  { call, resource, implemented }: Permitted,
  { authenticator }: ServiceContext,
  trace: RequestTrace,
): Response | Promise<Response> {
  // 16: act, in one turn with step 14 asked again
  trace.step = 16;
  trace.release = undefined;
  return andThen(implemented.handle(call), (done) =>
    done === retryAction
      ? repeatAction(call, resource, implemented, authenticator).then((outcome) =>
          conclude(call, resource, outcome),
        )
      : andThen(toOutcome(done), (outcome) => conclude(call, resource, outcome)),
  );
}

function authenticate(
  { request, route: { resource } }: Addressed,
  { authenticator, cors }: ServiceContext,
  trace: RequestTrace,
): ReturnType<Authenticator['authenticate']> {
  if (cors?.isPreflight(request, resource) === true) return undefined;
  if (resource.ownCredentials !== true)
    return authenticator.authenticate(request, trace.authentication, resource.schemes);
  if (isConfidential(request.connection)) return undefined;
  throw new Problem('tls-required', 'This resource is available over TLS only. The request was not read.');
}

function requireAction(call: CallContext, route: Match, router: Router): Action {
  const implemented = actionFor(route.resource, call.method);
  if (implemented !== undefined) return implemented;
  const detail = `This resource does not implement ${call.method}.`;
  throw new Problem('method-not-allowed', withNearest(detail, call.incoming, router), {
    headers: [['Allow', allowAt(route, call.principal).join(', ')]],
  });
}

function checkPermission(
  call: CallContext,
  resource: Resource,
  implemented: Action,
  authenticator: Authenticator,
): void {
  if (mayUse(resource, call.method, call.principal, call.parameters)) return;
  if (!isInScope(implemented, call.method, call.principal))
    throw scopeTooNarrow(call, implemented, authenticator);
  if (call.principal !== undefined)
    throw forbidden(call, resource, `This principal may not ${call.method} here.`);
  throw authenticator.missing(
    `${call.method} requires authentication here.`,
    call.incoming,
    resource.schemes,
  );
}

/** Throws a Problem if the principal may use the method in another state of the target only. */
function checkPermissionFor(
  call: CallContext,
  resource: Resource,
  { permitsState }: Action,
  authenticator: Authenticator,
): void {
  if (permitsState === undefined || permitsState(call)) return;
  const { state, method, principal, incoming } = call;
  const reads = method === 'GET' || method === 'HEAD';
  const what = state === undefined ? ' to create it' : reads ? '' : ' to change what exists';
  if (principal === undefined)
    throw authenticator.missing(`${method} requires authentication here${what}.`, incoming, resource.schemes);
  throw forbidden(call, resource, `This principal may not ${method} here${what}.`);
}

/** Returns the problem of a principal that may not use a method: 404 if the resource is hidden from it. */
function forbidden(call: CallContext, resource: Resource, detail: string): Problem {
  const { principal, parameters, state } = call;
  const seen = mayUse(resource, 'GET', principal, parameters);
  const isHidden =
    resource.hide === true &&
    !(seen && (state === undefined || resource.GET?.permitsState?.(call) !== false));
  return isHidden ? notFound() : new Problem('forbidden', detail);
}

function scopeTooNarrow(
  { method, principal }: CallContext,
  implemented: Action,
  authenticator: Authenticator,
): Problem {
  const needed = (scopesNeeded(implemented, method)[0] ?? []).join(' ');
  return new Problem(
    'insufficient-scope',
    `The token does not permit ${method}, which requires the scope ${needed}.`,
    {
      headers: principal === undefined ? [] : authenticator.scopeChallenge(principal.scheme, needed),
    },
  );
}

function selectReading(
  call: CallContext,
  resource: Resource,
  implemented: Action,
  limit: number,
): ContentReader | undefined {
  checkDeclaredLength(call.incoming, limit);
  const reading = readingFor(call.incoming, implemented);
  if (reading !== undefined) checkDeclaredLength(call.incoming, lengthLimit(reading, limit));
  if (call.method === 'PUT' && resource.verbatim !== true) checkContentRange(call.incoming);
  implemented.checkHeaders?.(call);
  return reading;
}

/** Returns how many bytes of content a reading accepts, if the server accepts `limit`. */
function lengthLimit({ maxLength }: ContentReader, limit: number): number {
  return Math.min(maxLength ?? limit, limit);
}

function checkExistence(call: CallContext, resource: Resource, implemented: Action): void {
  if (resource.find === undefined || call.state !== undefined) return;
  if (implemented.mayCreate?.(call) !== true) throw notFound();
}

function selectVariant(call: CallContext, produces: readonly Variant[] | undefined): Variant | undefined {
  if (produces === undefined) return undefined;
  const variant = selectPreferred(call.incoming.headers.get('accept'), produces);
  if (variant !== undefined) return variant;
  // A change is not rejected because of the format of its response.
  if (call.method !== 'GET' && call.method !== 'HEAD') return produces[0];
  throw notAcceptable(produces);
}

function notAcceptable(variants: readonly { readonly type: string }[]): Problem {
  const types = variants.map(({ type }) => type).join(', ');
  return new Problem('not-acceptable', `Accept matches none of the types of this resource: ${types}.`);
}

/** Returns the matching tag if the response is 304. Throws 412, or 400 on a malformed field. */
function checkPreconditions(call: CallContext, resource: Resource): string | undefined {
  const { incoming: request, method, state: found, now } = call;
  // A resource without `find` is checked in `conclude`, when its state is known.
  if (resource.find === undefined && (method === 'GET' || method === 'HEAD')) return undefined;
  if (resource.verbatim === true) return undefined;
  if (found?.repeats !== undefined) return undefined;
  if (resource.requirePrecondition === true) requirePrecondition(request.headers, method, now);
  if (!isConditional(request.headers)) return undefined;
  const verdict = evaluatePreconditions(request.headers, method, toState(call, resource, found), now);
  return verdict === 'proceed' ? undefined : verdict.notModified;
}

type State = Parameters<typeof evaluatePreconditions>[2];

function toState(call: CallContext, resource: Resource, found: CallContext['state']): State {
  if (found !== undefined)
    return { tags: listTags(found, call, resource.produces), modified: found.modified };
  // A resource without `find` exists, and has no validator that could match.
  return resource.find === undefined ? { tags: [], modified: Number.POSITIVE_INFINITY } : undefined;
}

/** Returns the decoded content when it has arrived; undefined if there is nothing to wait for. */
function receiveContent(
  call: CallContext,
  implemented: Action,
  reading: ContentReader | undefined,
  limit: number,
): Promise<unknown> | undefined {
  if (reading !== undefined) {
    checkCharset(call.incoming.headers, reading);
    // Clients send their usual Content-Type also without content. A reader of any type decides itself what empty content is.
    const emptyIsNone = implemented.bodyOptional === true && reading.type !== '*/*';
    return readContent(call, reading.decoder(call), lengthLimit(reading, limit), emptyIsNone);
  }
  if (implemented.reads === undefined) call.isUnread = call.incoming.body.present;
  else if (implemented.reads.length > 0 && implemented.bodyOptional !== true) {
    throw new Problem('content-missing', `${call.method} requires content here.`);
  }
  return checkUnreadContent(call.incoming, limit, call.principal !== undefined);
}

/** Repeats steps 12, 14 and 16 until the state does not change between them. */
async function repeatAction(
  call: CallContext,
  resource: Resource,
  implemented: Action,
  authenticator: Authenticator,
): Promise<ActionResponse> {
  for (;;) {
    call.state = await resource.find?.(call);
    checkExistence(call, resource, implemented);
    checkPermissionFor(call, resource, implemented, authenticator);
    checkPreconditions(call, resource);
    const done = await implemented.handle(call);
    if (done !== retryAction) return toOutcome(done);
  }
}

/** Takes steps 13 and 14 for a GET of a resource without `find`: only its action returns the representation. */
function conclude(
  call: CallContext,
  resource: Resource,
  outcome: ActionResponse,
): Response | Promise<Response> {
  const { representation } = outcome;
  const reads = call.method === 'GET' || call.method === 'HEAD';
  if (!reads || resource.find !== undefined || representation === undefined || outcome.status !== 200) {
    return toResponse(call, outcome);
  }
  if (resource.verbatim === true) return toResponse(call, outcome);
  if (selectPreferred(call.incoming.headers.get('accept'), [representation]) === undefined) {
    throw notAcceptable([representation]);
  }
  const tagged = addContentTag(outcome, representation);
  const state = { tags: listTags(tagged.state, call, resource.produces), modified: tagged.state.modified };
  const verdict = evaluatePreconditions(call.incoming.headers, call.method, state, call.now);
  return verdict === 'proceed' ? toResponse(call, tagged) : buildNotModified(call, verdict.notModified);
}
