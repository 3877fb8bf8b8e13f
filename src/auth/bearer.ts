import { formatChallenge } from '../http/authorization.ts';
import { Problem } from '../http/problem.ts';
import type { Principal } from '../principal.ts';
import type { Scheme, Verdict } from './scheme.ts';
import type { Story } from './story.ts';

/** What the scheme goes by. */
export interface BearerOptions {
  readonly realm: string;
  /** Whether there is anybody who could have a token. */
  readonly offered: () => boolean;
  /** Whom a token stands for; undefined where it is not good. */
  readonly principalOf: (token: string) => Promise<Principal | undefined>;
}

/** b64token (RFC 6750 §2.1). */
const tokenForm = /^[A-Za-z0-9._~+/-]+=*$/;

/** Bearer tokens (RFC 6750), in the Authorization field alone: those in a query or a form are not looked at (§2.2, §2.3). */
export function createBearerScheme({ realm, offered, principalOf }: BearerOptions): Scheme {
  const challengeWith = (...more: [string, string][]): string =>
    formatChallenge('Bearer', [['realm', realm], ...more]);
  // §3: nothing about an error to who sent no token.
  const challenge = challengeWith();

  return {
    name: 'bearer',
    authenticate(_request, token, story) {
      if (!offered()) return notOffered();
      if (!tokenForm.test(token)) return malformed(challengeWith(['error', 'invalid_request']));
      story?.pass('parse');
      return judge(token, story);
    },
    // §3.1: more than one method for including an access token, or a parameter repeated.
    severalChallenge: () => (offered() ? challengeWith(['error', 'invalid_request']) : undefined),
    challenge: ({ secure }) => (secure && offered() ? challenge : undefined),
    scopeChallenge: (needed) => challengeWith(['error', 'insufficient_scope'], ['scope', needed]),
  };

  async function judge(token: string, story: Story | undefined): Promise<Verdict> {
    const principal = await principalOf(token);
    if (principal !== undefined) {
      story?.pass('token');
      return { outcome: 'good', principal };
    }
    story?.fail('token');
    return {
      outcome: 'bad',
      problem: new Problem('token-refused', 'The token is not known, or not good any more.'),
      challenge: challengeWith(['error', 'invalid_token']),
    };
  }
}

function malformed(challenge: string): Verdict {
  const problem = new Problem('malformed-credentials', 'One token is expected after Bearer.');
  return { outcome: 'bad', problem, challenge };
}

function notOffered(): Verdict {
  const detail = 'The credentials are of a scheme that does not work here.';
  return { outcome: 'bad', problem: new Problem('scheme-not-offered', detail) };
}
