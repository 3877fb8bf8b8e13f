import { formatChallenge } from '../../http/headers/authorization.ts';
import type { Request } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import type { Principal } from '../../principal.ts';
import type { Scheme, Verdict } from '../scheme.ts';
import type { AuthenticationTrace } from '../trace.ts';
import { challengeOf } from './error.ts';

/** The result of the verification of a signed request. */
export interface SignedVerdict {
  /** The principal, or the Problem if it was refused. */
  readonly outcome: Principal | Problem;
  /** The name under which failures of its consumer are counted. No user can have it. */
  readonly claimed: string | undefined;
}

/** Options of the scheme. */
export interface OAuth1Options {
  readonly realm: string;
  /** Returns whether any consumer is registered, and so could sign. */
  readonly offered: () => boolean;
  /**
   * Returns where else than in the Authorization field the request has protocol parameters: `content` if the content may have
   * some.
   */
  readonly elsewhere: (request: Request) => 'target' | 'content' | undefined;
  /**
   * Verifies a request. Resolves to undefined if it has no protocol parameters.
   *
   * `rest` is the part of the Authorization field after `OAuth`; undefined if the parameters are in the target or the content.
   */
  readonly verify: (
    request: Request,
    rest: string | undefined,
    authTrace: AuthenticationTrace | undefined,
  ) => Promise<SignedVerdict | undefined>;
}

/** Creates the scheme OAuth 1.0a (RFC 5849): requests signed with the secrets of a consumer and an access token. */
export function createOAuth1Scheme({ realm, offered, elsewhere, verify }: OAuth1Options): Scheme {
  const challenge = formatChallenge('OAuth', [['realm', realm]]);
  const permissionDenied = formatChallenge('OAuth', [
    ['realm', realm],
    ['oauth_problem', 'permission_denied'],
  ]);
  const severalRejected = formatChallenge('OAuth', [
    ['realm', realm],
    ['oauth_problem', 'parameter_rejected'],
  ]);

  const verdictOf = async (
    request: Request,
    rest: string | undefined,
    authTrace: AuthenticationTrace | undefined,
  ): Promise<Verdict | undefined> => {
    const verified = await verify(request, rest, authTrace);
    if (verified === undefined) return undefined;
    const { outcome, claimed } = verified;
    if (!(outcome instanceof Problem)) return { outcome: 'good', principal: outcome };
    const report = challengeOf(realm, outcome);
    const verdict: Verdict = { outcome: 'bad', problem: outcome };
    return {
      ...verdict,
      ...(claimed === undefined ? {} : { claimed }),
      ...(report === undefined ? {} : { challenge: report }),
    };
  };

  return {
    name: 'oauth',
    async authenticate(request, rest, authTrace) {
      const verdict = offered() ? await verdictOf(request, rest, authTrace) : undefined;
      return verdict ?? notOffered();
    },
    elsewhere: (request) => (offered() ? elsewhere(request) : undefined),
    authenticateElsewhere: (request, authTrace) => verdictOf(request, undefined, authTrace),
    challenge: ({ secure }) => (secure && offered() ? challenge : undefined),
    severalChallenge: () => (offered() ? severalRejected : undefined),
    scopeChallenge: () => permissionDenied,
  };
}

function notOffered(): Verdict {
  const detail = 'The authentication scheme is not supported here.';
  return { outcome: 'bad', problem: new Problem('scheme-not-offered', detail) };
}
