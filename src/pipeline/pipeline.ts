import type { IncomingRequest, Response } from '../http/message.ts';
import { isSafe } from '../http/method.ts';
import { Problem } from '../http/problem.ts';
import { isPromiseLike } from '../maybe-promise.ts';
import { accessEntry, type RequestIds } from './access-entry.ts';
import { createRequestTrace, type RequestTrace } from './call.ts';
import { exposeFields } from './cors.ts';
import { decide, type ServiceContext } from './decide.ts';
import type { Next } from './observer.ts';
import type { PipelineOptions } from './options.ts';
import { toProblem, toProblemResponse, type WriteProblem } from './problem-response.ts';
import { createBasePathRewrite, createForwardedRewrite } from './proxy.ts';
import { replaceVary, varyWith } from './response.ts';

/** The parts of a pipeline. */
export interface PipelineParts {
  readonly options: PipelineOptions;
  readonly context: ServiceContext;
  /** Resolves when the seed is stored; requests wait for it. */
  readonly seeded: Promise<void>;
  /** Whether TLS is assumed where credentials require it, because a test stands in for a service over TLS. Default: false. */
  readonly assumesTls?: boolean | undefined;
  /** Serializes problem documents. */
  readonly writeProblem: WriteProblem;
  /** Returns the id of a request. */
  readonly requestIds: RequestIds;
  /** Completes each response, such as by a signature. Default: leaves it as it is. */
  readonly complete?: Complete | undefined;
}

/** Returns the complete response to a request. `request` is undefined if none could be read. */
export type Complete = (
  response: Response,
  request: IncomingRequest | undefined,
  trace: RequestTrace,
) => Response;

/** Answers every request: with what was decided, or with a problem. */
export class Pipeline {
  readonly #parts: PipelineParts;
  readonly #onError: (error: unknown) => void;
  readonly #next: Next;
  /** The value of Vary if schemes have credentials in fields of their own. */
  readonly #vary: string | undefined;
  /** Restores the connection and the target of the client, if there is a proxy. */
  readonly #restore: (request: IncomingRequest) => IncomingRequest = (request) => request;
  /** Whether the seed is stored. */
  #isSeeded = false;

  constructor(parts: PipelineParts) {
    const { seeded, options } = parts;
    const { trustProxy = [], basePath, onError = (error) => console.error(error) } = options;
    this.#parts = parts;
    this.#vary = varyWith(parts.context.authenticator.credentialFields ?? []);
    this.#onError = onError;
    this.#next = (request, trace) => this.#answer(request, trace);
    if (trustProxy.length > 0 || basePath !== undefined) {
      const restoreConnection = createForwardedRewrite(trustProxy);
      const restoreTarget = basePath === undefined ? undefined : createBasePathRewrite(basePath);
      this.#restore =
        restoreTarget === undefined
          ? restoreConnection
          : (request) => restoreTarget(restoreConnection(request));
      this.#next = (request, trace) => this.#answer(this.#restore(request), trace);
    }
    // A failure is reported to each request that waits for the seed.
    seeded.then(
      () => {
        this.#isSeeded = true;
      },
      () => {},
    );
  }

  /** Returns the response to a request. Never rejects. */
  respond(received: IncomingRequest): Promise<Response> {
    const { observer } = this.#parts.options;
    const request = this.#assumeTls(received);
    return observer === undefined
      ? this.#next(request, createRequestTrace())
      : observer.observe(request, this.#next);
  }

  #assumeTls(request: IncomingRequest): IncomingRequest {
    if (this.#parts.assumesTls !== true || request.connection.secure) return request;
    return { ...request, connection: { ...request.connection, assumesTls: true } };
  }

  /** Returns the response to a request that was rejected before it could be handled; `received` are the bytes that are no request. */
  respondToInvalid(problem: Problem, request: IncomingRequest | undefined, received?: string): Response {
    const { context, options } = this.#parts;
    const trace = createRequestTrace();
    const restored = request && this.#restore(request);
    const response = this.#completed(this.#problemResponse(problem, restored, trace), restored, trace);
    options.observer?.observeRefused(problem, request && this.#assumeTls(request), response, received);
    return this.#logged(restored, response, trace, context.clock.steady());
  }

  async #answer(request: IncomingRequest, trace: RequestTrace): Promise<Response> {
    const { context, seeded, options } = this.#parts;
    const begun = options.onRequest === undefined ? 0 : context.clock.steady();
    let outcome: Response | Problem;
    try {
      if (!this.#isSeeded) await seeded;
      const decided = decide(request, context, trace);
      outcome = isPromiseLike(decided) ? await decided : decided;
    } catch (error) {
      outcome = toProblem(error, this.#onError, trace.step, isSafe(request.method));
    }
    trace.release?.();
    const response = outcome instanceof Problem ? this.#problemResponse(outcome, request, trace) : outcome;
    return this.#logged(request, this.#completed(response, request, trace), trace, begun);
  }

  #completed(response: Response, request: IncomingRequest | undefined, trace: RequestTrace): Response {
    const { complete, context } = this.#parts;
    if (this.#vary !== undefined) replaceVary(response.headers, this.#vary);
    const shared = context.cors?.share(response, request, trace);
    const completed = complete === undefined ? response : complete(response, request, trace);
    // A signature adds fields, so the list of the fields is last.
    if (shared === true) exposeFields(completed);
    return completed;
  }

  /** Adds the fields of the CORS protocol to a response that the service did not create. */
  share(response: Response, request: IncomingRequest, trace: RequestTrace): void {
    const { cors } = this.#parts.context;
    if (cors?.share(response, this.#restore(request), trace) === true) exposeFields(response);
  }

  #problemResponse(problem: Problem, request: IncomingRequest | undefined, trace: RequestTrace): Response {
    const { context, writeProblem } = this.#parts;
    trace.problem = problem;
    return toProblemResponse(problem, request, trace, context.httpDate(context.clock.now()), writeProblem);
  }

  /** Writes an entry to the access log, and returns the response. */
  #logged(
    request: IncomingRequest | undefined,
    response: Response,
    trace: RequestTrace,
    begun: number,
  ): Response {
    const { context, options } = this.#parts;
    if (options.onRequest === undefined) return response;
    trace.requestId ??= this.#parts.requestIds(request);
    options.onRequest(accessEntry(request, response, trace, context.clock, begun));
    return response;
  }
}
