import type { IncomingRequest } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import type { Challenges } from './challenges.ts';
import { countRefusal, type RateLimiter, requireUnblocked } from './rate-limit.ts';
import type { Attempt, BadVerdict, Verifier } from './verifier.ts';

/** Throttles authentication: counts the failures of peers and users, wherever a request has its credentials. */
export class AuthFailures {
  readonly #rateLimiter: RateLimiter;
  readonly #challenges: Challenges;

  constructor(rateLimiter: RateLimiter, challenges: Challenges) {
    this.#rateLimiter = rateLimiter;
    this.#challenges = challenges;
  }

  /** Throws a Problem (429) if the peer has failed too often. Called for every request with credentials, before they are examined. */
  requireUnblocked({ connection: { peer } }: IncomingRequest): void {
    requireUnblocked(this.#rateLimiter, peer);
  }

  /** Counts malformed credentials as a failure of the peer, because no user is known. */
  countMalformed<Found>(request: IncomingRequest, find: () => Found): Found {
    try {
      return find();
    } catch (error) {
      if (!(error instanceof Problem) || !isMalformedAttempt(error)) throw error;
      this.requireUnblocked(request);
      this.#rateLimiter.fail(request.connection.peer, undefined);
      throw error;
    }
  }

  /** Returns the Problem of a refusal, with the challenges of the schemes, and counts the failure. */
  count(
    { problem, claimed, challenge }: BadVerdict,
    { request, accepted }: Attempt,
    scheme: Verifier,
  ): Problem {
    const { connection } = request;
    if (problem.status !== 401) {
      if (isMalformedAttempt(problem)) this.#rateLimiter.fail(connection.peer, undefined);
      return challenge === undefined ? problem : problem.with([['WWW-Authenticate', challenge]]);
    }
    return (
      countRefusal(this.#rateLimiter, connection.peer, claimed) ??
      problem.with(this.#challenges.offer(connection, accepted, scheme, challenge))
    );
  }
}

/** Returns whether a Problem is about malformed credentials. Incomplete content (`close`) says nothing about them. */
function isMalformedAttempt({ status, close }: Problem): boolean {
  return status === 400 && !close;
}
