import { formatChallenge } from '../../http/headers/authorization.ts';
import type { Request } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import type { Principal } from '../../principal.ts';
import type { RefusedNonce } from '../nonce-claim.ts';
import type { BadVerdict, Scheme, Verdict } from '../scheme.ts';
import type { AuthenticationTrace } from '../trace.ts';
import { challengeOf } from './error.ts';

/** The result of the verification of a signed request that was refused. */
export interface SignedRefusal {
  readonly problem: Problem;
  /** The name under which failures of its consumer are counted. No user can have it. */
  readonly claimed: string | undefined;
}

/** The result of the verification of a signed request that was admitted. */
export interface SignedAdmission {
  readonly principal: Principal;
  /** Returns the refusal if the nonce is claimed with the change of the request, and then refused; undefined if it was claimed. */
  readonly refuse: ((claimed: RefusedNonce) => SignedRefusal) | undefined;
}

/** A request to verify. */
export interface SignedAttempt {
  readonly request: Request;
  /** The part of the Authorization field after `OAuth`; undefined if the parameters are in the target or the content. */
  readonly rest: string | undefined;
  readonly authTrace: AuthenticationTrace | undefined;
  /** Whether the nonce may be claimed with the change of the request. */
  readonly deferrable: boolean;
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
  /** Verifies a request. Resolves to undefined if it has no protocol parameters. */
  readonly verify: (attempt: SignedAttempt) => Promise<SignedAdmission | SignedRefusal | undefined>;
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

  const refusalOf = ({ problem, claimed }: SignedRefusal): BadVerdict => {
    const report = challengeOf(realm, problem);
    return {
      outcome: 'bad',
      problem,
      ...(claimed === undefined ? {} : { claimed }),
      ...(report === undefined ? {} : { challenge: report }),
    };
  };

  const verdictOf = async (attempt: SignedAttempt): Promise<Verdict | undefined> => {
    const verified = await verify(attempt);
    if (verified === undefined) return undefined;
    if ('problem' in verified) return refusalOf(verified);
    const { principal, refuse } = verified;
    return refuse === undefined
      ? { outcome: 'good', principal }
      : { outcome: 'good', principal, refuse: (claimed) => refusalOf(refuse(claimed)) };
  };

  return {
    name: 'oauth',
    async authenticate(request, rest, authTrace, deferrable = false) {
      const verdict = offered() ? await verdictOf({ request, rest, authTrace, deferrable }) : undefined;
      return verdict ?? notOffered();
    },
    // RFC 5849 §3.1 reserves this prefix.
    ownsParameter: (parameter) => parameter.startsWith('oauth_'),
    elsewhere: (request) => (offered() ? elsewhere(request) : undefined),
    authenticateElsewhere: (request, authTrace, deferrable = false) =>
      verdictOf({ request, rest: undefined, authTrace, deferrable }),
    challenge: ({ secure }) => (secure && offered() ? challenge : undefined),
    severalChallenge: () => (offered() ? severalRejected : undefined),
    scopeChallenge: () => permissionDenied,
  };
}

function notOffered(): Verdict {
  const detail = 'The authentication scheme is not supported here.';
  return { outcome: 'bad', problem: new Problem('scheme-not-offered', detail) };
}
