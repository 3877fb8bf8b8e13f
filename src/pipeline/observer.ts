import type { IncomingRequest, Response } from '../http/message.ts';
import type { Problem } from '../http/problem.ts';
import type { RequestTrace } from './call.ts';

/** Returns the response to a request, and records in `trace` how it was decided. Never rejects. */
export type Next = (request: IncomingRequest, trace: RequestTrace) => Promise<Response>;

/** Observes every request and every response, and may replace them. */
export interface Observer {
  /** Returns the response: that of `answer`, or another one. Never rejects. */
  observe(request: IncomingRequest, answer: Next): Promise<Response>;
  /**
   * Called with the response to a request that was rejected before it could be handled. `received` holds the bytes that could not
   * be parsed, one character an octet, if there is no request.
   */
  observeRefused(
    problem: Problem,
    request: IncomingRequest | undefined,
    response: Response,
    received: string | undefined,
  ): void;
}
