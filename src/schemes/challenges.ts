// The challenges of refusals, and the throttling of failures.

import { countRefusal, type RateLimiter, requireUnblocked } from '../accounts/rate-limit.ts';
import type { FieldLine } from '../http/fields.ts';
import { parseCredentials } from '../http/headers/authorization.ts';
import { type Connection, type IncomingRequest, isConfidential } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import {
  type AcceptedSchemes,
  type Attempt,
  type BadVerdict,
  isAccepted,
  type Verifier,
} from './verifier.ts';

/** Formats the challenges of schemes. */
export class Challenges {
  readonly #schemes: readonly Verifier[];

  constructor(schemes: readonly Verifier[]) {
    this.#schemes = schemes;
  }

  /**
   * Returns `WWW-Authenticate` with the challenge of each scheme that is offered on a connection, and further fields of the schemes.
   *
   * @param accepted The schemes that the resource accepts. Default: all.
   * @param refusing The scheme that refuses a request, whose challenge `own` replaces the usual one, if it is given.
   */
  offer(
    connection: Connection,
    accepted: AcceptedSchemes | undefined,
    refusing?: Verifier,
    own?: string,
  ): FieldLine[] {
    const offered = this.#schemes.filter((scheme) => isAccepted(scheme, accepted));
    const challenges = offered.map((scheme) =>
      scheme === refusing && own !== undefined ? own : scheme.challenge(connection),
    );
    return [
      ...joinChallenges(challenges),
      ...offered.flatMap((scheme) => scheme.challengeFields?.(connection) ?? []),
    ];
  }

  /**
   * Returns the Problem for several credentials, with the challenges of their schemes; without challenges over plain HTTP.
   *
   * @param located The schemes with credentials outside Authorization.
   */
  refuseSeveral(
    { headers: fields, connection }: IncomingRequest,
    located: readonly Verifier[] = [],
  ): Problem {
    const lines = [...fields.getAll('authorization'), ...fields.getAll('authentication')];
    const names = new Set(lines.map((line) => parseCredentials(line)?.scheme));
    const sent = this.#schemes.filter((scheme) => names.has(scheme.name) || located.includes(scheme));
    const detail =
      located.length > 0
        ? 'The request has credentials of several schemes. Send those of one.'
        : 'Send one Authorization or Authentication field, once.';
    return new Problem('several-credentials', detail, {
      headers: isConfidential(connection)
        ? joinChallenges(sent.map((scheme) => scheme.severalChallenge?.()))
        : [],
    });
  }
}

/**
 * Returns the challenges in one field line (RFC 9110 §11.6.1), because some clients read only the first line; no line if there
 * are none.
 */
function joinChallenges(challenges: readonly (string | undefined)[]): FieldLine[] {
  const present = challenges.filter((challenge) => challenge !== undefined);
  return present.length === 0 ? [] : [['WWW-Authenticate', present.join(', ')]];
}

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
