import { formatChallenge } from '../../http/headers/authorization.ts';
import type { Request } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import type { Principal } from '../../principal.ts';
import type { Scheme, Verdict } from '../scheme.ts';
import type { AuthenticationTrace } from '../trace.ts';
import { challengeOf } from './error.ts';

/** What came of a signed request: whom it speaks for or the refusal, and the consumer that it claims to be. */
export interface SignedVerdict {
  readonly outcome: Principal | Problem;
  /** A name that no user has. */
  readonly claimed: string | undefined;
}

/** What the scheme goes by. */
export interface OAuth1Options {
  readonly realm: string;
  /** Whether there is anybody who could sign. */
  readonly offered: () => boolean;
  /** Where besides the Authorization field there are parameters of the protocol: `content` says that there may be. */
  readonly elsewhere: (request: Request) => 'target' | 'content' | undefined;
  /** Judges a request by what stands behind `OAuth`, and where that is undefined by what stands elsewhere; undefined where nothing does. */
  readonly judge: (
    request: Request,
    rest: string | undefined,
    authTrace: AuthenticationTrace | undefined,
  ) => Promise<SignedVerdict | undefined>;
}

/** OAuth 1.0a (RFC 5849) at resources: requests that are signed with the secrets of a consumer and of an access token. */
export function createOAuth1Scheme({ realm, offered, elsewhere, judge }: OAuth1Options): Scheme {
  const challenge = formatChallenge('OAuth', [['realm', realm]]);
  const permissionDenied = formatChallenge('OAuth', [
    ['realm', realm],
    ['oauth_problem', 'permission_denied'],
  ]);
  const severalRejected = formatChallenge('OAuth', [
    ['realm', realm],
    ['oauth_problem', 'parameter_rejected'],
  ]);

  const verdictOn = async (
    request: Request,
    rest: string | undefined,
    authTrace: AuthenticationTrace | undefined,
  ): Promise<Verdict | undefined> => {
    const judged = await judge(request, rest, authTrace);
    if (judged === undefined) return undefined;
    const { outcome, claimed } = judged;
    if (!(outcome instanceof Problem)) return { outcome: 'good', principal: outcome };
    const said = challengeOf(realm, outcome);
    const verdict: Verdict = { outcome: 'bad', problem: outcome };
    return {
      ...verdict,
      ...(claimed === undefined ? {} : { claimed }),
      ...(said === undefined ? {} : { challenge: said }),
    };
  };

  return {
    name: 'oauth',
    async authenticate(request, rest, authTrace) {
      const verdict = offered() ? await verdictOn(request, rest, authTrace) : undefined;
      return verdict ?? notOffered();
    },
    elsewhere: (request) => (offered() ? elsewhere(request) : undefined),
    authenticateElsewhere: (request, authTrace) => verdictOn(request, undefined, authTrace),
    challenge: ({ secure }) => (secure && offered() ? challenge : undefined),
    severalChallenge: () => (offered() ? severalRejected : undefined),
    scopeChallenge: () => permissionDenied,
  };
}

function notOffered(): Verdict {
  const detail = 'The credentials are of a scheme that does not work here.';
  return { outcome: 'bad', problem: new Problem('scheme-not-offered', detail) };
}
