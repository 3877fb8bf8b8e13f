import type { Request, Response } from '../http/message.ts';
import type { Problem } from '../http/problem.ts';
import type { RequestTrace } from './call.ts';

/** Answers a request, and writes into `known` what becomes known of it; never rejects. */
export type Next = (request: Request, trace: RequestTrace) => Promise<Response>;

/** Sees every request on its way in and every reply on its way out, and may put others in their place. */
export interface Observer {
  /** Has `answer` reply to the request, or replies itself. Never rejects. */
  observe(request: Request, answer: Next): Promise<Response>;
  /**
   * Told of the reply to what was refused before it could be handled. `received` is what was being read of it, one
   * character an octet, where it could not even be parsed.
   */
  observeRefused(
    problem: Problem,
    request: Request | undefined,
    response: Response,
    received: string | undefined,
  ): void;
}
