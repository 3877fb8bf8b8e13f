import type { Request } from './http/message.ts';
import type { Method } from './http/method.ts';
import type { Target } from './http/target.ts';
import type { Principal } from './principal.ts';
import type { Call, Found, Parameters, Variant } from './resource.ts';

/** What has become known of a request, also when it is refused later. */
export interface Known {
  principal: Principal | undefined;
}

/** A call while it is being judged: each step fills in what it found out. */
export class JudgedCall implements Call {
  readonly request: Request;
  readonly method: Method;
  readonly parameters: Parameters;
  readonly principal: Principal | undefined;
  readonly now: number;
  variant: Variant | undefined;
  found: Found | undefined;
  content: unknown;
  readonly #target: Target;
  #query: URLSearchParams | undefined;

  constructor(
    request: Request,
    method: Method,
    target: Target,
    parameters: Parameters,
    principal: Principal | undefined,
    now: number,
  ) {
    this.request = request;
    this.method = method;
    this.#target = target;
    this.parameters = parameters;
    this.principal = principal;
    this.now = now;
    this.variant = undefined;
    this.found = undefined;
    this.content = undefined;
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
