import type { Clock } from '../clock.ts';
import type { Request, Response } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import { isPromiseLike } from '../maybe-promise.ts';
import type { Principal } from '../principal.ts';
import { createRequestTrace, type RequestTrace } from './call.ts';
import { decide, type ServiceContext } from './decide.ts';
import type { Next } from './observer.ts';
import type { AccessEntry, PipelineOptions } from './options.ts';
import { pathSent, problemOf, toProblemResponse, type WriteProblem } from './problem-response.ts';
import { createForwardedRewrite } from './proxy.ts';

/** What answering takes. */
export interface PipelineParts {
  readonly options: PipelineOptions;
  readonly context: ServiceContext;
  /** What requests wait for. */
  readonly seeded: Promise<void>;
  /** Keeps the nonce of a request before its reply (`Authentication`). */
  keepNonce(principal: Principal | undefined, durably: boolean): Promise<void> | undefined;
  /** Writes problem documents. */
  readonly writeProblem: WriteProblem;
}

/** Makes a reply of every request: of what was decided, or of what went wrong. */
export class Pipeline {
  readonly #parts: PipelineParts;
  readonly #fault: (error: unknown) => void;
  readonly #answer: Next;
  /** Whether there is nothing left to wait for. */
  #planted = false;

  constructor(parts: PipelineParts) {
    const { seeded, options } = parts;
    const { trustProxy = [], onError: fault = (error) => console.error(error) } = options;
    this.#parts = parts;
    this.#fault = fault;
    this.#answer = (request, trace) => this.#reply(request, trace);
    if (trustProxy.length > 0) {
      const asSent = createForwardedRewrite(trustProxy);
      this.#answer = (request, trace) => this.#reply(asSent(request), trace);
    }
    // Whoever waits for it learns of a failure; nobody has to.
    seeded.then(
      () => {
        this.#planted = true;
      },
      () => {},
    );
  }

  /** Answers a request; never rejects. */
  respond(request: Request): Promise<Response> {
    const { observer } = this.#parts.options;
    return observer === undefined
      ? this.#answer(request, createRequestTrace())
      : observer.observe(request, this.#answer);
  }

  /** The reply to what was refused before it could be handled; `received` is what was being parsed where it is no request. */
  respondToInvalid(problem: Problem, request: Request | undefined, received?: string): Response {
    const { context, options } = this.#parts;
    const trace = createRequestTrace();
    const response = this.#refusal(problem, request, trace);
    options.observer?.observeRefused(problem, request, response, received);
    return this.#told(request, response, trace, context.clock.steady());
  }

  async #reply(request: Request, trace: RequestTrace): Promise<Response> {
    const { context, seeded, keepNonce, options } = this.#parts;
    const begun = options.log === undefined ? 0 : context.clock.steady();
    let outcome: Response | Problem;
    try {
      if (!this.#planted) await seeded;
      const decided = decide(request, context, trace);
      outcome = isPromiseLike(decided) ? await decided : decided;
    } catch (error) {
      outcome = problemOf(error, this.#fault);
    }
    // What was used up is kept before anything is said, unless the change kept it.
    const keeping = keepNonce(trace.principal, !(outcome instanceof Problem));
    if (keeping !== undefined)
      outcome = await keeping.then(
        () => outcome,
        (error) => problemOf(error, this.#fault),
      );
    const response = outcome instanceof Problem ? this.#refusal(outcome, request, trace) : outcome;
    return this.#told(request, response, trace, begun);
  }

  #refusal(problem: Problem, request: Request | undefined, trace: RequestTrace): Response {
    const { context, writeProblem } = this.#parts;
    trace.problem = problem;
    return toProblemResponse(problem, request, trace, context.httpDate(context.clock.now()), writeProblem);
  }

  /** The same reply, once the access log has been told of it. */
  #told(request: Request | undefined, response: Response, trace: RequestTrace, begun: number): Response {
    const { context, options } = this.#parts;
    options.log?.(accessEntry(request, response.status, trace, context.clock, begun));
    return response;
  }
}

/** What the access log is told: method and path as sent, and nothing of query, fields or content. */
function accessEntry(
  request: Request | undefined,
  status: number,
  { principal, problem }: RequestTrace,
  clock: Clock,
  begun: number,
): AccessEntry {
  return {
    time: clock.now(),
    method: request?.method ?? '-',
    path: request === undefined ? '-' : pathSent(request),
    status,
    principal: principal?.name,
    scheme: principal?.scheme,
    microseconds: Math.round((clock.steady() - begun) * 1000),
    problem: problem?.type,
  };
}
