import type { QuotaUse } from '../accounts/quota.ts';
import type { HttpRequest, IncomingRequest } from '../http/message.ts';
import type { Problem } from '../http/problem.ts';
import type { Target } from '../http/target.ts';
import type { Principal } from '../principal.ts';
import type { AuthenticationTrace } from '../schemes/trace.ts';
import type { JournalCors } from './cors.ts';
import type { GzipQueue } from './gzip-queue.ts';
import type { Call, Parameters, Resource, ResourceState, Variant } from './resource.ts';
import type { Match } from './router.ts';

/** The state of a request as it passes the steps, also if it is rejected later. */
export interface RequestTrace {
  principal: Principal | undefined;
  /** The step that is being evaluated; after the response, the one that decided it (0 to 16). */
  step: number;
  /** Records the checks of the credentials; undefined if nothing listens. */
  readonly authentication: AuthenticationTrace | undefined;
  /** How the browser's request from another origin was answered; undefined for any other request. */
  cors: JournalCors | undefined;
  /** The problem that the response reports. */
  problem: Problem | undefined;
  /** The resource, which determines the form of problems; undefined until it is found. */
  resource: Resource | undefined;
  /** The state of the quota after this request; undefined if there is none. */
  quota: readonly QuotaUse[] | undefined;
  /** Gives the reservation of a limited route back. Undefined if there is none, or once its action is called. */
  release: (() => void) | undefined;
  /** The id of the request; undefined until it is needed. */
  requestId: string | undefined;
}

/** Limits how many requests are permitted. */
export interface RequestLimits {
  /** Counts a request and adds the state to its trace. Throws a Problem (429) if there are too many. */
  take(request: IncomingRequest, trace: RequestTrace): void;
}

/** Creates the trace of a request before its first step. */
export function createRequestTrace(authTrace?: AuthenticationTrace): RequestTrace {
  return {
    principal: undefined,
    step: 0,
    authentication: authTrace,
    cors: undefined,
    problem: undefined,
    resource: undefined,
    quota: undefined,
    release: undefined,
    requestId: undefined,
  };
}

/** A request with the route that it matches. */
export interface Addressed {
  readonly request: IncomingRequest;
  readonly method: string;
  readonly target: Target;
  readonly route: Match;
}

/** The call of a resource as it passes the steps; each step sets what it found out. */
export class CallContext implements Call {
  readonly incoming: IncomingRequest;
  readonly method: string;
  readonly parameters: Parameters;
  readonly principal: Principal | undefined;
  readonly now: number;
  /** Formats a time (ms) as an HTTP date. */
  readonly httpDate: (ms: number) => string;
  /** Limits concurrent compression and decompression. */
  readonly gzip: GzipQueue;
  variant: Variant | undefined;
  state: ResourceState | undefined;
  /** Whether the request has content that the action does not read. */
  isUnread = false;
  #content: unknown;
  readonly #target: Target;
  #query: URLSearchParams | undefined;

  constructor(
    { request, method, target, route }: Addressed,
    principal: Principal | undefined,
    now: number,
    { httpDate, gzip }: Pick<CallContext, 'httpDate' | 'gzip'>,
  ) {
    this.incoming = request;
    this.method = method;
    this.#target = target;
    this.parameters = route.parameters;
    this.principal = principal;
    this.now = now;
    this.httpDate = httpDate;
    this.gzip = gzip;
    this.variant = undefined;
    this.state = undefined;
    this.#content = undefined;
  }

  /** Throws Error if the action does not read the content: it would look as if there was none. */
  get body(): unknown {
    if (!this.isUnread) return this.#content;
    throw new Error(
      `the content of ${this.method} ${this.path} was not read: its action has no reads, such as { reads: [bytes] }`,
    );
  }

  set body(content: unknown) {
    this.#content = content;
  }

  /** The value of Date in the response. */
  get date(): string {
    return this.httpDate(this.now);
  }

  /** Created on use: only resources in code read it. */
  get request(): HttpRequest {
    const { method, path, query } = this;
    const { target, headers, connection } = this.incoming;
    return { method, target, path, query, headers, peer: connection.peer, secure: connection.secure };
  }

  get path(): string {
    return this.#target.path;
  }

  /** Parsed on first use, because most requests do not need it. */
  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.#target.search);
    return this.#query;
  }
}
