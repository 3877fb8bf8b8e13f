import type { AuthenticationTrace } from '../auth/trace.ts';
import type { Request } from '../http/message.ts';
import type { Method } from '../http/method.ts';
import type { Problem } from '../http/problem.ts';
import type { Target } from '../http/target.ts';
import type { Principal } from '../principal.ts';
import type { GzipQueue } from './gzip-queue.ts';
import type { Call, Found, Parameters, Variant } from './resource.ts';

/** What has become known of a request, also when it is refused later. */
export interface RequestTrace {
  principal: Principal | undefined;
  /** The step that is being asked, and in the end the one that answered (0 to 16). */
  step: number;
  /** Where the checks of credentials are told; undefined where nobody listens. */
  readonly authentication: AuthenticationTrace | undefined;
  /** The refusal that the reply was made of. */
  problem: Problem | undefined;
}

/** What is known of a request before anything is asked. */
export function createRequestTrace(authTrace?: AuthenticationTrace): RequestTrace {
  return { principal: undefined, step: 0, authentication: authTrace, problem: undefined };
}

/** What is known of a call when steps 1 to 7 are through. */
export interface CallParts {
  readonly request: Request;
  readonly method: Method;
  readonly target: Target;
  readonly parameters: Parameters;
  readonly principal: Principal | undefined;
  /** When the call is judged (ms). */
  readonly now: number;
  /** Writes a time (ms) as the value of a date field. */
  readonly httpDate: (ms: number) => string;
  /** Where content waits to be compressed or decompressed. */
  readonly gzip: GzipQueue;
}

/** A call while it is being judged: each step fills in what it found out. */
export class CallContext implements Call {
  readonly request: Request;
  readonly method: Method;
  readonly parameters: Parameters;
  readonly principal: Principal | undefined;
  readonly now: number;
  /** Writes a time (ms) as the value of a date field. */
  readonly httpDate: (ms: number) => string;
  /** Where content waits to be compressed or decompressed. */
  readonly gzip: GzipQueue;
  variant: Variant | undefined;
  found: Found | undefined;
  content: unknown;
  readonly #target: Target;
  #query: URLSearchParams | undefined;

  constructor(parts: CallParts) {
    this.request = parts.request;
    this.method = parts.method;
    this.#target = parts.target;
    this.parameters = parts.parameters;
    this.principal = parts.principal;
    this.now = parts.now;
    this.httpDate = parts.httpDate;
    this.gzip = parts.gzip;
    this.variant = undefined;
    this.found = undefined;
    this.content = undefined;
  }

  /** The value of the reply's Date. */
  get date(): string {
    return this.httpDate(this.now);
  }

  get path(): string {
    return this.#target.path;
  }

  /** Parsed when it is first asked for: most requests have no use for it. */
  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.#target.search);
    return this.#query;
  }
}
