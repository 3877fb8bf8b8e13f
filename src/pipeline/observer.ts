import type { Reply, Request } from '../http/message.ts';
import type { Problem } from '../http/problem.ts';
import type { Known } from './call.ts';

/** Answers a request, and writes into `known` what becomes known of it; never rejects. */
export type Answer = (request: Request, known: Known) => Promise<Reply>;

/** Sees every request on its way in and every reply on its way out, and may put others in their place. */
export interface Observer {
  /** Has `answer` reply to the request, or replies itself. Never rejects. */
  handle(request: Request, answer: Answer): Promise<Reply>;
  /**
   * Told of the reply to what was refused before it could be handled. `received` is what was being read of it, one
   * character an octet, where it could not even be parsed.
   */
  refused(problem: Problem, request: Request | undefined, reply: Reply, received: string | undefined): void;
}
